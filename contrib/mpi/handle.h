// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a program holds of a request of ours: a request of the MPI's that is never started, a
// message to nobody. Other calls than those that this library defines see it inactive.
#pragma once

#include "mpi/abi.h"

namespace coll {

// Handles are used again, and freed at the end only: MPICH 4.0.2's own persistent collectives never
// complete in the place of a freed request for messages.
MPI_Request take_handle(MPI_Comm without_world);
void give_back_handle(MPI_Request handle);
void free_handles();

} // namespace coll
