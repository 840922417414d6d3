// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "collc/check/execution.h"

namespace collc {

// No place is written while it is being read or written by another work, nor before its rank has
// started, unless the memory is the runtime's own (see landing.h).
std::vector<finding> check_races(const world &w, const execution &run);

} // namespace collc
