// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "collc/check/world.h"

#include <string>
#include <vector>

namespace collc {

// For each work, those that it waits for and that the work before it on the same counter doesn't.
std::vector<std::vector<work_number>> waits_of(const world &w);

// For Graphviz: works in a box for each rank, with arrows from what they wait for.
std::string graph_text(const world &w);

// As SVG: a line for each rank, and the works' messages from line to line. A work stands as far to
// the right as the longest chain of messages before it.
std::string timeline_text(const world &w);

} // namespace collc
