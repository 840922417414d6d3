// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What differs between the MPIs that this library is compiled for. Everything is called by its
// profiling name (PMPI_): what this library defines is for programs.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#ifndef OMPI_HAVE_MPI_EXT_PCOLLREQ
#error "this Open MPI has no persistent collectives: it lacks the extension pcollreq"
#endif
// Persistent collectives under the names that they had before MPI 4.
#define COLL_NAME(name) MPIX_##name
#define COLL_OWN(name) PMPIX_##name
#else
#define COLL_NAME(name) MPI_##name
#define COLL_OWN(name) PMPI_##name
#endif

namespace coll {

#if MPI_VERSION >= 4
// Counts of any size: MPI 4's functions whose names end in _c.
#define COLL_LARGE(name) name##_c
#define COLL_OWN_LARGE(name) PMPI_##name##_c
using count_t = MPI_Count;
#else
#define COLL_LARGE(name) name
#define COLL_OWN_LARGE(name) COLL_OWN(name)
using count_t = int;
#endif

// Faults of the MPIs' own persistent collectives, for which this library doesn't use those in place
// of its own. MPICH 4.0.2: Allgather_init, Gather_init and Scatter_init copy some of the data at
// init in place of start; to wait for a request that isn't active never ends; nor does a collective
// that begins after a persistent message's request was freed. Open MPI 4.1.4: types that have been
// freed after init are used.
} // namespace coll
