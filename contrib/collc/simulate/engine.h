// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// One run of a collective in the LogGOPS model, with one kind of progress.
//
// Ports and CPU take things in the order in which they come, so a message is one event: when its
// first byte reaches its receiver, all that follows there can be worked out. Nothing comes earlier
// than the latency after what caused it, so ranks don't matter to each other within a window of
// that width: the events of a window are sorted by rank, and each rank's by time. So memory is gone
// through in order, and what the next ranks need is fetched in the meantime.
#pragma once

#include "collc/simulate/cast.h"

#include <cstdint>
#include <vector>

namespace collc {

struct run_result {
  std::vector<picoseconds> done; // by rank
  std::uint64_t messages = 0;    // of all ranks, signals included
};

// Throws error if the collective never ends, or takes too long to be counted. Several threads may
// run one cast.
run_result run(const cast &c, const costs &cost, progress how);

} // namespace collc
