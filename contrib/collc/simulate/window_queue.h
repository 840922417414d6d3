// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What is on its way, by windows of time: all of one window at once, for where nothing that happens
// in a window has an effect elsewhere within it.
//
// A radix heap with digits of 8 bits: an entry lies in the bucket of the highest digit in which its
// window differs from the present one, and is moved down when that one comes. Most are written once
// or twice, however many there are, and buckets are read from one end to the other.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace collc {

// Entry::time is not negative.
template <typename Entry> class window_queue {
public:
  // Windows are 2^shift wide.
  explicit window_queue(unsigned shift) : shift_(shift) {}

  // Of a window after the one that was taken last.
  void push(const Entry &e) {
    const std::uint64_t window = static_cast<std::uint64_t>(e.time) >> shift_;
    const unsigned level = (static_cast<unsigned>(std::bit_width((window ^ now_) | 1)) - 1) / 8;
    const unsigned digit = window >> (8 * level) & 0xff;
    used_[level][digit / 64] |= std::uint64_t{1} << digit % 64;
    block *&last = buckets_[level][digit];
    if (last == nullptr || last->used == entries)
      last = fresh(last);
    last->all[last->used++] = e;
  }

  // The entries of the next window, in no order; false if there are none.
  bool take(std::vector<Entry> &out) {
    out.clear();
    for (unsigned level = 0; level < levels;) {
      const unsigned digit = first(level);
      if (digit == digits) {
        ++level;
        continue;
      }
      const unsigned low = 8 * level;
      now_ = (low == 56 ? 0 : now_ >> (low + 8) << (low + 8)) | std::uint64_t{digit} << low;
      used_[level][digit / 64] &= ~(std::uint64_t{1} << digit % 64);
      block *b = std::exchange(buckets_[level][digit], nullptr);
      while (b != nullptr) {
        if (level == 0)
          out.insert(out.end(), b->all.begin(), b->all.begin() + b->used);
        else
          for (std::uint32_t i = 0; i < b->used; ++i)
            push(b->all[i]);
        block *const before = b->before;
        b->before = std::exchange(free_, b);
        b = before;
      }
      if (level == 0)
        return true;
      level = 0;
    }
    return false;
  }

private:
  static constexpr unsigned levels = 8, digits = 256;
  static constexpr std::uint32_t entries = 170;
  struct block {
    block *before = nullptr; // in its bucket, or among those that are free
    std::uint32_t used = 0;
    std::array<Entry, entries> all;
  };

  block *fresh(block *before) {
    constexpr std::size_t together = 64;
    if (free_ == nullptr) {
      slabs_.push_back(std::make_unique<block[]>(together));
      for (std::size_t i = 0; i < together; ++i)
        slabs_.back()[i].before = std::exchange(free_, &slabs_.back()[i]);
    }
    block *const b = std::exchange(free_, free_->before);
    b->before = before;
    b->used = 0;
    return b;
  }

  [[nodiscard]] unsigned first(unsigned level) const {
    for (unsigned i = 0; i < digits / 64; ++i)
      if (used_[level][i] != 0)
        return 64 * i + static_cast<unsigned>(std::countr_zero(used_[level][i]));
    return digits;
  }

  unsigned shift_;
  std::uint64_t now_ = 0; // the window that was taken last
  std::array<std::array<block *, digits>, levels> buckets_{};
  std::array<std::array<std::uint64_t, digits / 64>, levels> used_{};
  std::vector<std::unique_ptr<block[]>> slabs_;
  block *free_ = nullptr;
};

} // namespace collc
