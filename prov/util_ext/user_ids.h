// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// FI_AV_USER_ID: what completions call an address instead of its index. Costs
// nothing until there is one. Readers take no lock; changes come one at a time.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace util_ext {

class UserIds {
public:
  UserIds() = default;
  ~UserIds() {
    for (auto &segment : segments_)
      delete[] segment.load();
  }
  UserIds(const UserIds &) = delete;
  UserIds &operator=(const UserIds &) = delete;

  // The index itself where none was set.
  std::uint64_t get(std::uint64_t index) const noexcept {
    if (index >> 32) // FI_ADDR_NOTAVAIL
      return index;
    const Place p(index);
    const Id *ids = segments_[p.segment].load(std::memory_order_acquire);
    return ids ? index ^ ids[p.offset].load(std::memory_order_relaxed) : index;
  }
  // Of an index below 2^32. May throw std::bad_alloc.
  void set(std::uint64_t index, std::uint64_t id) {
    const Place p(index);
    if (!segments_[p.segment].load())
      segments_[p.segment].store(new Id[std::size_t{1} << (first_bits + p.segment)]());
    segments_[p.segment].load()[p.offset].store(index ^ id);
  }
  void reset(std::uint64_t index) noexcept {
    const Place p(index);
    if (Id *ids = segments_[p.segment].load())
      ids[p.offset].store(0);
  }

private:
  using Id = std::atomic<std::uint64_t>; // xor the index: zero where none was set

  // Segment k holds 64 << k, so that none ever moves.
  static constexpr unsigned first_bits = 6, segments = 27;
  struct Place {
    explicit Place(std::uint64_t index)
        : segment(static_cast<unsigned>(std::bit_width((index >> first_bits) + 1)) - 1),
          offset(index + (1U << first_bits) - (std::uint64_t{1} << (first_bits + segment))) {}
    const unsigned segment;
    const std::uint64_t offset;
  };

  std::array<std::atomic<Id *>, segments> segments_{};
};

} // namespace util_ext
