/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * What several ranks do to the same memory at once comes out as if they had taken
 * turns: MPI_Accumulate, MPI_Get_accumulate, MPI_Fetch_and_op,
 * MPI_Compare_and_swap, and exclusive locks.
 *   accumulate [ROUNDS] */
#include "common.h"

#include <string.h>

#define ELEMENTS 3000

static MPI_Win window;
static unsigned char *memory;

static void set_memory(int value)
{
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
	memset(memory, value, ELEMENTS * sizeof(int64_t));
	MPI_Win_unlock(rank, window);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Bytes there and back: each rank with the next. */
static void replace(size_t n, long round)
{
	const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
	unsigned char *out = buffer(n), *in = buffer(n);

	set_memory(0);
	fill(out, n, seed_of(rank, next, (int)n, round));
	MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
	MPI_Accumulate(out, (int)n, MPI_BYTE, next, 0, (int)n, MPI_BYTE, MPI_REPLACE, window);
	MPI_Win_flush(next, window);
	MPI_Get_accumulate(NULL, 0, MPI_BYTE, in, (int)n, MPI_BYTE, next, 0, (int)n, MPI_BYTE, MPI_NO_OP,
			   window);
	MPI_Win_unlock(next, window);
	verify(in, n, seed_of(rank, next, (int)n, round));
	MPI_Barrier(MPI_COMM_WORLD);

	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
	verify(memory, n, seed_of(previous, rank, (int)n, round));
	MPI_Win_unlock(rank, window);
	MPI_Barrier(MPI_COMM_WORLD);
	release(in);
	release(out);
}

/* What rank r gives for element i: small, so that real numbers are exact. */
static int given(int r, int i, long round)
{
	return (int)((r + 1) * 3 + i % 17 + round % 5);
}

static int64_t result_of(MPI_Op op, int i, long round)
{
	int64_t result = 0;

	for (int r = 0; r < ranks; r++) {
		const int64_t x = given(r, i, round);

		if (op == MPI_SUM)
			result += x;
		else
			result = x > result ? x : result;
	}
	return result;
}

/* All ranks into all ranks, element by element. */
#define COMBINE(function, type, datatype) \
	static void function(MPI_Op op, int n, int fence, long round) \
	{ \
		type *out = buffer((size_t)n * sizeof(type)); \
\
		set_memory(0); \
		for (int i = 0; i < n; i++) \
			out[i] = (type)given(rank, i, round); \
		if (fence) \
			MPI_Win_fence(MPI_MODE_NOPRECEDE, window); \
		else \
			MPI_Win_lock_all(0, window); \
		for (int r = 0; r < ranks; r++) \
			MPI_Accumulate(out, n, datatype, r, 0, n, datatype, op, window); \
		if (fence) \
			MPI_Win_fence(MPI_MODE_NOSUCCEED, window); \
		else \
			MPI_Win_unlock_all(window); \
		MPI_Barrier(MPI_COMM_WORLD); \
		MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window); \
		for (int i = 0; i < n; i++) { \
			type value; \
\
			memcpy(&value, memory + (size_t)i * sizeof(type), sizeof(value)); \
			CHECK(value == (type)result_of(op, i, round), #type " %d of %d is %lld, not %lld", i, n, \
			      (long long)value, (long long)result_of(op, i, round)); \
		} \
		MPI_Win_unlock(rank, window); \
		MPI_Barrier(MPI_COMM_WORLD); \
		release(out); \
	}

COMBINE(combine_int32, int32_t, MPI_INT32_T)
COMBINE(combine_int64, int64_t, MPI_INT64_T)
COMBINE(combine_float, float, MPI_FLOAT)
COMBINE(combine_double, double, MPI_DOUBLE)

/* Of integers only sums: with others, Open MPI 4.1.4's btl/ofi ends the program. */
static void combine(long round)
{
	static const int counts[] = {1, 2, 100, ELEMENTS};

	for (int i = 0; i < 4; i++) {
		for (int fence = 0; fence < 2; fence++) {
			combine_int32(MPI_SUM, counts[i], fence, round);
			combine_int64(MPI_SUM, counts[i], fence, round);
			combine_float(MPI_SUM, counts[i], fence, round);
			combine_double(MPI_SUM, counts[i], fence, round);
			combine_double(MPI_MAX, counts[i], fence, round);
		}
	}
}

/* Each of `total` numbers was drawn by one rank, once. */
static void each_once(const char *what, int *drawn, int total)
{
	MPI_Allreduce(MPI_IN_PLACE, drawn, total, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < total; i++)
		CHECK(drawn[i] == 1, "%s: number %d was drawn %d times", what, i, drawn[i]);
}

/* Everybody draws numbers from the counter at a rank. */
static void draw_by_fetch(int target, int draws)
{
	const int total = draws * ranks;
	const int64_t one = 1;
	int *drawn = buffer((size_t)total * sizeof(int));
	int64_t number;

	set_memory(0);
	memset(drawn, 0, (size_t)total * sizeof(int));
	MPI_Win_lock_all(0, window);
	for (int i = 0; i < draws; i++) {
		MPI_Fetch_and_op(&one, &number, MPI_INT64_T, target, 0, MPI_SUM, window);
		MPI_Win_flush(target, window);
		CHECK(number >= 0 && number < total, "fetched %lld of %d", (long long)number, total);
		drawn[number]++;
	}
	MPI_Win_unlock_all(window);
	each_once("fetch and add", drawn, total);
	release(drawn);
}

/* The target keeps out of it: Open MPI 4.1.4's osc/rdma can't compare and swap in
 * the window of the rank itself. */
static void draw_by_swap(int target, int draws)
{
	const int total = draws * (ranks - 1);
	int *drawn = buffer((size_t)total * sizeof(int));
	int64_t seen = 0;

	set_memory(0);
	memset(drawn, 0, (size_t)total * sizeof(int));
	MPI_Win_lock_all(0, window);
	for (int i = 0; rank != target && i < draws;) {
		const int64_t next = seen + 1, expected = seen;

		MPI_Compare_and_swap(&next, &expected, &seen, MPI_INT64_T, target, 0, window);
		MPI_Win_flush(target, window);
		CHECK(seen >= 0 && seen <= total, "found %lld of %d", (long long)seen, total);
		if (seen == expected) {
			CHECK(seen < total, "swapped %lld of %d", (long long)seen, total);
			drawn[seen]++;
			seen = next;
			i++;
		}
	}
	MPI_Win_unlock_all(window);
	each_once("compare and swap", drawn, total);
	release(drawn);
}

static void draw_under_lock(int target, int draws)
{
	const int total = draws * ranks;
	int *drawn = buffer((size_t)total * sizeof(int));
	int64_t number;

	set_memory(0);
	memset(drawn, 0, (size_t)total * sizeof(int));
	for (int i = 0; i < draws; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
		MPI_Get(&number, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, window);
		MPI_Win_flush(target, window);
		CHECK(number >= 0 && number < total, "got %lld of %d", (long long)number, total);
		drawn[number]++;
		number++;
		MPI_Put(&number, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, window);
		MPI_Win_unlock(target, window);
	}
	each_once("exclusive lock", drawn, total);
	release(drawn);
}

int main(int argc, char **argv)
{
	long rounds;

	start(&argc, &argv, MPI_THREAD_SINGLE, 1);
	rounds = argument(argc, argv, 1, 3);
	/* Not MPI_Win_allocate: within a host that gives shared memory, which messages
	 * don't reach, and in which osc/rdma can't compare and swap either. */
	memory = buffer(ELEMENTS * sizeof(int64_t));
	MPI_Win_create(memory, ELEMENTS * sizeof(int64_t), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	for (long round = 0; round < rounds; round++) {
		const int target = (int)(round % ranks);

		replace(1, round);
		replace(ELEMENTS, round);
		replace(ELEMENTS * sizeof(int64_t), round);
		combine(round);
		draw_by_fetch(target, 300);
		draw_by_swap(target, 100);
		draw_under_lock(target, 100);
	}
	MPI_Win_free(&window);
	release(memory);
	return finish("%ld rounds of everybody at the same memory, %d ranks", rounds, ranks);
}
