/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * MPI_Iprobe, MPI_Probe, MPI_Improbe, MPI_Mprobe, MPI_Mrecv and MPI_Imrecv:
 * with and without wildcards, hits and misses, small and large messages,
 * messages taken out of order, and a matched message that nobody else gets.
 *   probe [ROUNDS] */
#include "common.h"

static const size_t sizes[] = {0, 1, 200, 4000, 20000, 300000, 2 << 20};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

enum { WITH_IPROBE = 20, WITH_PROBE, WITH_IMPROBE, WITH_MPROBE, OUT_OF_ORDER, NEVER_SENT, GO, WAYS = 4 };

/* Rank 0 probes; every other rank sends each size for each way to probe. */
static void send_all(long round)
{
	for (int i = 0; i < SIZES; i++) {
		for (int way = 0; way < WAYS; way++) {
			unsigned char *data = buffer(sizes[i]);

			fill(data, sizes[i], seed_of(rank, 0, WITH_IPROBE + way, round));
			MPI_Send(data, (int)sizes[i], MPI_BYTE, 0, WITH_IPROBE + way, MPI_COMM_WORLD);
			release(data);
			MPI_Barrier(MPI_COMM_WORLD); /* or MPI_ANY_SOURCE takes the next one of a fast rank */
		}
	}
}

static void receive_one(int source, int tag, long round)
{
	MPI_Message message = MPI_MESSAGE_NULL;
	MPI_Request request;
	MPI_Status found, status;
	unsigned char *data;
	int from, got_tag, n, flag = 0;

	switch (tag) {
	case WITH_IPROBE:
		while (!flag)
			MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &found);
		break;
	case WITH_PROBE:
		MPI_Probe(source, tag, MPI_COMM_WORLD, &found);
		break;
	case WITH_IMPROBE:
		while (!flag)
			MPI_Improbe(source, tag, MPI_COMM_WORLD, &flag, &message, &found);
		break;
	default:
		MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, &found);
	}
	from = found.MPI_SOURCE;
	got_tag = found.MPI_TAG;
	MPI_Get_count(&found, MPI_BYTE, &n);
	CHECK(got_tag == tag, "the probe found tag %d, not %d", got_tag, tag);
	CHECK(source == MPI_ANY_SOURCE || from == source, "the probe found source %d, not %d", from,
	      source);

	data = buffer((size_t)n);
	if (tag == WITH_IMPROBE) {
		MPI_Mrecv(data, n, MPI_BYTE, &message, &status);
	} else if (tag == WITH_MPROBE) {
		MPI_Imrecv(data, n, MPI_BYTE, &message, &request);
		MPI_Wait(&request, &status);
	} else {
		MPI_Recv(data, n, MPI_BYTE, from, got_tag, MPI_COMM_WORLD, &status);
	}
	CHECK(message == MPI_MESSAGE_NULL, "a received message's handle is not MPI_MESSAGE_NULL");
	verify_status(&status, (size_t)n, from, got_tag);
	verify(data, (size_t)n, seed_of(from, 0, got_tag, round));
	release(data);
}

static void expect_nothing(int source, int tag)
{
	MPI_Message message;
	MPI_Status status;
	int flag;

	MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &status);
	CHECK(!flag, "MPI_Iprobe found a message (source %d, tag %d) that nobody sent",
	      status.MPI_SOURCE, status.MPI_TAG);
	MPI_Improbe(source, tag, MPI_COMM_WORLD, &flag, &message, &status);
	CHECK(!flag, "MPI_Improbe found a message (source %d, tag %d) that nobody sent",
	      status.MPI_SOURCE, status.MPI_TAG);
}

static void receive_all(long round)
{
	for (int i = 0; i < SIZES; i++) {
		for (int way = 0; way < WAYS; way++) {
			for (int r = 1; r < ranks; r++) {
				expect_nothing(MPI_ANY_SOURCE, NEVER_SENT);
				expect_nothing(r, NEVER_SENT);
				receive_one(round % 2 ? r : MPI_ANY_SOURCE, WITH_IPROBE + way, round);
			}
			MPI_Barrier(MPI_COMM_WORLD);
		}
	}
	expect_nothing(MPI_ANY_SOURCE, MPI_ANY_TAG);
}

/* Three messages of one tag: the first two are matched, the third is received
 * while they are held, then the second, then the first. */
static void out_of_order(size_t n, long round)
{
	unsigned char *data[3];
	MPI_Message held[2];
	MPI_Status status;

	if (rank > 1)
		return;
	for (int i = 0; i < 3; i++)
		data[i] = buffer(n);
	if (rank == 1) {
		MPI_Request requests[3];

		for (int i = 0; i < 3; i++) {
			fill(data[i], n, seed_of(1, 0, OUT_OF_ORDER, 3 * round + i));
			MPI_Isend(data[i], (int)n, MPI_BYTE, 0, OUT_OF_ORDER, MPI_COMM_WORLD, &requests[i]);
		}
		MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	} else {
		for (int i = 0; i < 2; i++) {
			MPI_Mprobe(MPI_ANY_SOURCE, OUT_OF_ORDER, MPI_COMM_WORLD, &held[i], &status);
			verify_status(&status, n, 1, OUT_OF_ORDER);
		}
		MPI_Recv(data[2], (int)n, MPI_BYTE, 1, OUT_OF_ORDER, MPI_COMM_WORLD, &status);
		verify_status(&status, n, 1, OUT_OF_ORDER);
		for (int i = 1; i >= 0; i--) {
			MPI_Mrecv(data[i], (int)n, MPI_BYTE, &held[i], &status);
			verify_status(&status, n, 1, OUT_OF_ORDER);
		}
		for (int i = 0; i < 3; i++)
			verify(data[i], n, seed_of(1, 0, OUT_OF_ORDER, 3 * round + i));
	}
	for (int i = 0; i < 3; i++)
		release(data[i]);
}

/* Any source and any tag at once: the message must be the one that was sent. */
static void any(long round)
{
	unsigned char *data = buffer(64);
	MPI_Status status;
	int flag = 0;

	for (int r = 1; r < ranks; r++) {
		if (rank == r) {
			MPI_Recv(NULL, 0, MPI_BYTE, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			fill(data, 64, seed_of(r, 0, 100 + r, round));
			MPI_Send(data, 64, MPI_BYTE, 0, 100 + r, MPI_COMM_WORLD);
		} else if (rank == 0) {
			MPI_Send(NULL, 0, MPI_BYTE, r, GO, MPI_COMM_WORLD);
			for (flag = 0; !flag;)
				MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
			verify_status(&status, 64, r, 100 + r);
			MPI_Recv(data, 64, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
			verify_status(&status, 64, r, 100 + r);
			verify(data, 64, seed_of(r, 0, 100 + r, round));
		}
	}
	release(data);
}

int main(int argc, char **argv)
{
	long rounds;

	start(&argc, &argv, MPI_THREAD_SINGLE, 2);
	rounds = argument(argc, argv, 1, 10);
	for (long round = 0; round < rounds; round++) {
		if (rank == 0)
			receive_all(round);
		else
			send_all(round);
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < SIZES; i++)
			out_of_order(sizes[i], round);
		MPI_Barrier(MPI_COMM_WORLD);
		any(round);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	return finish("%ld rounds of %d sizes, %d ways to probe", rounds, SIZES, WAYS);
}
