// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How long a collective takes, with works that are triggered and with a CPU that drives it.
#pragma once

#include "collc/lower/lower.h"
#include "collc/simulate/loggops.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace collc {

struct simulated {
  // When ranks are done: the first of them, the one in the middle (of two the earlier), the last.
  picoseconds first = 0, median = 0, last = 0;
  std::uint64_t messages = 0;    // of all ranks
  std::vector<picoseconds> done; // by rank
};

struct simulation {
  std::optional<simulated> triggered, driven;
};

// Both kinds of progress run at the same time, each in a thread. Throws error, as the compiler
// does; if there is something in `how` that has no place in the model; if the ranks wait for each
// other.
simulation simulate(const compiler &c, const loggops &how, bool triggered = true,
                    bool driven = true);

} // namespace collc
