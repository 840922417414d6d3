/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * MPI_Put and MPI_Get of every rank with every rank, itself too, under each kind
 * of synchronisation: fences, post/start/complete/wait, locks of single ranks and
 * of all. Contiguous and strided, with and without requests, in memory of MPI's
 * and of our own.
 *   put [ROUNDS] */
#include "common.h"

#include <string.h>

#define LARGEST (1 << 20)
#define OFFER -1 /* stands for a rank: to whoever gets it */
#define BLOCK 8

enum sync { FENCE, PSCW, LOCK, LOCK_ALL, SYNCS };

static const char *const names[SYNCS] = {"fences", "post and start", "locks", "lock of all"};

/* A rank's window: what each rank put there, in a slot of its own, and what the
 * rank offers to be got. Slots are twice as long as what is put, for strides. */
static MPI_Win window;
static unsigned char *memory;
static MPI_Group everybody;

static size_t slot_of(int r)
{
	return (size_t)r * 2 * LARGEST;
}

static void open_epoch(enum sync sync)
{
	switch (sync) {
	case FENCE:
		MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
		break;
	case PSCW:
		MPI_Win_post(everybody, 0, window);
		MPI_Win_start(everybody, 0, window);
		break;
	case LOCK_ALL:
		MPI_Win_lock_all(0, window);
		break;
	default:
		break;
	}
}

static void close_epoch(enum sync sync)
{
	switch (sync) {
	case FENCE:
		MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
		break;
	case PSCW:
		MPI_Win_complete(window);
		MPI_Win_wait(window);
		break;
	case LOCK_ALL:
		MPI_Win_unlock_all(window);
		break;
	default:
		break;
	}
	/* A lock tells nobody that the data have come. */
	if (sync >= LOCK)
		MPI_Barrier(MPI_COMM_WORLD);
}

/* With requests where the standard has them. */
static void put_and_get(enum sync sync, const void *out, void *in, int n, MPI_Datatype there,
			int count, int target, long round)
{
	MPI_Request requests[2];

	if (sync == LOCK)
		MPI_Win_lock(round % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, window);
	if (sync >= LOCK && round % 2) {
		MPI_Rput(out, n, MPI_BYTE, target, (MPI_Aint)slot_of(rank), count, there, window,
			 &requests[0]);
		MPI_Rget(in, n, MPI_BYTE, target, (MPI_Aint)slot_of(ranks), count, there, window,
			 &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	} else {
		MPI_Put(out, n, MPI_BYTE, target, (MPI_Aint)slot_of(rank), count, there, window);
		MPI_Get(in, n, MPI_BYTE, target, (MPI_Aint)slot_of(ranks), count, there, window);
	}
	if (sync == LOCK)
		MPI_Win_unlock(target, window);
	else if (sync == LOCK_ALL && round % 3 == 0)
		MPI_Win_flush(target, window);
}

/* n bytes in blocks with gaps between them, as the vector type has them. */
static void spread(unsigned char *to, const unsigned char *from, size_t n)
{
	for (size_t at = 0; at < n; at += BLOCK)
		memcpy(to + 2 * at, from + at, BLOCK);
}

static void gather(unsigned char *to, const unsigned char *from, size_t n)
{
	for (size_t at = 0; at < n; at += BLOCK)
		memcpy(to + at, from + 2 * at, BLOCK);
}

static void exchange(enum sync sync, size_t n, int strided, long round)
{
	unsigned char *out[ranks], *in[ranks], *plain = buffer(n);
	MPI_Datatype there = MPI_BYTE;
	int count = (int)n;

	if (strided) {
		MPI_Type_vector((int)(n / BLOCK), BLOCK, 2 * BLOCK, MPI_BYTE, &there);
		MPI_Type_commit(&there);
		count = 1;
	}
	fill(plain, n, seed_of(rank, OFFER, (int)n, round));
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
	memset(memory, 0, slot_of(ranks + 1));
	if (strided)
		spread(memory + slot_of(ranks), plain, n);
	else
		memcpy(memory + slot_of(ranks), plain, n);
	MPI_Win_unlock(rank, window);
	MPI_Barrier(MPI_COMM_WORLD);

	open_epoch(sync);
	for (int i = 0; i < ranks; i++) {
		const int r = (rank + i) % ranks;

		out[r] = buffer(n);
		in[r] = buffer(n);
		fill(out[r], n, seed_of(rank, r, (int)n, round));
		put_and_get(sync, out[r], in[r], (int)n, there, count, r, round);
	}
	close_epoch(sync);

	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
	for (int r = 0; r < ranks; r++) {
		verify(in[r], n, seed_of(r, OFFER, (int)n, round));
		if (strided)
			gather(plain, memory + slot_of(r), n);
		else
			memcpy(plain, memory + slot_of(r), n);
		verify(plain, n, seed_of(r, rank, (int)n, round));
		for (size_t i = strided ? 2 * n : n; i < 2 * n; i++)
			CHECK(memory[slot_of(r) + i] == 0, "%s: byte %zu behind %zu of rank %d was written",
			      names[sync], i - n, n, r);
		release(in[r]);
		release(out[r]);
	}
	MPI_Win_unlock(rank, window);
	release(plain);
	if (strided)
		MPI_Type_free(&there);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void all_of(long rounds)
{
	static const size_t sizes[] = {1, 8, 200, 4096, 20000, LARGEST};
	const int count = sizeof(sizes) / sizeof(sizes[0]);

	for (int sync = 0; sync < SYNCS; sync++)
		for (int i = 0; i < count; i++)
			for (long round = 0; round < rounds; round++) {
				exchange(sync, sizes[i], 0, round);
				/* Each block is an operation: a few will do. */
				if (sizes[i] % BLOCK == 0 && sizes[i] <= 1000)
					exchange(sync, sizes[i], 1, round);
			}
}

int main(int argc, char **argv)
{
	long rounds;
	void *own;

	start(&argc, &argv, MPI_THREAD_SINGLE, 1);
	rounds = argument(argc, argv, 1, 4);
	MPI_Comm_group(MPI_COMM_WORLD, &everybody);

	MPI_Win_allocate((MPI_Aint)slot_of(ranks + 1), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
	all_of(rounds);
	MPI_Win_free(&window);

	own = buffer(slot_of(ranks + 1));
	memory = own;
	MPI_Win_create(own, (MPI_Aint)slot_of(ranks + 1), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	all_of(rounds);
	MPI_Win_free(&window);
	release(own);

	MPI_Group_free(&everybody);
	return finish("%ld rounds of puts and gets under %d kinds of synchronisation, %d ranks", rounds,
		      SYNCS, ranks);
}
