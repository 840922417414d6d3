/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Threads, each with persistent collectives on a communicator of its own, all at
 * once, while another sends messages.
 *   threads [STARTS] */
#include "names.h"

#include <pthread.h>

enum { THREADS = 3, BYTES = 900 };

static MPI_Comm comms[THREADS];
static long starts;

static void *collectives(void *argument_of_thread)
{
	const int me = (int)(intptr_t)argument_of_thread;
	const size_t all = (size_t)BYTES * (size_t)ranks;
	char *in = buffer(BYTES), *gathered = buffer(all), *cast = buffer(BYTES);
	MPI_Request r[3];

	MPI_Allgather_init(in, BYTES, MPI_BYTE, gathered, BYTES, MPI_BYTE, comms[me], NO_INFO, &r[0]);
	MPI_Bcast_init(cast, BYTES, MPI_BYTE, me % ranks, comms[me], NO_INFO, &r[1]);
	MPI_Barrier_init(comms[me], NO_INFO, &r[2]);
	for (long round = 0; round < starts; round++) {
		fill(in, BYTES, seed_of(rank, me, 0, round));
		if (rank == me % ranks)
			fill(cast, BYTES, seed_of(rank, me, 1, round));
		MPI_Startall(2, r);
		if (round % 2)
			MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		else
			for (int i = 0; i < 2; i++)
				MPI_Wait(&r[i], MPI_STATUS_IGNORE);
		for (int from = 0; from < ranks; from++)
			verify(gathered + from * BYTES, BYTES, seed_of(from, me, 0, round));
		verify(cast, BYTES, seed_of(me % ranks, me, 1, round));
		MPI_Start(&r[2]);
		MPI_Wait(&r[2], MPI_STATUS_IGNORE);
	}
	for (int i = 0; i < 3; i++)
		MPI_Request_free(&r[i]);
	release(in);
	release(gathered);
	release(cast);
	return NULL;
}

static void messages(void)
{
	const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
	char *out = buffer(BYTES), *in = buffer(BYTES);

	for (long round = 0; round < starts; round++) {
		fill(out, BYTES, seed_of(rank, next, 9, round));
		MPI_Sendrecv(out, BYTES, MPI_BYTE, next, 0, in, BYTES, MPI_BYTE, previous, 0,
		             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		verify(in, BYTES, seed_of(previous, rank, 9, round));
	}
	release(out);
	release(in);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	start(&argc, &argv, MPI_THREAD_MULTIPLE, 1);
	starts = argument(argc, argv, 1, 100);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, collectives, (void *)(intptr_t)i) == 0,
		      "pthread_create");
	messages();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comms[i]);
	return finish("%d threads, %ld starts each, on %d ranks", (int)THREADS, starts, ranks);
}
