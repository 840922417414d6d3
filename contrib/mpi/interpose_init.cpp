// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What programs call to make persistent collectives.
#include "mpi/abi.h"
#include "mpi/init.h"

using namespace coll;

#pragma GCC visibility push(default)

extern "C" {

int COLL_NAME(Barrier_init)(MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  return init({.what = kind::barrier, .comm = comm, .info = info, .send = {}, .receive = {}},
              request);
}

#define NAME(name) COLL_NAME(name)
#define COUNT int
#include "mpi/init_functions.inc"
#undef NAME
#undef COUNT

#if MPI_VERSION >= 4
#define NAME(name) MPI_##name##_c
#define COUNT MPI_Count
#include "mpi/init_functions.inc"
#undef NAME
#undef COUNT
#endif

} // extern "C"

#pragma GCC visibility pop
