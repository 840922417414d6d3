// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A program of another MPI than this library is for would call it with handles and statuses of
// another shape: it is ended before it does.
#include "mpi/abi.h"

#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>

namespace {

#ifdef OPEN_MPI
constexpr const char *this_mpi = "Open MPI", *other_mpi = "MPICH", *other_symbol = "MPIR_Dup_fn";
constexpr const char *other_library = "libdpdkx-coll-mpich.so";
#else
constexpr const char *this_mpi = "MPICH", *other_mpi = "Open MPI";
constexpr const char *other_symbol = "ompi_mpi_comm_world";
constexpr const char *other_library = "libdpdkx-coll-openmpi.so";
#endif

[[gnu::constructor]] void end_programs_of_another() {
  if (dlsym(RTLD_DEFAULT, other_symbol) == nullptr)
    return;
  fmt::print(stderr,
             "dpdkx-coll: this library is for programs of {}, this one is of {}; LD_PRELOAD should "
             "name {}\n",
             this_mpi, other_mpi, other_library);
  std::_Exit(1);
}

} // namespace
