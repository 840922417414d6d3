// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Results as a table for people, as CSV, and as a plot.
#pragma once

#include "bench/results.h"
#include "bench/targets.h"

#include <string>

namespace fabtest {

void print_tables(const results &r);
void print_verdicts(const std::vector<verdict> &verdicts);
void write_csv(const results &r, const std::string &path);
// With gnuplot, where it is installed; false otherwise.
bool write_svg(const results &r, const std::string &path);

} // namespace fabtest
