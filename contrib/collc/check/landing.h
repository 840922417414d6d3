// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "collc/check/execution.h"

namespace collc {

// Where data land in memory that is used in turn: what comes for an epoch finds the memory, and the
// tank, of that turn emptied.
std::vector<finding> check_landing(const world &w, const execution &run);

} // namespace collc
