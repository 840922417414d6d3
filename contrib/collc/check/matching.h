// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "collc/check/finding.h"
#include "collc/check/world.h"

namespace collc {

// Each message that is sent is received, of the same kind and into the places that it is sent to.
std::vector<finding> check_matching(const algorithm &a, const request &q);

} // namespace collc
