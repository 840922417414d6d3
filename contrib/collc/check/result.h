// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "collc/check/execution.h"

namespace collc {

// Each rank ends with what MPI defines for the collective, and with its input as it was; after a
// barrier, everybody has started.
std::vector<finding> check_result(const world &w, const execution &run);

} // namespace collc
