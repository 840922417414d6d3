// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Time as the transport sees it: a monotonic point passed in from outside, so
// that the simulator can run the same code on a virtual clock.
#pragma once

#include <atomic>
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

// CLOCK_MONOTONIC, by way of the processor's counter where the kernel trusts
// that too: a third of the price, and it is read every turn. Within a
// microsecond of the kernel's; may step back by as much. Safe from any thread.
class SystemClock final : public Clock {
public:
  Time now() const override;
  static const SystemClock &instance();

private:
  SystemClock();
  Time look(std::uint64_t ticks) const;

  // For a while after an anchor, time is `ns_ + (ticks - ticks_) * rate_ / 2^32`.
  // Who sets one makes sequence_ odd meanwhile.
  mutable std::atomic<std::uint32_t> sequence_{0};
  mutable std::atomic<std::uint64_t> ticks_{0}; // 0: no anchor yet
  mutable std::atomic<std::int64_t> ns_{0};     // CLOCK_MONOTONIC at that count
  mutable std::atomic<std::uint64_t> rate_{0}, lifetime_{0};
  const bool counts_;
};

} // namespace dpdkx
