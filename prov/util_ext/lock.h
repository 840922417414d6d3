// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A mutex that can be switched off when the object is made: FI_THREAD_DOMAIN
// promises one caller at a time, and then pays nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace util_ext {

class OptionalMutex {
public:
  explicit OptionalMutex(bool enabled) : enabled_(enabled) {}
  bool enabled() const { return enabled_; }
  void lock() {
    if (enabled_)
      mutex_.lock();
  }
  bool try_lock() { return !enabled_ || mutex_.try_lock(); }
  void unlock() {
    if (enabled_)
      mutex_.unlock();
  }

private:
  std::mutex mutex_;
  const bool enabled_;
};

// How often something is in use, as several threads count it, or one at a time: an atomic change
// waits for all stores before it.
class UseCount {
public:
  explicit UseCount(bool shared) : shared_(shared) {}
  void add() noexcept {
    if (shared_)
      n_.fetch_add(1, std::memory_order_relaxed);
    else
      n_.store(n_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void drop() noexcept {
    if (shared_)
      n_.fetch_sub(1, std::memory_order_acq_rel);
    else
      n_.store(n_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  }
  std::uint32_t count() const noexcept { return n_.load(std::memory_order_acquire); }

private:
  std::atomic<std::uint32_t> n_{0};
  const bool shared_;
};

} // namespace util_ext
