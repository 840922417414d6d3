/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Messages go round all ranks; each rank verifies what came and sends on what
 * only it could have made. Then all ranks shift at once, both ways.
 *   ring [LAPS] */
#include "common.h"

#define TAG 11

static void token(size_t n, long lap)
{
	const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
	unsigned char *data = buffer(n);
	MPI_Status status;

	if (rank == 0) {
		fill(data, n, seed_of(0, next, TAG, lap));
		MPI_Send(data, (int)n, MPI_BYTE, next, TAG, MPI_COMM_WORLD);
	}
	MPI_Recv(data, (int)n, MPI_BYTE, previous, TAG, MPI_COMM_WORLD, &status);
	verify_status(&status, n, previous, TAG);
	verify(data, n, seed_of(previous, rank, TAG, lap));
	if (rank != 0) {
		fill(data, n, seed_of(rank, next, TAG, lap));
		MPI_Send(data, (int)n, MPI_BYTE, next, TAG, MPI_COMM_WORLD);
	}
	release(data);
}

static void shift(size_t n, long lap)
{
	const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
	unsigned char *out[2] = {buffer(n), buffer(n)}, *in[2] = {buffer(n), buffer(n)};
	const int to[2] = {next, previous}, from[2] = {previous, next};
	MPI_Request requests[4];
	MPI_Status statuses[4];

	for (int way = 0; way < 2; way++) {
		fill(out[way], n, seed_of(rank, to[way], TAG + 1 + way, lap));
		MPI_Irecv(in[way], (int)n, MPI_BYTE, from[way], TAG + 1 + way, MPI_COMM_WORLD,
			  &requests[way]);
	}
	for (int way = 0; way < 2; way++)
		MPI_Isend(out[way], (int)n, MPI_BYTE, to[way], TAG + 1 + way, MPI_COMM_WORLD,
			  &requests[2 + way]);
	MPI_Waitall(4, requests, statuses);
	for (int way = 0; way < 2; way++) {
		verify_status(&statuses[way], n, from[way], TAG + 1 + way);
		verify(in[way], n, seed_of(from[way], rank, TAG + 1 + way, lap));
		release(in[way]);
		release(out[way]);
	}
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {0, 8, 1000, 9000, 70000, 1 << 20};
	const int count = sizeof(sizes) / sizeof(sizes[0]);
	long laps;

	start(&argc, &argv, MPI_THREAD_SINGLE, 2);
	laps = argument(argc, argv, 1, 50);
	for (int i = 0; i < count; i++) {
		for (long lap = 0; lap < laps; lap++) {
			token(sizes[i], lap);
			shift(sizes[i], lap);
		}
	}
	return finish("%ld laps of %d sizes round %d ranks", laps, count, ranks);
}
