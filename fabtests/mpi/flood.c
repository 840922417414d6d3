/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * All ranks flood rank 0, which is slow: it works before its first receive and
 * between receives, and takes each sender's messages in order, from the last
 * sender to the first, so that what the others send stays unexpected. Nothing
 * may be lost, reordered or overwritten. Then the same with any source.
 *   flood [MESSAGES [MICROSECONDS-OF-WORK-PER-MESSAGE]] */
#include "common.h"

#define TAG 41
#define LARGEST 40000

static size_t size_of(long i)
{
	static const size_t sizes[] = {8, 0, 100, 8, 1400, 8, 9000, 64, LARGEST};

	return sizes[i % (long)(sizeof(sizes) / sizeof(sizes[0]))];
}

#define WINDOW 256

static void send_all(int tag, long messages)
{
	MPI_Request requests[WINDOW];
	void *data[WINDOW];

	for (long i = 0; i < messages; i++) {
		const int slot = (int)(i % WINDOW);

		if (i >= WINDOW) {
			MPI_Wait(&requests[slot], MPI_STATUS_IGNORE);
			release(data[slot]);
		}
		data[slot] = buffer(size_of(i));
		fill(data[slot], size_of(i), seed_of(rank, 0, tag, i));
		MPI_Isend(data[slot], (int)size_of(i), MPI_BYTE, 0, tag, MPI_COMM_WORLD, &requests[slot]);
	}
	for (long i = messages > WINDOW ? messages - WINDOW : 0; i < messages; i++) {
		MPI_Wait(&requests[i % WINDOW], MPI_STATUS_IGNORE);
		release(data[i % WINDOW]);
	}
}

static void receive(int source, int tag, long *next, double work)
{
	unsigned char *data = buffer(LARGEST);
	MPI_Status status;
	int from;

	MPI_Recv(data, LARGEST, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status);
	from = status.MPI_SOURCE;
	CHECK(source == MPI_ANY_SOURCE || from == source, "a message of rank %d, not %d", from, source);
	verify_status(&status, size_of(next[from]), from, tag);
	verify(data, size_of(next[from]), seed_of(from, 0, tag, next[from]));
	next[from]++;
	compute(work);
	release(data);
}

int main(int argc, char **argv)
{
	long messages;
	double work;

	start(&argc, &argv, MPI_THREAD_SINGLE, 2);
	messages = argument(argc, argv, 1, 4000);
	work = 1e-6 * (double)argument(argc, argv, 2, 20);

	for (int tag = TAG; tag < TAG + 2; tag++) {
		long next[ranks];

		MPI_Barrier(MPI_COMM_WORLD);
		if (rank != 0) {
			send_all(tag, messages);
			continue;
		}
		for (int r = 0; r < ranks; r++)
			next[r] = 0;
		compute(0.5);
		if (tag == TAG) {
			for (int r = ranks - 1; r > 0; r--)
				for (long i = 0; i < messages; i++)
					receive(r, tag, next, work);
		} else {
			for (long i = 0; i < messages * (ranks - 1); i++)
				receive(MPI_ANY_SOURCE, tag, next, work);
			for (int r = 1; r < ranks; r++)
				CHECK(next[r] == messages, "%ld messages of rank %d, not %ld", next[r], r, messages);
		}
	}
	return finish("%ld messages from each of %d ranks, twice", messages, ranks - 1);
}
