/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Persistent collectives by the names of MPI 4, also of an Open MPI that has them
 * by earlier ones; and what the test programs of persistent collectives share. */
#ifndef DPDKX_FABTESTS_COLL_NAMES_H
#define DPDKX_FABTESTS_COLL_NAMES_H

#include "mpi/common.h"

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Allgather_init MPIX_Allgather_init
#define MPI_Allgatherv_init MPIX_Allgatherv_init
#define MPI_Alltoall_init MPIX_Alltoall_init
#define MPI_Gather_init MPIX_Gather_init
#define MPI_Scatter_init MPIX_Scatter_init
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Reduce_init MPIX_Reduce_init
#define MPI_Scan_init MPIX_Scan_init
#endif

#define NO_INFO MPI_INFO_NULL

/* Random numbers, the same in each run, others on each rank. */
static inline unsigned draw(unsigned long *state, unsigned below)
{
	*state = *state * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)(*state >> 33) % below;
}

/* Every now and then, this rank is late. */
static inline void dawdle(unsigned long *state)
{
	if (draw(state, 8) == 0)
		compute(1e-6 * draw(state, 200));
}

/* An active request, at most: nothing to tell of it. */
static inline void verify_empty(MPI_Status *status)
{
	int count, cancelled;

	MPI_Get_count(status, MPI_BYTE, &count);
	MPI_Test_cancelled(status, &cancelled);
	CHECK(status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && count == 0 &&
	          !cancelled,
	      "a status that should be empty has source %d, tag %d, %d bytes, cancelled %d",
	      status->MPI_SOURCE, status->MPI_TAG, count, cancelled);
}

#endif
