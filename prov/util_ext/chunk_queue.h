// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A queue that grows by chunks and then allocates no more: emptied chunks are
// kept for reuse. A queue that runs empty starts over at its first slot, so
// that a short one stays in the same cache lines. Not thread-safe.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

namespace util_ext {

template <class T, std::size_t PerChunk> class ChunkQueue {
  static_assert(std::is_trivially_destructible_v<T>);

public:
  // Keeps at most so many spare chunks.
  explicit ChunkQueue(std::size_t max_spare) : max_spare_(max_spare) {}
  ChunkQueue(const ChunkQueue &) = delete;
  ChunkQueue &operator=(const ChunkQueue &) = delete;
  ~ChunkQueue() {
    free_list(first_);
    free_list(spare_);
  }

  // Room at the end for one more, or null without memory. It counts at once.
  T *push() noexcept {
    if (tail_ == tail_end_ && !add_chunk()) [[unlikely]]
      return nullptr;
    return tail_++;
  }

  // The oldest, or null. `left` says how many lie behind it in one piece, itself
  // included.
  T *front(std::size_t &left) noexcept {
    left = static_cast<std::size_t>((first_ == last_ ? tail_ : head_end_) - head_);
    return left ? head_ : nullptr;
  }
  T *front() noexcept { return head_ == tail_ ? nullptr : head_; }
  // Drops the `n` oldest; n <= `left`.
  void pop(std::size_t n) noexcept {
    head_ += n;
    if (head_ == tail_) {
      head_ = tail_ = last_->slots;
    } else if (head_ == head_end_) [[unlikely]] {
      drop_chunk();
    }
  }

private:
  struct Chunk {
    Chunk *next;
    alignas(64) T slots[PerChunk]; // one that fills a cache line lies in one
  };

  static void free_list(Chunk *c) {
    while (c) {
      Chunk *next = c->next;
      delete c;
      c = next;
    }
  }

  bool add_chunk() noexcept {
    Chunk *c = spare_;
    if (c) {
      spare_ = c->next;
      --spares_;
    } else if (!(c = new (std::nothrow) Chunk)) {
      return false;
    }
    c->next = nullptr;
    if (last_) {
      last_->next = c;
    } else {
      first_ = c;
      head_ = c->slots;
      head_end_ = c->slots + PerChunk;
    }
    last_ = c;
    tail_ = c->slots;
    tail_end_ = c->slots + PerChunk;
    return true;
  }

  void drop_chunk() noexcept {
    Chunk *c = first_;
    first_ = c->next;
    head_ = first_->slots;
    head_end_ = first_->slots + PerChunk;
    if (spares_ < max_spare_) {
      c->next = spare_;
      spare_ = c;
      ++spares_;
    } else {
      delete c;
    }
  }

  T *head_ = nullptr, *head_end_ = nullptr;
  T *tail_ = nullptr, *tail_end_ = nullptr;
  Chunk *first_ = nullptr, *last_ = nullptr, *spare_ = nullptr;
  std::size_t spares_ = 0;
  const std::size_t max_spare_;
};

} // namespace util_ext
