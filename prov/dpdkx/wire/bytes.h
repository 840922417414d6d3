// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Little-endian integers at unaligned addresses, and numbers that are types of
// their own.
#pragma once

#include "dpdkx/base/seq.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace dpdkx::wire::bytes {

static_assert(std::endian::native == std::endian::little,
              "swap in get() and put() before this runs on a big-endian machine");

template <class T> inline T get(const std::byte *from) {
  static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
  T v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

template <class Tag> inline void get_into(const std::byte *from, Seq<Tag> &out) {
  out.value = get<std::uint32_t>(from);
}
template <class T> inline void get_into(const std::byte *from, T &out) { out = get<T>(from); }

template <class T> inline void put(std::byte *to, T v) {
  static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
  std::memcpy(to, &v, sizeof(v));
}
template <class Tag> inline void put(std::byte *to, Seq<Tag> v) { put(to, v.value); }

} // namespace dpdkx::wire::bytes
