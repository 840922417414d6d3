// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/simulate/loggops.h"

#include "collc/lang/error.h"

#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

namespace collc {

namespace {

constexpr double most_ns = 1e9, most_ns_per_byte = 1e6;

picoseconds rounded(double ns) { return static_cast<picoseconds>(std::llround(ns * 1000)); }

void check_range(const char *what, double value, double least, double most, const char *unit) {
  if (!(value >= least && value <= most)) // nor is it a number otherwise
    throw error(
        fmt::format("{} is {:g}; allowed: {:g} to {:.0f} {}", what, value, least, most, unit));
}

picoseconds times(double ns_per_byte, std::uint64_t bytes) {
  const double ps = ns_per_byte * 1000 * static_cast<double>(bytes - 1);
  if (ps >= static_cast<double>(costs::endless))
    throw error(fmt::format("a message of {} bytes takes more than {} days with {:g} ns per byte",
                            bytes, costs::endless / 86'400'000'000'000'000, ns_per_byte));
  return static_cast<picoseconds>(std::llround(ps));
}

} // namespace

std::uint32_t message_sizes::number(std::uint64_t bytes) {
  if (bytes == 0)
    bytes = 1;
  const auto [at, fresh] = numbers_.try_emplace(bytes, static_cast<std::uint32_t>(bytes_.size()));
  if (fresh) {
    if (bytes_.size() == most)
      throw limit_error(fmt::format(
          "messages have more than {} sizes; a simulation has at most that many", most));
    bytes_.push_back(bytes);
  }
  return at->second;
}

void check(const loggops &how) {
  // Nothing comes before it is sent, nor at the same time: that is what makes an order of events.
  check_range("latency (L)", how.latency, 0.001, most_ns, "ns");
  check_range("overhead (o)", how.overhead, 0, most_ns, "ns");
  check_range("gap (g)", how.gap, 0, most_ns, "ns");
  check_range("gap per byte (G)", how.gap_per_byte, 0, most_ns_per_byte, "ns");
  check_range("overhead per byte (O)", how.overhead_per_byte, 0, most_ns_per_byte, "ns");
  check_range("fire (F)", how.fire, 0, most_ns, "ns");
  if (how.rendezvous < 0)
    throw error(fmt::format("rendezvous (S) is {}; allowed: 0 to {} bytes", how.rendezvous,
                            std::numeric_limits<std::int64_t>::max()));
}

costs::costs(const loggops &how, const message_sizes &sizes)
    : latency(rounded(how.latency)), overhead(rounded(how.overhead)), gap(rounded(how.gap)),
      fire(rounded(how.fire)) {
  for (const std::uint64_t bytes : sizes.all()) {
    port.push_back(times(how.gap_per_byte, bytes));
    cpu.push_back(times(how.overhead_per_byte, bytes));
  }
}

} // namespace collc
