// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Random numbers that depend on the seed alone, on any machine (those of
// <random>'s distributions don't). splitmix64.
#pragma once

#include "dpdkx/base/clock.h"

#include <cstdint>

namespace dpdkx::link::sim {

class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }
  // 0 <= result < bound; bound 0 is taken for 1.
  std::uint64_t below(std::uint64_t bound) { return bound ? next() % bound : 0; }
  std::uint64_t between(std::uint64_t first, std::uint64_t last) {
    return first + below(last - first + 1);
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // Draws nothing for a probability of 0: faults that are off change no seed's run.
  bool chance(double probability) { return probability > 0 && unit() < probability; }
  Duration up_to(Duration longest) {
    return Duration(
        static_cast<Duration::rep>(below(static_cast<std::uint64_t>(longest.count()) + 1)));
  }

private:
  std::uint64_t state_;
};

} // namespace dpdkx::link::sim
