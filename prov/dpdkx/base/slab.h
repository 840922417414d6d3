// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A growing pool of objects that are named by number from outside. A name is
// an index and a generation: once the object is given back, its name finds
// nothing, whoever kept it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace dpdkx {

struct SlabItem {
  std::uint32_t slab_index = 0;
  std::uint32_t slab_generation = 1; // odd while free, even while taken; never 0
  SlabItem *slab_next_free = nullptr;
};

// T derives from SlabItem and is reused without being destroyed: whoever takes
// one sets it up.
template <class T> class Slab {
public:
  explicit Slab(std::size_t limit) : limit_(limit) {}

  // null: the limit is reached, or no memory.
  T *take() {
    if (taken_ >= limit_ || (free_ == nullptr && !grow()))
      return nullptr;
    T *item = static_cast<T *>(free_);
    free_ = item->slab_next_free;
    ++item->slab_generation;
    ++taken_;
    return item;
  }

  void give(T *item) {
    ++item->slab_generation;
    if (item->slab_generation == 0xffffffff)
      item->slab_generation = 1; // skip the wrap, so that no name is ever 0
    item->slab_next_free = free_;
    free_ = item;
    --taken_;
  }

  static std::uint64_t name(const T *item) {
    return std::uint64_t{item->slab_generation} << 32 | item->slab_index;
  }

  T *find(std::uint64_t name) const {
    const std::uint32_t index = static_cast<std::uint32_t>(name);
    const std::uint32_t generation = static_cast<std::uint32_t>(name >> 32);
    if (index / chunk_size >= chunks_.size())
      return nullptr;
    T *item = &chunks_[index / chunk_size][index % chunk_size];
    return item->slab_generation == generation && generation % 2 == 0 ? item : nullptr;
  }

  std::size_t taken() const { return taken_; }
  std::size_t limit() const { return limit_; }

  template <class F> void for_each_taken(F &&f) {
    for (auto &chunk : chunks_)
      for (std::size_t i = 0; i < chunk_size; ++i)
        if (chunk[i].slab_generation % 2 == 0)
          f(chunk[i]);
  }

private:
  static constexpr std::size_t chunk_size = 64;

  bool grow() {
    std::unique_ptr<T[]> chunk(new (std::nothrow) T[chunk_size]);
    if (!chunk)
      return false;
    const std::size_t base = chunks_.size() * chunk_size;
    try {
      chunks_.push_back(std::move(chunk));
    } catch (const std::bad_alloc &) {
      return false;
    }
    for (std::size_t i = chunk_size; i-- > 0;) {
      T &item = chunks_.back()[i];
      item.slab_index = static_cast<std::uint32_t>(base + i);
      item.slab_next_free = free_;
      free_ = &item;
    }
    return true;
  }

  std::vector<std::unique_ptr<T[]>> chunks_;
  SlabItem *free_ = nullptr;
  std::size_t taken_ = 0;
  const std::size_t limit_;
};

} // namespace dpdkx
