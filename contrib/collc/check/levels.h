// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "collc/check/finding.h"
#include "collc/check/world.h"

namespace collc {

// No counter reaches a work's threshold before all has come that the work needs, in whatever order
// the network has it come.
std::vector<finding> check_levels(const world &w);

} // namespace collc
