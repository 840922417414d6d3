// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Room in a container, where running out of memory is an answer and not an exception.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

namespace dpdkx {

template <class T> [[gnu::cold]] bool reserve(std::vector<T> &v, std::size_t n) noexcept {
  try {
    v.reserve(n);
  } catch (const std::bad_alloc &) {
    return false;
  }
  return true;
}

// Whether the vector can grow to `n` elements without allocating. Grows at least by what it has,
// divided by `spare_divisor`, so that one element a time costs little.
template <class T>
bool make_room(std::vector<T> &v, std::size_t n, std::size_t spare_divisor = 1) noexcept {
  return n <= v.capacity() ||
         reserve(v, std::max(n, v.capacity() + v.capacity() / spare_divisor + 4));
}

} // namespace dpdkx
