// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Persistent collectives that are always the MPI's own: of an MPI that can't tell whether they are
// active, they become known here, so that to wait for one that isn't ends.
#include "mpi/abi.h"
#include "mpi/settings.h"
#include "mpi/table.h"
#include "mpi/ways.h"

#include <memory>
#include <new>

#ifdef MPICH

namespace {

int follow(int code, const MPI_Request *handle) {
  if (code != MPI_SUCCESS || coll::settled_mode() == coll::mode::off)
    return code;
  try {
    coll::enter(*handle, std::make_shared<coll::own_request>(*handle));
  } catch (const std::bad_alloc &) {
    return MPI_ERR_NO_MEM;
  }
  return MPI_SUCCESS;
}

} // namespace

#pragma GCC visibility push(default)

extern "C" {

#define NAME(name) MPI_##name
#define OWN(name) PMPI_##name
#define COUNT int
#define PLACE int
#include "mpi/other_functions.inc"
#undef NAME
#undef OWN
#undef COUNT
#undef PLACE

#define NAME(name) MPI_##name##_c
#define OWN(name) PMPI_##name##_c
#define COUNT MPI_Count
#define PLACE MPI_Aint
#include "mpi/other_functions.inc"
#undef NAME
#undef OWN
#undef COUNT
#undef PLACE

} // extern "C"

#pragma GCC visibility pop

#endif
