// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The model of simulate/loggops.h once more, as plainly as can be: one queue of events, and of the
// triggered kind the deferred works themselves, with the levels of their counters.
#pragma once

#include "collc/simulate/loggops.h"

#include "unit/collc/compiled.h"

namespace unit {

// When each rank is done. Of a compiler that doesn't raise levels for branches: that takes no time.
std::vector<collc::picoseconds> slow_triggered(collc::compiler &c, const collc::loggops &how);
std::vector<collc::picoseconds> slow_driven(collc::compiler &c, const collc::loggops &how);

} // namespace unit
