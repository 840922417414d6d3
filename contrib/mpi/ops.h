// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Operations that requests use, which a program may free meanwhile: MPI can't duplicate them.
#pragma once

#include "mpi/abi.h"

namespace coll {

void keep(MPI_Op op);
// Frees it, if the program has, and this was the last to keep it.
void drop(MPI_Op op);
// False: nobody keeps it, so it is the MPI's to free.
bool frees_later(MPI_Op op);

} // namespace coll
