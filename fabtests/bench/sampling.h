// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How every contestant is timed: a number of repetitions that both sides agree on, in batches of
// which each gives one value.
#pragma once

#include "common/team.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fabtest {

struct sampling {
  double milliseconds = 40; // to spend on one figure
  int batches = 20;
};

// Runs the same number of repetitions on both sides; work(n) does n of them. The result is
// nanoseconds per repetition, one value a batch, as this rank saw them.
using work = std::function<void(std::uint64_t repetitions)>;
std::vector<double> sample(team &t, const sampling &how, const work &run);

// One line of JSON on standard output, by the first rank: what the driver reads.
struct figure {
  std::string what; // "latency", "rate", "bandwidth"
  std::string unit;
  std::size_t size = 0;
};
void print_figure(team &t, const figure &f, const std::vector<double> &values);

} // namespace fabtest
