// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Memory of a node that its peers may access, registered in three buffers that lie one behind the
// other, between margins that nobody may touch.
#pragma once

#include "util_ext/mr_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sim {

class Exposed {
public:
  Exposed(util_ext::MrTable &table, std::size_t size, std::uint64_t rights, std::uint64_t key)
      : table_(table), memory_(size + 2 * margin, untouched), size_(size) {
    constexpr std::size_t element = 16; // of the largest datatype that atomics have here
    const std::size_t first = size / 5 / element * element, second = size / 2 / element * element;
    std::byte *const start = memory_.data() + margin;
    region_.buffers = {
        {start, first}, {start + first, second}, {start + first + second, size - first - second}};
    region_.length = size;
    region_.access = rights;
    open_ = table_.insert(region_, key) == 0;
  }
  ~Exposed() { close(); }
  Exposed(const Exposed &) = delete;

  std::span<std::byte> span() { return std::span(memory_).subspan(margin, size_); }
  std::span<std::byte> span(std::size_t at, std::size_t n) { return span().subspan(at, n); }
  std::span<const std::byte> span(std::size_t at, std::size_t n) const {
    return std::span(memory_).subspan(margin + at, n);
  }
  std::uint64_t key() const { return region_.key; }
  void close() {
    if (std::exchange(open_, false))
      table_.remove(region_);
  }
  bool margins_untouched() const {
    const auto clean = [](std::span<const std::byte> s) {
      return std::ranges::all_of(s, [](std::byte b) { return b == untouched; });
    };
    return clean(std::span(memory_).first(margin)) && clean(std::span(memory_).last(margin));
  }

  static constexpr std::byte untouched{0xcc}; // what all of it holds at first

private:
  static constexpr std::size_t margin = 64;

  util_ext::MrTable &table_;
  std::vector<std::byte> memory_;
  const std::size_t size_;
  util_ext::Region region_;
  bool open_ = false;
};

} // namespace sim
