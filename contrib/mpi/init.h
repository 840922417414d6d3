// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Which way a request goes. Decided by what all ranks have of the call, so the same everywhere.
#pragma once

#include "mpi/call.h"

namespace coll {

// MPI_*_init. Collective. MPI's code; errors have been raised.
int init(const call &asked, MPI_Request *handle) noexcept;

} // namespace coll
