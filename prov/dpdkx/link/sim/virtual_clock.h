// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Time that passes only when told to.
#pragma once

#include "dpdkx/base/clock.h"

#include <atomic>

namespace dpdkx::link::sim {

// Safe from any thread.
class VirtualClock final : public Clock {
public:
  // Not zero: an engine that takes a fresh Time{} for "long ago" would be right by chance.
  static constexpr Time start = Time(std::chrono::hours(1));

  Time now() const override { return Time(Duration(ns_.load(std::memory_order_acquire))); }
  // Never backwards: an earlier time changes nothing.
  void advance_to(Time t) {
    const auto to = t.time_since_epoch().count();
    auto from = ns_.load(std::memory_order_relaxed);
    while (from < to && !ns_.compare_exchange_weak(from, to, std::memory_order_release)) {
    }
  }

private:
  std::atomic<Duration::rep> ns_{start.time_since_epoch().count()};
};

} // namespace dpdkx::link::sim
