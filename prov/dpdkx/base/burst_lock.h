// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A lock for sections of a burst's length that hardly ever meet: a third of a
// mutex's cost when free. A thread that finds it taken lets others run, the
// holder among them, as there may be more threads than processors.
//
// Where one thread at a time comes (`shared` is false) it only notes that it is held: an atomic
// change waits for all stores before it, those to a peer's cache lines among them.
#pragma once

#include <atomic>
#include <sched.h>

namespace dpdkx {

class BurstLock {
public:
  explicit BurstLock(bool shared = true) : shared_(shared) {}

  void lock() {
    while (!try_lock())
      wait();
  }
  bool try_lock() {
    if (taken_.load(std::memory_order_relaxed))
      return false;
    if (shared_)
      return !taken_.exchange(true, std::memory_order_acquire);
    taken_.store(true, std::memory_order_relaxed);
    return true;
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

private:
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  void wait() {
    for (int i = 0; i < 100; ++i) {
      if (!taken_.load(std::memory_order_relaxed))
        return;
      pause();
    }
    sched_yield();
  }

  std::atomic<bool> taken_{false};
  const bool shared_;
};

} // namespace dpdkx
