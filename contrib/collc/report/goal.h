// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "collc/lower/lower.h"

#include <ostream>

namespace collc {

// All ranks' messages in the language of LogGOPSim, GOAL: what arrives in a round is joined to what
// came before by a "calc 0", which sends wait for. Readiness is the simulator's own affair.
void write_goal(std::ostream &out, const compiler &c);

} // namespace collc
