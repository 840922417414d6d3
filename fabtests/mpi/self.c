/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Messages of a rank to itself, in MPI_COMM_WORLD and MPI_COMM_SELF: posted and
 * unposted, matched by probe, many at once.
 *   self [ROUNDS] */
#include "common.h"

#define TAG 61
#define MANY 200

static void one(MPI_Comm comm, int me, size_t n, int expected, long round)
{
	unsigned char *out = buffer(n), *in = buffer(n);
	MPI_Request send, receive;
	MPI_Message message;
	MPI_Status status;

	fill(out, n, seed_of(rank, rank, TAG, round));
	if (expected)
		MPI_Irecv(in, (int)n, MPI_BYTE, me, TAG, comm, &receive);
	MPI_Isend(out, (int)n, MPI_BYTE, me, TAG, comm, &send);
	if (!expected) {
		MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
		verify_status(&status, n, me, TAG);
		MPI_Imrecv(in, (int)n, MPI_BYTE, &message, &receive);
	}
	MPI_Wait(&receive, &status);
	MPI_Wait(&send, MPI_STATUS_IGNORE);
	verify_status(&status, n, me, TAG);
	verify(in, n, seed_of(rank, rank, TAG, round));
	release(in);
	release(out);
}

/* Received in the reverse order of the tags. */
static void many(long round)
{
	unsigned char *out[MANY], *in = buffer(MANY);
	MPI_Request sends[MANY];

	for (int i = 0; i < MANY; i++) {
		out[i] = buffer((size_t)i);
		fill(out[i], (size_t)i, seed_of(rank, rank, i, round));
		MPI_Isend(out[i], i, MPI_BYTE, rank, i, MPI_COMM_WORLD, &sends[i]);
	}
	for (int i = MANY - 1; i >= 0; i--) {
		MPI_Recv(in, MANY, MPI_BYTE, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		verify(in, (size_t)i, seed_of(rank, rank, i, round));
	}
	MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE);
	for (int i = 0; i < MANY; i++)
		release(out[i]);
	release(in);
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {0, 1, 64, 2000, 30000, 1 << 20};
	const int count = sizeof(sizes) / sizeof(sizes[0]);
	long rounds;

	start(&argc, &argv, MPI_THREAD_SINGLE, 1);
	rounds = argument(argc, argv, 1, 50);
	for (long round = 0; round < rounds; round++) {
		for (int i = 0; i < count; i++) {
			for (int expected = 0; expected < 2; expected++) {
				one(MPI_COMM_WORLD, rank, sizes[i], expected, round);
				one(MPI_COMM_SELF, 0, sizes[i], expected, round);
			}
		}
		many(round);
	}
	return finish("%ld rounds of %d sizes in each of %d ranks", rounds, count, ranks);
}
