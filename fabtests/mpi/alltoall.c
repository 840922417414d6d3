/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * MPI_Alltoall, and MPI_Alltoallv with a size of its own for every pair.
 *   alltoall [ROUNDS] */
#include "common.h"

static void equal(int n, long round)
{
	unsigned char *out = buffer((size_t)n * (size_t)ranks), *in = buffer((size_t)n * (size_t)ranks);

	for (int r = 0; r < ranks; r++)
		fill(out + (size_t)r * (size_t)n, (size_t)n, seed_of(rank, r, n, round));
	MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, MPI_COMM_WORLD);
	for (int r = 0; r < ranks; r++)
		verify(in + (size_t)r * (size_t)n, (size_t)n, seed_of(r, rank, n, round));
	release(in);
	release(out);
}

static int size_between(int from, int to, int n)
{
	return n / (1 + (from + 3 * to) % 5);
}

static void unequal(int n, long round)
{
	unsigned char *out = buffer((size_t)n * (size_t)ranks), *in = buffer((size_t)n * (size_t)ranks);
	int counts[2][ranks], at[2][ranks];

	for (int r = 0; r < ranks; r++) {
		counts[0][r] = size_between(rank, r, n);
		counts[1][r] = size_between(r, rank, n);
		at[0][r] = at[1][r] = r * n;
		fill(out + at[0][r], (size_t)counts[0][r], seed_of(rank, r, n, round));
	}
	MPI_Alltoallv(out, counts[0], at[0], MPI_BYTE, in, counts[1], at[1], MPI_BYTE, MPI_COMM_WORLD);
	for (int r = 0; r < ranks; r++)
		verify(in + at[1][r], (size_t)counts[1][r], seed_of(r, rank, n, round));
	release(in);
	release(out);
}

int main(int argc, char **argv)
{
	static const int sizes[] = {1, 64, 1500, 16384, 100000, 1 << 20};
	const int count = sizeof(sizes) / sizeof(sizes[0]);
	long rounds;

	start(&argc, &argv, MPI_THREAD_SINGLE, 2);
	rounds = argument(argc, argv, 1, 20);
	for (int i = 0; i < count; i++) {
		for (long round = 0; round < rounds; round++) {
			equal(sizes[i], round);
			unequal(sizes[i], round);
		}
	}
	return finish("%ld rounds of %d sizes over %d ranks", rounds, count, ranks);
}
