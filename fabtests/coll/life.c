/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * The life of persistent collectives: never started, inactive, a thousand at a
 * time, on several communicators, of communicators that are freed before them;
 * errors; and some that are left to MPI_Finalize.
 *   life [REQUESTS] */
#include "names.h"

#include <stdlib.h>

static void never_started(void)
{
	int value = 1, all[64];

	for (int i = 0; i < 20; i++) {
		MPI_Request r[3];

		MPI_Barrier_init(MPI_COMM_WORLD, NO_INFO, &r[0]);
		MPI_Bcast_init(&value, 1, MPI_INT, i % ranks, MPI_COMM_WORLD, NO_INFO, &r[1]);
		MPI_Allgather_init(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, NO_INFO, &r[2]);
		for (int j = 0; j < 3; j++)
			MPI_Request_free(&r[(i + j) % 3]);
	}
}

/* All calls return at once, on the request that has never been started too. */
static void inactive(MPI_Request *r)
{
	MPI_Status status, statuses[2];
	MPI_Request two[2] = {*r, MPI_REQUEST_NULL};
	int flag, index, count, indices[2];

	MPI_Wait(r, &status);
	verify_empty(&status);
	MPI_Test(r, &flag, &status);
	CHECK(flag, "MPI_Test of an inactive request");
	verify_empty(&status);
	MPI_Request_get_status(*r, &flag, &status);
	CHECK(flag, "MPI_Request_get_status of an inactive request");
	verify_empty(&status);
	MPI_Waitall(2, two, statuses);
	verify_empty(&statuses[0]);
	verify_empty(&statuses[1]);
	MPI_Testall(2, two, &flag, statuses);
	CHECK(flag, "MPI_Testall of inactive requests");
	MPI_Waitany(2, two, &index, &status);
	CHECK(index == MPI_UNDEFINED, "MPI_Waitany of inactive requests: index %d", index);
	verify_empty(&status);
	MPI_Testany(2, two, &index, &flag, &status);
	CHECK(flag && index == MPI_UNDEFINED, "MPI_Testany of inactive requests: index %d", index);
	MPI_Waitsome(2, two, &count, indices, statuses);
	CHECK(count == MPI_UNDEFINED, "MPI_Waitsome of inactive requests: %d", count);
	MPI_Testsome(2, two, &count, indices, statuses);
	CHECK(count == MPI_UNDEFINED, "MPI_Testsome of inactive requests: %d", count);
	CHECK(*r != MPI_REQUEST_NULL && two[0] == *r, "an inactive persistent request was taken");
}

static void all_inactive(void)
{
	int counts[64], places[64], value = rank, all[64];
	MPI_Request r[3];

	for (int i = 0; i < ranks; i++) {
		counts[i] = 1;
		places[i] = i;
	}
	MPI_Barrier_init(MPI_COMM_WORLD, NO_INFO, &r[0]);
	MPI_Allgather_init(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, NO_INFO, &r[1]);
	MPI_Allgatherv_init(&value, 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD, NO_INFO,
	                    &r[2]);
	for (int i = 0; i < 3; i++) {
		inactive(&r[i]);
		MPI_Start(&r[i]);
		MPI_Wait(&r[i], MPI_STATUS_IGNORE);
		inactive(&r[i]);
	}
	for (int i = 0; i < 3; i++)
		MPI_Request_free(&r[i]);
}

static void many(int n)
{
	MPI_Request *r = malloc((size_t)n * sizeof(*r));
	int *value = malloc((size_t)n * sizeof(*value));

	CHECK(r && value, "no memory");
	for (int i = 0; i < n; i++)
		MPI_Bcast_init(&value[i], 1, MPI_INT, i % ranks, MPI_COMM_WORLD, NO_INFO, &r[i]);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < n; i++)
			value[i] = i % ranks == rank ? i + round : -1;
		for (int i = 0; i < n; i++)
			MPI_Start(&r[rank % 2 ? n - 1 - i : i]);
		MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
		for (int i = 0; i < n; i++)
			CHECK(value[i] == i + round, "request %d of %d, round %d: %d", i, n, round, value[i]);
	}
	for (int i = 0; i < n; i++)
		MPI_Request_free(&r[i]);
	free(value);
	free(r);
}

static void gather_on(MPI_Comm comm, int value, int *all, MPI_Request *r)
{
	static int values[8];
	static int at;
	int *const in = &values[at++ % 8];

	*in = value;
	MPI_Allgather_init(in, 1, MPI_INT, all, 1, MPI_INT, comm, NO_INFO, r);
}

/* Requests on parts of the world, some of which are active on one while another begins. */
static void communicators(void)
{
	MPI_Comm comms[4];
	MPI_Request r[4];
	int all[4][64], size;

	comms[0] = MPI_COMM_WORLD;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[1]);
	MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &comms[2]);
	MPI_Comm_dup(MPI_COMM_SELF, &comms[3]);
	for (int c = 0; c < 4; c++)
		gather_on(comms[c], 100 * c + rank, all[c], &r[c]);
	for (int round = 0; round < 50; round++) {
		for (int c = 0; c < 4; c++)
			MPI_Start(&r[(c + rank) % 4]);
		MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
		for (int c = 0; c < 4; c++) {
			int own;

			MPI_Comm_rank(comms[c], &own);
			MPI_Comm_size(comms[c], &size);
			CHECK(all[c][own] == 100 * c + rank, "communicator %d: own value %d", c, all[c][own]);
			for (int i = 0; i < size; i++)
				CHECK(all[c][i] >= 100 * c && all[c][i] < 100 * c + ranks,
				      "communicator %d, value %d: %d", c, i, all[c][i]);
			for (int i = 0; i < size; i++)
				all[c][i] = -1;
		}
	}
	/* Freed before their requests, which go on; or after them. */
	MPI_Request_free(&r[1]);
	for (int c = 1; c < 4; c++)
		MPI_Comm_free(&comms[c]);
	for (int round = 0; round < 5; round++) {
		MPI_Start(&r[2]);
		MPI_Start(&r[3]);
		MPI_Waitall(2, &r[2], MPI_STATUSES_IGNORE);
		CHECK(all[3][0] == 300 + rank, "after MPI_Comm_free: %d", all[3][0]);
	}
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[2]);
	MPI_Request_free(&r[3]);
}

static void expect(int code, int class, const char *what)
{
	int got = MPI_SUCCESS;

	if (code != MPI_SUCCESS)
		MPI_Error_class(code, &got);
	CHECK(code != MPI_SUCCESS && (class == MPI_SUCCESS || got == class),
	      "%s: error class %d, not %d", what, got, class);
}

static int handled;

static void count_error(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	handled++;
}

static void errors(void)
{
	MPI_Comm comm;
	MPI_Errhandler handler;
	MPI_Request r;
	int value = 1, flag;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_create_errhandler(count_error, &handler);
	MPI_Comm_set_errhandler(comm, handler);
	expect(MPI_Bcast_init(&value, 1, MPI_INT, ranks, comm, NO_INFO, &r), MPI_ERR_ROOT, "a root too high");
	expect(MPI_Bcast_init(&value, 1, MPI_DATATYPE_NULL, 0, comm, NO_INFO, &r), MPI_ERR_TYPE, "no type");
	/* One rank's fault is an error of all. */
	expect(MPI_Bcast_init(&value, rank == ranks - 1 ? -1 : 1, MPI_INT, 0, comm, NO_INFO, &r),
	       rank == ranks - 1 ? MPI_ERR_COUNT : MPI_SUCCESS, "a count below 0");
	CHECK(handled == 3, "the error handler was called %d times, not 3", handled);

	MPI_Barrier_init(comm, NO_INFO, &r);
	if (rank == 0)
		MPI_Start(&r);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0 && ranks > 1) {
		MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
		CHECK(!flag, "a barrier that only this rank has begun is over");
		expect(MPI_Start(&r), MPI_ERR_REQUEST, "a start of an active request");
		expect(MPI_Request_free(&r), MPI_ERR_REQUEST, "a free of an active request");
		expect(MPI_Cancel(&r), MPI_ERR_REQUEST, "a cancel of an active request");
		CHECK(handled == 6, "the error handler was called %d times, not 6", handled);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank != 0)
		MPI_Start(&r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Request_free(&r);
	MPI_Errhandler_free(&handler);
	MPI_Comm_free(&comm);
}

/* Goes on while the root is in a blocking call of another sort. */
static void while_blocked(void)
{
	int value = -1, token = 0;
	MPI_Request r;

	MPI_Bcast_init(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, NO_INFO, &r);
	for (int round = 0; round < 20; round++) {
		value = rank == 0 ? round : -1;
		MPI_Start(&r);
		if (rank == 0)
			for (int i = 1; i < ranks; i++)
				MPI_Recv(&token, 1, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		CHECK(value == round, "%d in round %d", value, round);
		if (rank != 0)
			MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	}
	MPI_Request_free(&r);
}

/* A large message to a rank that waits for a collective first: the wait sends it on. */
static void while_sending(void)
{
	enum { LARGE = 1 << 20 };
	char *data = buffer(LARGE);
	const int peer = rank ^ 1;
	MPI_Request r, message;

	MPI_Barrier_init(MPI_COMM_WORLD, NO_INFO, &r);
	for (int round = 0; round < 5 && ranks % 2 == 0; round++) {
		if (rank % 2 == 0) {
			fill(data, LARGE, seed_of(rank, peer, 0, round));
			MPI_Isend(data, LARGE, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &message);
			MPI_Start(&r);
			MPI_Wait(&r, MPI_STATUS_IGNORE);
			MPI_Wait(&message, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(data, LARGE, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			verify(data, LARGE, seed_of(peer, rank, 0, round));
			MPI_Start(&r);
			MPI_Wait(&r, MPI_STATUS_IGNORE);
		}
	}
	MPI_Request_free(&r);
	release(data);
}

/* For MPI_Finalize to free: also of a communicator that is gone. */
static void left(void)
{
	static int value, all[64];
	MPI_Comm comm;
	MPI_Request r;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Allgather_init(&value, 1, MPI_INT, all, 1, MPI_INT, comm, NO_INFO, &r);
	MPI_Start(&r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Comm_free(&comm);
	MPI_Barrier_init(MPI_COMM_WORLD, NO_INFO, &r);
}

int main(int argc, char **argv)
{
	long n;

	start(&argc, &argv, MPI_THREAD_SINGLE, 1);
	CHECK(ranks <= 64, "%d ranks; 64 at most", ranks);
	n = argument(argc, argv, 1, 1000);
	never_started();
	all_inactive();
	many((int)n);
	communicators();
	errors();
	while_blocked();
	while_sending();
	left();
	return finish("inactive, %ld at a time, on 4 communicators, %d ranks", n, ranks);
}
