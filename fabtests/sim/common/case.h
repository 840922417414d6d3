// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Cases of a simulation program. Each runs with one or more seeds, which it is
// told and which the output names:
//
//   static const sim::Case lossless{"delivery__lossless", 3, [](std::uint64_t seed) { ... }};
//
//   PROGRAM [--seed N] [--seeds HOW-MANY] [--only TEXT] [--list] [--trace NODE,NODE]
//
// SIM_SEEDS_DIVIDED_BY in the environment makes each case's seeds so many times fewer, for builds
// that are slow.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace sim {

// Objects of static storage only.
class Case {
public:
  Case(const char *name, unsigned seeds, std::function<void(std::uint64_t seed)> body);

private:
  friend int run_cases(int argc, char **argv);
  const char *name_;
  unsigned seeds_;
  std::function<void(std::uint64_t)> body_;
};

// A figure for the case's line of output.
void note(const std::string &);

int run_cases(int argc, char **argv);

} // namespace sim
