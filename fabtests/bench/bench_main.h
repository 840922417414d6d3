// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the measuring programs share: options, pinned ranks, one exit status.
#pragma once

#include "bench/sampling.h"
#include "common/launcher.h"

#include <string>
#include <vector>

namespace fabtest {

class command_line;

struct bench_options {
  std::vector<std::string> what; // which measurements, by name
  std::vector<std::size_t> sizes;
  sampling how;
};

// Adds the measuring programs' options to those of add_options.
void add_bench_options(command_line &app, bench_options &options);

// A failure is printed.
int run_bench(const rank_body &body, int ranks = 2);

} // namespace fabtest
