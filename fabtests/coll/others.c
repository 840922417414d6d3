/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Persistent collectives that no runtime takes over are right as well: derived
 * types, which differ from rank to rank, intercommunicators, operations of the
 * program's own, nothing at all to move; started in any order.
 *   others [STARTS] */
#include "names.h"

#include <string.h>

enum { N = 40 };

static unsigned long state;
static MPI_Datatype strided;

/* Every second int. */
static void make_type(void)
{
	MPI_Datatype vector;

	MPI_Type_vector(N, 1, 2, MPI_INT, &vector);
	MPI_Type_create_resized(vector, 0, 2 * N * (MPI_Aint)sizeof(int), &strided);
	MPI_Type_commit(&strided);
	MPI_Type_free(&vector);
}

static int value(int from, int to, int kind, long round, int i)
{
	return (int)(seed_of(from, to, kind, round) % 1000000) + i;
}

static void put(int *block, int from, int to, int kind, long round)
{
	for (int i = 0; i < N; i++)
		block[2 * i] = value(from, to, kind, round, i);
}

static void expect(const int *block, int stride, int from, int to, int kind, long round)
{
	for (int i = 0; i < N; i++)
		CHECK(block[stride * i] == value(from, to, kind, round, i),
		      "kind %d, round %ld, from %d to %d, element %d: %d", kind, round, from, to, i,
		      block[stride * i]);
}

enum { BCAST, ALLGATHER, ALLTOALL, GATHER, SCATTER, KINDS };

/* Sent with gaps, received without on odd ranks. */
static void derived(long starts)
{
	const size_t bytes = (size_t)ranks * 2 * N * sizeof(int);
	const int stride = rank % 2 ? 1 : 2, count = rank % 2 ? N : 1, root = ranks - 1;
	const MPI_Datatype type = rank % 2 ? MPI_INT : strided;
	int *in[KINDS], *out[KINDS];
	MPI_Request r[KINDS];

	for (int k = 0; k < KINDS; k++) {
		in[k] = buffer(bytes);
		out[k] = buffer(bytes);
	}
	MPI_Bcast_init(in[BCAST], 1, strided, root, MPI_COMM_WORLD, NO_INFO, &r[BCAST]);
	MPI_Allgather_init(in[ALLGATHER], 1, strided, out[ALLGATHER], count, type, MPI_COMM_WORLD,
	                   NO_INFO, &r[ALLGATHER]);
	MPI_Alltoall_init(in[ALLTOALL], 1, strided, out[ALLTOALL], count, type, MPI_COMM_WORLD, NO_INFO,
	                  &r[ALLTOALL]);
	MPI_Gather_init(in[GATHER], 1, strided, out[GATHER], count, type, root, MPI_COMM_WORLD, NO_INFO,
	                &r[GATHER]);
	MPI_Scatter_init(in[SCATTER], 1, strided, out[SCATTER], count, type, root, MPI_COMM_WORLD,
	                 NO_INFO, &r[SCATTER]);
	for (long round = 0; round < starts; round++) {
		for (int k = 0; k < KINDS; k++) {
			memset(out[k], -1, bytes);
			if (k == BCAST)
				memset(in[k], -1, bytes);
			for (int to = 0; to < ranks && (k != BCAST || rank == root); to++)
				put(in[k] + 2 * N * to, rank, k == ALLTOALL || k == SCATTER ? to : 0, k, round);
		}
		for (int i = 0; i < KINDS; i++) {
			dawdle(&state);
			MPI_Start(&r[rank % 2 ? KINDS - 1 - i : i]);
		}
		MPI_Waitall(KINDS, r, MPI_STATUSES_IGNORE);
		expect(in[BCAST], 2, root, 0, BCAST, round);
		expect(out[SCATTER], stride, root, rank, SCATTER, round);
		for (int from = 0; from < ranks; from++) {
			expect(out[ALLGATHER] + stride * N * from, stride, from, 0, ALLGATHER, round);
			expect(out[ALLTOALL] + stride * N * from, stride, from, rank, ALLTOALL, round);
			if (rank == root)
				expect(out[GATHER] + stride * N * from, stride, from, 0, GATHER, round);
		}
	}
	for (int k = 0; k < KINDS; k++) {
		MPI_Request_free(&r[k]);
		release(in[k]);
		release(out[k]);
	}
}

/* Between the even ranks and the odd ones. */
static void between(long starts)
{
	MPI_Comm half, inter;
	MPI_Request r[3];
	int own, others, in[2], *all = buffer((size_t)ranks * sizeof(int)),
	                        *gathered = buffer((size_t)ranks * sizeof(int));

	if (ranks < 2)
		return;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
	MPI_Comm_rank(inter, &own);
	MPI_Comm_remote_size(inter, &others);
	const int root = rank % 2 ? 0 : own == 0 ? MPI_ROOT : MPI_PROC_NULL;

	MPI_Allgather_init(&in[0], 1, MPI_INT, all, 1, MPI_INT, inter, NO_INFO, &r[0]);
	MPI_Gather_init(&in[1], 1, MPI_INT, gathered, 1, MPI_INT, root, inter, NO_INFO, &r[1]);
	MPI_Barrier_init(inter, NO_INFO, &r[2]);
	for (long round = 0; round < starts; round++) {
		in[0] = (int)(1000 * round) + rank;
		in[1] = -in[0];
		for (int i = 0; i < 3; i++)
			MPI_Start(&r[(i + rank) % 3]);
		MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
		for (int i = 0; i < others; i++) {
			const int want = (int)(1000 * round) + 2 * i + 1 - rank % 2;

			CHECK(all[i] == want, "intercommunicator, from %d: %d, not %d", i, all[i], want);
			CHECK(root != MPI_ROOT || gathered[i] == -want, "gathered from %d: %d, not %d", i,
			      gathered[i], -want);
		}
	}
	for (int i = 0; i < 3; i++)
		MPI_Request_free(&r[i]);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
	release(all);
	release(gathered);
}

static void add_threefold(void *in, void *inout, int *count, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *count; i++)
		((int *)inout)[i] += 3 * ((int *)in)[i];
}

/* Operations and collectives that are the MPI's own in any case. */
static void own(long starts)
{
	int counts[64], places[64], all[64], in = 0, sum = 0, scanned = 0, reduced = 0;
	long double precise_in = 0, precise = 0;
	MPI_Op op;
	MPI_Request r[7];

	for (int i = 0; i < ranks; i++) {
		counts[i] = 1;
		places[i] = ranks - 1 - i;
	}
	MPI_Op_create(add_threefold, 0, &op);
	MPI_Allreduce_init(&in, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, NO_INFO, &r[0]);
	MPI_Allgatherv_init(&in, 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD, NO_INFO, &r[1]);
	MPI_Scan_init(&in, &scanned, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, NO_INFO, &r[2]);
	MPI_Reduce_init(&in, &reduced, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, NO_INFO, &r[3]);
	MPI_Allreduce_init(&precise_in, &precise, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD, NO_INFO,
	                   &r[4]);
	MPI_Bcast_init(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD, NO_INFO, &r[5]);
	MPI_Gather_init(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD, NO_INFO, &r[6]);
	/* Requests keep what they use. */
	MPI_Op_free(&op);
	CHECK(op == MPI_OP_NULL, "a freed operation is not null");
	for (long round = 0; round < starts; round++) {
		int all_sum = 0, until = 0;

		in = (int)round + rank;
		precise_in = in;
		for (int i = 0; i < ranks; i++) {
			all_sum += (int)round + i;
			if (i <= rank)
				until += (int)round + i;
		}
		for (int i = 0; i < 7; i++) {
			dawdle(&state);
			MPI_Start(&r[(i + 3 * (rank % 2)) % 7]);
		}
		MPI_Waitall(7, r, MPI_STATUSES_IGNORE);
		for (int i = 0; i < ranks; i++)
			CHECK(all[ranks - 1 - i] == (int)round + i, "Allgatherv: %d", all[ranks - 1 - i]);
		CHECK(sum >= all_sum, "operation of the program's: %d", sum);
		CHECK(scanned == until, "Scan: %d, not %d", scanned, until);
		CHECK(rank != 0 || reduced == all_sum, "Reduce: %d, not %d", reduced, all_sum);
		CHECK(precise == all_sum, "long double: %d, not %d", (int)precise, all_sum);
	}
	for (int i = 0; i < 7; i++)
		MPI_Request_free(&r[i]);
}

int main(int argc, char **argv)
{
	long starts;

	start(&argc, &argv, MPI_THREAD_SINGLE, 1);
	CHECK(ranks <= 64, "%d ranks; 64 at most", ranks);
	starts = argument(argc, argv, 1, 100);
	state = (unsigned long)rank + 1;
	make_type();
	derived(starts);
	between(starts);
	own(starts);
	MPI_Type_free(&strided);
	return finish("derived types, intercommunicators and operations of the program's, %ld starts on "
	              "%d ranks",
	              starts, ranks);
}
