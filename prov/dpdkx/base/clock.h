// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Time as the transport sees it: a monotonic point passed in from outside, so
// that the simulator can run the same code on a virtual clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace dpdkx {

using Duration = std::chrono::nanoseconds;

struct TimeBase {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<TimeBase, Duration>;
  static constexpr bool is_steady = true;
};
using Time = TimeBase::time_point;

constexpr Time never = Time::max();

class Clock {
public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
};

// CLOCK_MONOTONIC. Stateless, safe from any thread.
class SystemClock final : public Clock {
public:
  Time now() const override;
  static const SystemClock &instance();
};

} // namespace dpdkx
