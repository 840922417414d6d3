// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A map from small keys to 32-bit values in one block of memory: 16 bytes a slot
// for keys of 64 bits, at most three quarters full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace dpdkx::net {

// What a key is told apart by, before it is compared: bits that differ.
inline std::uint64_t hash_key(std::uint64_t key) { return key; }

template <class Key> class FlatMapOf {
public:
  static constexpr std::uint32_t none = 0xffffffff; // not a value

  std::size_t size() const { return size_; }

  std::uint32_t find(const Key &key) const {
    if (size_ == 0)
      return none;
    auto at = slot_of(key);
    while (slots_[at].value != none && slots_[at].key != key)
      at = (at + 1) & mask_;
    return slots_[at].value;
  }

  // False if the key is there already. May throw std::bad_alloc, then nothing has changed.
  bool insert(const Key &key, std::uint32_t value) {
    if (find(key) != none)
      return false;
    if ((size_ + 1) * 4 > capacity() * 3)
      grow();
    place(key, value);
    ++size_;
    return true;
  }

  bool erase(const Key &key) {
    if (size_ == 0)
      return false;
    auto at = slot_of(key);
    while (slots_[at].value != none && slots_[at].key != key)
      at = (at + 1) & mask_;
    if (slots_[at].value == none)
      return false;
    close_gap(at);
    --size_;
    return true;
  }

private:
  struct Slot {
    Key key{};
    std::uint32_t value = none;
  };

  std::size_t capacity() const { return slots_ ? mask_ + 1 : 0; }

  std::size_t slot_of(const Key &key) const {
    std::uint64_t hash = hash_key(key);
    hash ^= hash >> 32;
    hash *= 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>(hash >> 32) & mask_;
  }

  void place(const Key &key, std::uint32_t value) {
    auto at = slot_of(key);
    while (slots_[at].value != none)
      at = (at + 1) & mask_;
    slots_[at] = {key, value};
  }

  // Moves later slots of the same run forward, so that no search stops short.
  void close_gap(std::size_t gap) {
    for (auto at = (gap + 1) & mask_; slots_[at].value != none; at = (at + 1) & mask_) {
      auto home = slot_of(slots_[at].key);
      if (((at - home) & mask_) >= ((at - gap) & mask_)) {
        slots_[gap] = slots_[at];
        gap = at;
      }
    }
    slots_[gap] = {};
  }

  void grow() {
    auto old_capacity = capacity();
    auto new_capacity = old_capacity ? old_capacity * 2 : 16;
    auto old = std::exchange(slots_, std::make_unique<Slot[]>(new_capacity));
    mask_ = new_capacity - 1;
    for (std::size_t i = 0; i < old_capacity; ++i)
      if (old[i].value != none)
        place(old[i].key, old[i].value);
  }

  std::unique_ptr<Slot[]> slots_;
  std::size_t mask_ = 0, size_ = 0;
};

using FlatMap = FlatMapOf<std::uint64_t>;

} // namespace dpdkx::net
