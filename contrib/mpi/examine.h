// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a call asks of the runtime, if the runtime can do it at all.
#pragma once

#include "mpi/call.h"
#include "mpi/reductions.h"

#include <cstdint>
#include <string>

#include "collc/collc_runtime.h"

namespace coll {

struct place {
  int rank, ranks;
};

// The call without what MPI doesn't look at on this rank.
call significant(const call &asked, place at);

struct finding {
  int error = MPI_SUCCESS; // an argument is wrong
  std::string why_not;     // empty: the runtime can
  collc_rt_collective collective{};
  named operation, element;
};

// Of a significant call on an intracommunicator. Throws mpi_error for a type that isn't one.
finding examine(const call &asked, place at);

} // namespace coll
