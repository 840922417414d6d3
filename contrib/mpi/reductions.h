// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// MPI's predefined operations and types, as the runtime names them.
#pragma once

#include "mpi/abi.h"

namespace coll {

// A name of collc(1) and its number, the same on all ranks; null and -1 for what the runtime lacks.
struct named {
  const char *name = nullptr;
  int number = -1;
};

named operation_of(MPI_Op op);
named element_of(MPI_Datatype type);

} // namespace coll
