/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Arrays of requests of every sort, completed by every call that there is:
 * persistent collectives, some of which no library can take over, messages,
 * persistent messages, inactive and null requests.
 *   mixed [ROUNDS] */
#include "names.h"

#include <string.h>

enum { GATHERED, SENT_ONE, INACTIVE, RECEIVED, COLUMNS, NONE, CAST, P_SENT, P_RECEIVED, IDLE, ALL };
enum { BYTES = 600 };

static MPI_Request requests[ALL];
static char *in, *gathered, *column_in, *columns, *cast, *sent, *received, *p_sent, *p_received;
static int next, previous;

static int is_collective(int i)
{
	return i == GATHERED || i == COLUMNS || i == CAST;
}

static void check_status(int i, MPI_Status *status)
{
	if (i == RECEIVED || i == P_RECEIVED)
		verify_status(status, BYTES, previous, i);
	else if (is_collective(i) || i == INACTIVE || i == IDLE || i == NONE)
		verify_empty(status);
}

static void fill_all(long round)
{
	fill(in, BYTES, seed_of(rank, 0, GATHERED, round));
	fill(column_in, BYTES, seed_of(rank, 0, COLUMNS, round));
	if (rank == 0)
		fill(cast, BYTES, seed_of(0, 0, CAST, round));
	fill(sent, BYTES, seed_of(rank, next, RECEIVED, round));
	fill(p_sent, BYTES, seed_of(rank, next, P_RECEIVED, round));
}

static void start_all(long round)
{
	MPI_Request group[4] = {requests[COLUMNS], requests[P_RECEIVED], requests[GATHERED],
	                        requests[P_SENT]};

	MPI_Irecv(received, BYTES, MPI_BYTE, previous, RECEIVED, MPI_COMM_WORLD, &requests[RECEIVED]);
	if (rank % 2)
		MPI_Start(&requests[CAST]);
	if (round % 2)
		MPI_Startall(4, group);
	else
		for (int i = 0; i < 4; i++)
			MPI_Start(&group[i]);
	MPI_Isend(sent, BYTES, MPI_BYTE, next, RECEIVED, MPI_COMM_WORLD, &requests[SENT_ONE]);
	if (rank % 2 == 0)
		MPI_Start(&requests[CAST]);
}

static void verify_all(long round)
{
	for (int r = 0; r < ranks; r++) {
		verify(gathered + r * BYTES, BYTES, seed_of(r, 0, GATHERED, round));
		verify(columns + r * BYTES, BYTES, seed_of(r, 0, COLUMNS, round));
	}
	verify(cast, BYTES, seed_of(0, 0, CAST, round));
	verify(received, BYTES, seed_of(previous, rank, RECEIVED, round));
	verify(p_received, BYTES, seed_of(previous, rank, P_RECEIVED, round));
	CHECK(requests[RECEIVED] == MPI_REQUEST_NULL && requests[SENT_ONE] == MPI_REQUEST_NULL,
	      "a completed message's request is not null");
	for (int i = 0; i < ALL; i++)
		CHECK(requests[i] != MPI_REQUEST_NULL || i == RECEIVED || i == SENT_ONE || i == NONE,
		      "request %d is null", i);
}

static void count_one(int *seen, int i, MPI_Status *status)
{
	CHECK(i >= 0 && i < ALL, "index %d of %d", i, ALL);
	CHECK(!seen[i]++, "request %d completed twice", i);
	CHECK(i != INACTIVE && i != IDLE && i != NONE, "request %d was not active", i);
	check_status(i, status);
}

static void complete_some(int wait)
{
	int seen[ALL] = {0}, indices[ALL], n, left = 7;
	MPI_Status statuses[ALL];

	while (left > 0) {
		if (wait)
			MPI_Waitsome(ALL, requests, &n, indices, statuses);
		else
			MPI_Testsome(ALL, requests, &n, indices, statuses);
		CHECK(n != MPI_UNDEFINED && n >= wait, "%d completed, %d left", n, left);
		for (int i = 0; i < n; i++)
			count_one(seen, indices[i], &statuses[i]);
		left -= n;
	}
	(wait ? MPI_Waitsome : MPI_Testsome)(ALL, requests, &n, indices, statuses);
	CHECK(n == MPI_UNDEFINED, "nothing is active, but %d completed", n);
}

static void complete_any(int wait)
{
	int seen[ALL] = {0}, index, flag = 1, left = 7;
	MPI_Status status;

	while (left > 0) {
		if (wait)
			MPI_Waitany(ALL, requests, &index, &status);
		else
			MPI_Testany(ALL, requests, &index, &flag, &status);
		if (!flag) {
			CHECK(index == MPI_UNDEFINED, "nothing came, but index is %d", index);
			continue;
		}
		count_one(seen, index, &status);
		left--;
	}
	if (wait)
		MPI_Waitany(ALL, requests, &index, &status);
	else
		MPI_Testany(ALL, requests, &index, &flag, &status);
	CHECK(flag && index == MPI_UNDEFINED, "nothing is active: flag %d, index %d", flag, index);
	verify_empty(&status);
}

static void complete_all(int wait)
{
	MPI_Status statuses[ALL];
	int flag = 0;

	if (wait)
		MPI_Waitall(ALL, requests, statuses);
	else
		while (!flag)
			MPI_Testall(ALL, requests, &flag, statuses);
	for (int i = 0; i < ALL; i++)
		check_status(i, &statuses[i]);
}

static void complete_each(int wait)
{
	for (int i = ALL - 1; i >= 0; i--) {
		MPI_Status status;
		int flag = 0;

		for (int n = 0; !flag && is_collective(i); n++) {
			/* Doesn't complete it: the next call still finds it so. */
			MPI_Request_get_status(requests[i], &flag, &status);
			if (n % 2 == 0)
				flag = 0;
		}
		flag = 0;
		if (wait)
			MPI_Wait(&requests[i], &status);
		else
			while (!flag)
				MPI_Test(&requests[i], &flag, &status);
		check_status(i, &status);
	}
}

static void init(void)
{
	const size_t all = (size_t)BYTES * (size_t)ranks;
	MPI_Datatype pairs;

	next = (rank + 1) % ranks;
	previous = (rank + ranks - 1) % ranks;
	in = buffer(BYTES), gathered = buffer(all);
	column_in = buffer(BYTES), columns = buffer(all);
	cast = buffer(BYTES), sent = buffer(BYTES), received = buffer(BYTES);
	p_sent = buffer(BYTES), p_received = buffer(BYTES);
	for (int i = 0; i < ALL; i++)
		requests[i] = MPI_REQUEST_NULL;
	MPI_Type_contiguous(2, MPI_CHAR, &pairs);
	MPI_Type_commit(&pairs);
	MPI_Allgather_init(in, BYTES, MPI_BYTE, gathered, BYTES, MPI_BYTE, MPI_COMM_WORLD, NO_INFO,
	                   &requests[GATHERED]);
	MPI_Allgather_init(column_in, BYTES / 2, pairs, columns, BYTES / 2, pairs, MPI_COMM_WORLD,
	                   NO_INFO, &requests[COLUMNS]);
	MPI_Type_free(&pairs);
	MPI_Bcast_init(cast, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD, NO_INFO, &requests[CAST]);
	MPI_Barrier_init(MPI_COMM_WORLD, NO_INFO, &requests[INACTIVE]);
	MPI_Send_init(p_sent, BYTES, MPI_BYTE, next, P_RECEIVED, MPI_COMM_WORLD, &requests[P_SENT]);
	MPI_Recv_init(p_received, BYTES, MPI_BYTE, previous, P_RECEIVED, MPI_COMM_WORLD,
	              &requests[P_RECEIVED]);
	MPI_Recv_init(p_received, BYTES, MPI_BYTE, previous, IDLE, MPI_COMM_WORLD, &requests[IDLE]);
}

int main(int argc, char **argv)
{
	unsigned long state;
	long rounds;

	start(&argc, &argv, MPI_THREAD_SINGLE, 1);
	rounds = argument(argc, argv, 1, 400);
	state = (unsigned long)rank + 1;
	init();
	for (long round = 0; round < rounds; round++) {
		const int wait = (int)(round / 4 % 2);

		fill_all(round);
		dawdle(&state);
		start_all(round);
		dawdle(&state);
		switch (round % 4) {
		case 0:
			complete_all(wait);
			break;
		case 1:
			complete_any(wait);
			break;
		case 2:
			complete_some(wait);
			break;
		default:
			complete_each(wait);
		}
		verify_all(round);
	}
	for (int i = 0; i < ALL; i++)
		if (requests[i] != MPI_REQUEST_NULL)
			MPI_Request_free(&requests[i]);
	return finish("%ld rounds of arrays of %d requests over %d ranks", rounds, (int)ALL, ranks);
}
