// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Memory of a node that its peers may access, registered in three buffers that lie one behind the
// other, between margins that nobody may touch: with AddressSanitizer, whoever does is caught at
// once.
#pragma once

#include "util_ext/mr_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace sim {

inline void forbid([[maybe_unused]] std::span<const std::byte> memory) {
#ifdef __SANITIZE_ADDRESS__
  ASAN_POISON_MEMORY_REGION(memory.data(), memory.size());
#endif
}

inline void allow([[maybe_unused]] std::span<const std::byte> memory) {
#ifdef __SANITIZE_ADDRESS__
  ASAN_UNPOISON_MEMORY_REGION(memory.data(), memory.size());
#endif
}

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
    forbid_margins();
  }
  ~Exposed() {
    close();
    allow(memory_);
  }
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
  // And never looked at again.
  void close_for_good() {
    close();
    forbid(memory_);
  }
  bool margins_untouched() const {
    allow(memory_);
    const auto clean = [](std::span<const std::byte> s) {
      return std::ranges::all_of(s, [](std::byte b) { return b == untouched; });
    };
    const bool untouched_still =
        clean(std::span(memory_).first(margin)) && clean(std::span(memory_).last(margin));
    forbid_margins();
    return untouched_still;
  }

  static constexpr std::byte untouched{0xcc}; // what all of it holds at first

private:
  static constexpr std::size_t margin = 64;

  void forbid_margins() const {
    forbid(std::span(memory_).first(margin));
    const std::size_t behind = (margin + size_ + 7) / 8 * 8; // poison begins at words
    forbid(std::span(memory_).subspan(behind));
  }

  util_ext::MrTable &table_;
  std::vector<std::byte> memory_;
  const std::size_t size_;
  util_ext::Region region_;
  bool open_ = false;
};

} // namespace sim
