/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Ping-pong between every pair of ranks in turn, 0 bytes to 16 MiB, each message
 * with data of its own.
 *   pingpong [LARGEST [ROUND-TRIPS]] */
#include "common.h"

#define TAG 7

static void play(int peer, int first, size_t n, long rounds)
{
	unsigned char *out = buffer(n), *in = buffer(n);
	MPI_Status status;

	for (long i = 0; i < rounds; i++) {
		for (int turn = 0; turn < 2; turn++) {
			if ((turn == 0) == first) {
				fill(out, n, seed_of(rank, peer, TAG, i));
				MPI_Send(out, (int)n, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
			} else {
				MPI_Recv(in, (int)n, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &status);
				verify_status(&status, n, peer, TAG);
				verify(in, n, seed_of(peer, rank, TAG, i));
			}
		}
	}
	release(in);
	release(out);
}

int main(int argc, char **argv)
{
	size_t largest;
	long rounds;
	int sizes = 0;

	start(&argc, &argv, MPI_THREAD_SINGLE, 2);
	largest = (size_t)argument(argc, argv, 1, 16 << 20);
	rounds = argument(argc, argv, 2, 20);

	for (size_t n = 0; n <= largest; n = n ? 2 * n : 1, sizes++) {
		const long here = n > 1 << 20 ? (rounds + 3) / 4 : rounds;

		for (int a = 0; a < ranks; a++) {
			for (int b = a + 1; b < ranks; b++) {
				if (rank == a)
					play(b, 1, n, here);
				else if (rank == b)
					play(a, 0, n, here);
				MPI_Barrier(MPI_COMM_WORLD);
			}
		}
	}
	return finish("%d sizes up to %zu bytes between all pairs of %d ranks", sizes, largest, ranks);
}
