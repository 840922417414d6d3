// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A lock for sections of a burst's length that hardly ever meet: a third of a
// mutex's cost when free. A thread that finds it taken lets others run, the
// holder among them, as there may be more threads than processors.
#pragma once

#include <atomic>
#include <sched.h>

namespace dpdkx {

class BurstLock {
public:
  void lock() {
    while (!try_lock())
      wait();
  }
  bool try_lock() {
    return !taken_.load(std::memory_order_relaxed) &&
           !taken_.exchange(true, std::memory_order_acquire);
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
};

} // namespace dpdkx
