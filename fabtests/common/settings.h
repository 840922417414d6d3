// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the command line chose. One per process, set before the first case starts.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace fabtest {

class command_line;

struct settings {
  std::string provider;           // empty: the first that fits (FI_PROVIDER narrows that)
  std::string node;               // local address to bind to; empty: the provider's choice
  std::vector<std::string> nodes; // where ranks differ: rank r has the one at r mod count
  std::string domain;
  std::uint64_t seed = 0;
  double patience = 1.0;             // multiplies every time limit (sanitizers, slow machines)
  double death_limit = 15;           // seconds in which a killed peer must have been noticed
  std::vector<std::string> netns;    // rank r runs in namespace r mod count
  std::vector<std::string> rank_env; // "r:NAME=VALUE"
  bool pin = false;                  // rank r stays on the r-th allowed processor
  bool huge = false;                 // also what needs gigabytes of memory
  bool slow = false;                 // also what takes minutes

  // One launcher on each of several hosts; empty: one launcher starts all ranks.
  std::string oob; // host:port of the launcher that coordinates
  int host_index = 0;
  int hosts = 1;

  [[nodiscard]] std::chrono::milliseconds limit(double seconds) const {
    return std::chrono::milliseconds(static_cast<long>(seconds * patience * 1000));
  }
};

settings &config();

// Adds the options above to a program's own.
void add_options(command_line &app);

// A seed of 0 becomes one taken from the clock, so that a run can be repeated from what it printed.
void settle_seed();

} // namespace fabtest
