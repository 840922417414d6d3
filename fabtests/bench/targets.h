// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What dpdkx has to reach, as limits computed from the other contestants of the same run.
#pragma once

#include "bench/results.h"

#include <string>
#include <vector>

namespace fabtest {

struct verdict {
  std::string figure; // what was compared
  std::string rule;   // the target in words
  double value = 0, limit = 0;
  bool met = false;
};

// Those for which all that they compare was measured.
std::vector<verdict> judge(const results &r);

} // namespace fabtest
