/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * MPI_THREAD_MULTIPLE: in every rank, THREADS threads talk at once with the same
 * threads of every other rank, each thread with a tag of its own; then all the
 * threads of a rank receive from any source with one shared tag.
 *   threads [THREADS [ROUNDS]] */
#include "common.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static const size_t sizes[] = {0, 8, 3000, 20000, 200000};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))
#define SHARED 1000

static long rounds;
static atomic_long shared_received;

/* Which thread gets which message is open; that each is whole and comes once is
 * not: the first word numbers it. */
static void shared(int thread, long messages)
{
	const int next = (rank + 1) % ranks;
	uint64_t out[32], in[32];
	MPI_Request request;
	MPI_Status status;

	for (long i = 0; i < messages; i++) {
		const uint64_t number = (uint64_t)thread * (uint64_t)messages + (uint64_t)i;

		out[0] = number;
		fill(out + 1, sizeof(out) - 8, seed_of(rank, next, SHARED, (long)number));
		MPI_Isend(out, sizeof(out), MPI_BYTE, next, SHARED, MPI_COMM_WORLD, &request);
		MPI_Recv(in, sizeof(in), MPI_BYTE, MPI_ANY_SOURCE, SHARED, MPI_COMM_WORLD, &status);
		verify_status(&status, sizeof(in), (rank + ranks - 1) % ranks, SHARED);
		verify(in + 1, sizeof(in) - 8, seed_of(status.MPI_SOURCE, rank, SHARED, (long)in[0]));
		atomic_fetch_add(&shared_received, (long)in[0] + 1);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static void *run(void *argument)
{
	const int thread = (int)(intptr_t)argument;

	for (long round = 0; round < rounds; round++)
		for (int i = 0; i < SIZES; i++)
			exchange_with_all(thread, sizes[i], round);
	shared(thread, 20 * rounds);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t *handles;
	long threads, messages;

	start(&argc, &argv, MPI_THREAD_MULTIPLE, 2);
	threads = argument(argc, argv, 1, 4);
	rounds = argument(argc, argv, 2, 20);
	CHECK(threads > 0 && threads < SHARED, "%ld threads; 1 to %d are possible", threads, SHARED - 1);

	handles = calloc((size_t)threads, sizeof(*handles));
	CHECK(handles, "no memory for %ld thread handles", threads);
	for (long i = 0; i < threads; i++)
		CHECK(pthread_create(&handles[i], NULL, run, (void *)(intptr_t)i) == 0,
		      "thread %ld can't be started", i);
	for (long i = 0; i < threads; i++)
		pthread_join(handles[i], NULL);
	free(handles);

	messages = threads * 20 * rounds;
	CHECK(atomic_load(&shared_received) == messages * (messages + 1) / 2,
	      "a message with the shared tag came twice or never");
	return finish("%ld threads in each of %d ranks, %ld rounds of %d sizes", threads, ranks, rounds,
		      SIZES);
}
