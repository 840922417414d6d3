// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// When a caller that polls in vain gives its processor to others. With a
// processor for each, giving it up is a system call for nothing. With more
// pollers than processors, not giving it up costs whole time slices.
//
// Which it is shows in how long a yield takes: without anyone who waits it
// returns at once; else somebody has run meanwhile. So now and then one is
// tried, and as long as they take their time they are made often.
#pragma once

#include "dpdkx/base/clock.h"

#include <atomic>
#include <cstdint>
#include <ctime>
#include <sched.h>

namespace dpdkx {

// Threads may share one; what they race for are hints.
class Idle {
public:
  // `fixed`: yield after so many empty turns in a row; 0: adapt.
  explicit Idle(std::uint32_t fixed) : fixed_(fixed), limit_(fixed ? fixed : quiet_turns) {}

  void after_turn(bool did_something) {
    if (did_something) {
      turns_.store(0, std::memory_order_relaxed);
      return;
    }
    const std::uint32_t turns = turns_.load(std::memory_order_relaxed) + 1;
    turns_.store(turns, std::memory_order_relaxed);
    if (turns >= limit_.load(std::memory_order_relaxed))
      give_way();
  }

  bool crowded() const { return !fixed_ && limit_.load(std::memory_order_relaxed) != quiet_turns; }

  static constexpr std::uint32_t quiet_turns = 2048; // some 50 us of polling: the yield costs 1 %
  static constexpr std::uint32_t crowded_turns = 16; // some 0.4 us
  static constexpr std::uint32_t calm_yields = 64;   // in a row, until it counts as quiet again
  static constexpr Duration busy_yield = std::chrono::microseconds(2);

private:
  void give_way() {
    turns_.store(0, std::memory_order_relaxed);
    if (fixed_) {
      sched_yield();
      return;
    }
    const Time before = SystemClock::instance().now();
    sched_yield();
    if (SystemClock::instance().now() - before >= busy_yield) {
      calm_.store(0, std::memory_order_relaxed);
      limit_.store(crowded_turns, std::memory_order_relaxed);
    } else if (calm_.fetch_add(1, std::memory_order_relaxed) + 1 == calm_yields) {
      limit_.store(quiet_turns, std::memory_order_relaxed);
    }
  }

  const std::uint32_t fixed_;
  std::atomic<std::uint32_t> limit_;
  std::atomic<std::uint32_t> turns_{0};
  std::atomic<std::uint32_t> calm_{0};
};

} // namespace dpdkx
