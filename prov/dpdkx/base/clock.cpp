// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/clock.h"

#include <ctime>
#include <fstream>
#include <string>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace dpdkx {

namespace {

constexpr std::int64_t anchor_ns = 1'000'000; // an anchor's life: a rate is good to 0.1 us of it
constexpr std::uint64_t most_ticks_a_look = 2'000; // else the two readings aren't of one moment
constexpr double least_rate = 1e-2; // ns a tick; less: the counter has been set meanwhile

std::int64_t monotonic() {
  timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return std::int64_t{ts.tv_sec} * 1'000'000'000 + ts.tv_nsec;
}

#if defined(__x86_64__)
std::uint64_t counter() { return __rdtsc(); }
// The kernel keeps its own time by it only when it runs evenly, on all processors together.
bool counter_is_good() {
  std::ifstream in("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return std::getline(in, name) && name == "tsc";
}
#else
std::uint64_t counter() { return 0; }
bool counter_is_good() { return false; }
#endif

} // namespace

SystemClock::SystemClock() : counts_(counter_is_good()) {}

Time SystemClock::now() const {
  if (!counts_)
    return Time(Duration(monotonic()));
  const std::uint64_t ticks = counter();
  const std::uint32_t sequence = sequence_.load(std::memory_order_acquire);
  const std::uint64_t passed = ticks - ticks_.load(std::memory_order_acquire);
  const std::uint64_t rate = rate_.load(std::memory_order_acquire);
  const std::int64_t ns = ns_.load(std::memory_order_acquire);
  const bool fresh = passed < lifetime_.load(std::memory_order_acquire);
  if (fresh && (sequence & 1) == 0 && sequence == sequence_.load(std::memory_order_relaxed))
      [[likely]]
    return Time(Duration(ns + static_cast<std::int64_t>(passed * rate >> 32)));
  return look(ticks);
}

// Asks the kernel, and makes that the next anchor if one is due.
Time SystemClock::look(std::uint64_t before) const {
  const std::int64_t ns = monotonic();
  const std::uint64_t ticks = counter();
  std::uint32_t sequence = sequence_.load(std::memory_order_relaxed);
  if (ticks - before > most_ticks_a_look || (sequence & 1) ||
      !sequence_.compare_exchange_strong(sequence, sequence + 1, std::memory_order_acquire))
    return Time(Duration(ns)); // interrupted in between, or another thread is at it
  const std::uint64_t last = ticks_.load(std::memory_order_relaxed);
  const std::int64_t passed_ns = ns - ns_.load(std::memory_order_relaxed);
  if (last == 0 || passed_ns >= anchor_ns) {
    const double rate = static_cast<double>(passed_ns) / static_cast<double>(ticks - last);
    const bool known = last != 0 && rate > least_rate;
    ticks_.store(ticks, std::memory_order_release);
    ns_.store(ns, std::memory_order_release);
    rate_.store(known ? static_cast<std::uint64_t>(rate * 4294967296.0) : 0,
                std::memory_order_release);
    lifetime_.store(known ? static_cast<std::uint64_t>(anchor_ns / rate) : 0,
                    std::memory_order_release);
  }
  sequence_.store(sequence + 2, std::memory_order_release);
  return Time(Duration(ns));
}

const SystemClock &SystemClock::instance() {
  static const SystemClock clock;
  return clock;
}

} // namespace dpdkx
