/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Every persistent collective, with types, counts, roots, in place and not; several
 * at a time, which odd ranks start in the opposite order, with other data at each
 * start, and ranks that are late.
 *   kinds [STARTS] */
#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { BCAST, ALLGATHER, ALLTOALL, GATHER, SCATTER, KINDS };

struct instance {
	enum kind kind;
	int id, root, in_place;
	size_t block; /* bytes */
	char *send, *receive;
	MPI_Request request;
};

static unsigned long state;

static uint64_t seed(const struct instance *it, int from, int to, long round)
{
	return seed_of(from, to, it->id, round);
}

/* Every other one by the form with large counts, where there is one. */
#if MPI_VERSION >= 4
#define INIT(name, ...) (it->id % 2 ? name##_c(__VA_ARGS__) : name(__VA_ARGS__))
#else
#define INIT(name, ...) name(__VA_ARGS__)
#endif

static void init(struct instance *it, int count, MPI_Datatype type)
{
	const size_t all = it->block * (size_t)ranks;
	void *in = it->send = buffer(all), *out = it->receive = buffer(all);
	const int in_place = it->in_place;
	int rc = MPI_ERR_OTHER;

	switch (it->kind) {
	case BCAST:
		rc = INIT(MPI_Bcast_init, out, count, type, it->root, MPI_COMM_WORLD, NO_INFO, &it->request);
		break;
	case ALLGATHER:
		rc = INIT(MPI_Allgather_init, in_place ? MPI_IN_PLACE : in, count, type, out, count, type,
		                        MPI_COMM_WORLD, NO_INFO, &it->request);
		break;
	case ALLTOALL:
		rc = INIT(MPI_Alltoall_init, in_place ? MPI_IN_PLACE : in, count, type, out, count, type,
		                       MPI_COMM_WORLD, NO_INFO, &it->request);
		break;
	case GATHER:
		rc = INIT(MPI_Gather_init, in_place && rank == it->root ? MPI_IN_PLACE : in, count, type, out,
		                     count, type, it->root, MPI_COMM_WORLD, NO_INFO, &it->request);
		break;
	case SCATTER:
		rc = INIT(MPI_Scatter_init, in, count, type, in_place && rank == it->root ? MPI_IN_PLACE : out,
		                      count, type, it->root, MPI_COMM_WORLD, NO_INFO, &it->request);
		break;
	case KINDS:
		break;
	}
	CHECK(rc == MPI_SUCCESS, "init of kind %d: %d", it->kind, rc);
}

static void prepare(struct instance *it, long round)
{
	const size_t block = it->block;
	char *own = it->send;

	memset(it->receive, 0x5a, block * (size_t)ranks);
	switch (it->kind) {
	case BCAST:
		if (rank == it->root)
			fill(it->receive, block, seed(it, rank, 0, round));
		return;
	case ALLTOALL:
	case SCATTER:
		if (it->kind == ALLTOALL && it->in_place)
			own = it->receive;
		for (int to = 0; to < ranks; to++)
			fill(own + (size_t)to * block, block, seed(it, rank, to, round));
		return;
	case GATHER:
	case ALLGATHER:
		if (it->in_place && (it->kind == ALLGATHER || rank == it->root))
			own = it->receive + (size_t)rank * block;
		fill(own, block, seed(it, rank, 0, round));
		return;
	case KINDS:
		return;
	}
}

static void verify_all(const struct instance *it, long round)
{
	const size_t block = it->block;

	switch (it->kind) {
	case BCAST:
		verify(it->receive, block, seed(it, it->root, 0, round));
		return;
	case ALLGATHER:
	case GATHER:
		if (it->kind == GATHER && rank != it->root)
			return;
		for (int from = 0; from < ranks; from++)
			verify(it->receive + (size_t)from * block, block, seed(it, from, 0, round));
		return;
	case ALLTOALL:
		for (int from = 0; from < ranks; from++)
			verify(it->receive + (size_t)from * block, block, seed(it, from, rank, round));
		return;
	case SCATTER:
		verify(it->in_place && rank == it->root ? it->send + (size_t)rank * block : it->receive,
		       block, seed(it, it->root, rank, round));
		return;
	case KINDS:
		return;
	}
}

/* All of them at a time, in opposite orders; the waits in any. */
static void run(struct instance *all, int n, long starts)
{
	for (long round = 0; round < starts; round++) {
		for (int i = 0; i < n; i++)
			prepare(&all[i], round);
		for (int i = 0; i < n; i++) {
			dawdle(&state);
			MPI_Start(&all[rank % 2 ? n - 1 - i : i].request);
		}
		dawdle(&state);
		for (int i = 0, first = (int)draw(&state, (unsigned)n); i < n; i++) {
			struct instance *it = &all[(first + i) % n];
			MPI_Status status;

			MPI_Wait(&it->request, &status);
			verify_empty(&status);
			CHECK(it->request != MPI_REQUEST_NULL, "a wait took a persistent request");
			verify_all(it, round);
		}
	}
	for (int i = 0; i < n; i++) {
		MPI_Request_free(&all[i].request);
		CHECK(all[i].request == MPI_REQUEST_NULL, "a freed request is not null");
		release(all[i].send);
		release(all[i].receive);
	}
}

int main(int argc, char **argv)
{
	static const int counts[] = {1, 7, 250, 3001, 20000};
	const MPI_Datatype types[] = {MPI_CHAR, MPI_INT, MPI_DOUBLE};
	struct instance all[2 * KINDS];
	long starts, cases = 0;
	int id = 0;

	start(&argc, &argv, MPI_THREAD_SINGLE, 1);
	starts = argument(argc, argv, 1, 100);
	state = (unsigned long)rank + 1;
	for (int c = 0; c < 5; c++)
		for (int t = 0; t < 3; t++) {
			const long rounds = counts[c] > 3000 ? (starts + 9) / 10 : starts;
			int size, n = 0;

			MPI_Type_size(types[t], &size);
			for (int in_place = 0; in_place < 2; in_place++)
				for (int k = 0; k < KINDS; k++) {
					struct instance *it = &all[n++];

					*it = (struct instance){.kind = (enum kind)k,
					                        .id = id,
					                        .root = id % ranks,
					                        .in_place = in_place,
					                        .block = (size_t)counts[c] * (size_t)size};
					id++;
					init(it, counts[c], types[t]);
				}
			run(all, n, rounds);
			cases += n;
		}
	return finish("%ld persistent collectives, each started up to %ld times on %d ranks", cases,
	              starts, ranks);
}
