/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * One-sided communication with MPI_THREAD_MULTIPLE: in every rank, THREADS
 * threads put to, and get back from, every rank in parts of a window of their
 * own, and all of them draw numbers from one counter.
 *   window_threads [THREADS [ROUNDS]] */
#include "common.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const size_t sizes[] = {8, 500, 3000, 70000};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))
#define LARGEST 70000
#define COUNTER sizeof(int64_t)

static MPI_Win window;
static long threads, rounds;
static int *drawn;

static MPI_Aint part_of(int from, int thread)
{
	return (MPI_Aint)(COUNTER + ((size_t)from * (size_t)threads + (size_t)thread) * LARGEST);
}

static void there_and_back(int thread, int target, size_t n, long round)
{
	const uint64_t seed = seed_of(rank, target, thread, round);
	unsigned char *out = buffer(n), *in = buffer(n);

	fill(out, n, seed);
	MPI_Put(out, (int)n, MPI_BYTE, target, part_of(rank, thread), (int)n, MPI_BYTE, window);
	MPI_Win_flush(target, window);
	MPI_Get(in, (int)n, MPI_BYTE, target, part_of(rank, thread), (int)n, MPI_BYTE, window);
	MPI_Win_flush(target, window);
	verify(in, n, seed);
	release(in);
	release(out);
}

static void *run(void *argument)
{
	const int thread = (int)(intptr_t)argument;
	const int64_t one = 1;
	int64_t number;

	for (long round = 0; round < rounds; round++) {
		for (int i = 0; i < SIZES; i++)
			for (int r = 0; r < ranks; r++)
				there_and_back(thread, r, sizes[i], round);
		MPI_Fetch_and_op(&one, &number, MPI_INT64_T, 0, 0, MPI_SUM, window);
		MPI_Win_flush(0, window);
		CHECK(number >= 0 && number < ranks * threads * rounds, "fetched %lld", (long long)number);
		/* Nobody else has this number, if all is well; if not, it shows. */
		__atomic_fetch_add(&drawn[number], 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned char *memory;
	pthread_t *handles;
	size_t bytes;
	int total;

	start(&argc, &argv, MPI_THREAD_MULTIPLE, 1);
	threads = argument(argc, argv, 1, 4);
	rounds = argument(argc, argv, 2, 20);
	total = (int)(ranks * threads * rounds);
	drawn = calloc((size_t)total, sizeof(*drawn));
	handles = calloc((size_t)threads, sizeof(*handles));
	CHECK(drawn && handles, "no memory for %ld threads and %ld rounds", threads, rounds);

	bytes = COUNTER + (size_t)ranks * (size_t)threads * LARGEST;
	memory = buffer(bytes);
	MPI_Win_create(memory, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
	memset(memory, 0, bytes);
	MPI_Win_unlock(rank, window);
	MPI_Barrier(MPI_COMM_WORLD);

	MPI_Win_lock_all(0, window);
	for (long i = 0; i < threads; i++)
		CHECK(pthread_create(&handles[i], NULL, run, (void *)(intptr_t)i) == 0,
		      "thread %ld can't be started", i);
	for (long i = 0; i < threads; i++)
		pthread_join(handles[i], NULL);
	MPI_Win_unlock_all(window);

	MPI_Allreduce(MPI_IN_PLACE, drawn, total, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < total; i++)
		CHECK(drawn[i] == 1, "number %d was drawn %d times", i, drawn[i]);
	MPI_Win_free(&window);
	release(memory);
	free(handles);
	free(drawn);
	return finish("%ld threads in each of %d ranks, %ld rounds of %d sizes", threads, ranks, rounds,
		      SIZES);
}
