/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Ranks that compute for a long time without calling MPI are not dead, and lose
 * nothing: before they compute, small and large messages to them are under way,
 * posted and unposted. Even ranks compute for SECONDS, odd ones for half of that
 * and then wait for them; afterwards the other way round, for a tenth.
 *   compute [SECONDS] */
#include "common.h"

#define TAG 31

static const size_t sizes[] = {8, 2000, 12000, 100000, 3 << 20};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

static void phase(int number, double duration)
{
	const int peer = rank ^ 1;
	unsigned char *out[SIZES], *in[SIZES];
	MPI_Request sends[SIZES], receives[SIZES];
	MPI_Status status;

	MPI_Barrier(MPI_COMM_WORLD);
	if (peer >= ranks)
		return;
	for (int i = 0; i < SIZES; i++) {
		out[i] = buffer(sizes[i]);
		in[i] = buffer(sizes[i]);
		fill(out[i], sizes[i], seed_of(rank, peer, TAG + i, number));
		if (i % 2)
			MPI_Irecv(in[i], (int)sizes[i], MPI_BYTE, peer, TAG + i, MPI_COMM_WORLD, &receives[i]);
	}
	for (int i = 0; i < SIZES; i++)
		MPI_Isend(out[i], (int)sizes[i], MPI_BYTE, peer, TAG + i, MPI_COMM_WORLD, &sends[i]);
	compute(duration);
	for (int i = 0; i < SIZES; i++) {
		if (i % 2 == 0)
			MPI_Irecv(in[i], (int)sizes[i], MPI_BYTE, peer, TAG + i, MPI_COMM_WORLD, &receives[i]);
		MPI_Wait(&receives[i], &status);
		verify_status(&status, sizes[i], peer, TAG + i);
		verify(in[i], sizes[i], seed_of(peer, rank, TAG + i, number));
	}
	MPI_Waitall(SIZES, sends, MPI_STATUSES_IGNORE);
	for (int i = 0; i < SIZES; i++) {
		release(in[i]);
		release(out[i]);
	}
}

int main(int argc, char **argv)
{
	double begin, longest;
	long duration;

	start(&argc, &argv, MPI_THREAD_SINGLE, 2);
	duration = argument(argc, argv, 1, 60);
	begin = seconds();
	longest = (double)duration;
	phase(0, rank % 2 ? longest / 2 : longest);
	phase(1, rank % 2 ? longest / 10 : longest / 20);
	CHECK(seconds() - begin >= longest, "the ranks did not compute");
	return finish("%ld s of work between messages", duration);
}
