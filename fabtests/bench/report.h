// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Results as a table for people, as CSV, and as a plot.
#pragma once

#include "bench/results.h"
#include "bench/targets.h"

#include <string>
#include <vector>

namespace fabtest {

void print_tables(const results &r);
void print_verdicts(const std::vector<verdict> &verdicts);
void write_csv(const results &r, const std::string &path);

// One figure by size, a curve for each contestant.
struct plot {
  std::string section, what, title, unit;
  bool logarithmic = true; // the figure; sizes always are
  std::string sizes = "bytes";
};
// One below the other. With gnuplot, where it is installed; false otherwise.
bool write_svg(const results &r, const std::string &path, const std::vector<plot> &plots);

} // namespace fabtest
