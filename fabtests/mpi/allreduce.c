/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * MPI_Allreduce of known values: sums, minima and maxima, of 1 to 500,000
 * elements, blocking and not, in place and not; with MPI_Bcast and MPI_Reduce.
 *   allreduce [ROUNDS] */
#include "common.h"

/* What rank r gives for element i in a round: any rank can tell the result. */
static int64_t given(int r, int i, long round)
{
	return (int64_t)(r + 1) * 1000003 + (int64_t)i * 7 + round;
}

static int64_t sum_of(int i, long round)
{
	int64_t sum = 0;

	for (int r = 0; r < ranks; r++)
		sum += given(r, i, round);
	return sum;
}

static void expect(const int64_t *got, int i, int64_t want, const char *what)
{
	CHECK(got[i] == want, "%s: element %d is %lld, not %lld", what, i, (long long)got[i],
	      (long long)want);
}

static void reduce(int n, long round)
{
	const size_t bytes = (size_t)n * sizeof(int64_t);
	int64_t *in = buffer(bytes), *out = buffer(bytes), *least = buffer(bytes);
	const int root = (int)(round % ranks);
	MPI_Request request;

	/* Filled, so that sabotage reaches it, and checked through MPI_Bcast. */
	fill(out, bytes, seed_of(root, n, 0, round));
	if (rank != root)
		for (int i = 0; i < n; i++)
			out[i] = 0;
	MPI_Bcast(out, n, MPI_INT64_T, root, MPI_COMM_WORLD);
	verify(out, bytes, seed_of(root, n, 0, round));

	for (int i = 0; i < n; i++)
		in[i] = given(rank, i, round);
	MPI_Allreduce(in, out, n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	MPI_Iallreduce(in, least, n, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD, &request);
	for (int i = 0; i < n; i++)
		expect(out, i, sum_of(i, round), "sum");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	for (int i = 0; i < n; i++)
		expect(least, i, given(0, i, round), "minimum");

	MPI_Reduce(in, out, n, MPI_INT64_T, MPI_SUM, root, MPI_COMM_WORLD);
	if (rank == root)
		for (int i = 0; i < n; i++)
			expect(out, i, sum_of(i, round), "sum at the root");

	MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++)
		expect(in, i, given(ranks - 1, i, round), "maximum");
	release(least);
	release(out);
	release(in);
}

int main(int argc, char **argv)
{
	static const int sizes[] = {1, 2, 7, 100, 1000, 8191, 65536, 500000};
	const int count = sizeof(sizes) / sizeof(sizes[0]);
	long rounds;

	start(&argc, &argv, MPI_THREAD_SINGLE, 1);
	rounds = argument(argc, argv, 1, 10);
	for (int i = 0; i < count; i++)
		for (long round = 0; round < rounds; round++)
			reduce(sizes[i], round);
	return finish("%ld rounds of %d sizes over %d ranks", rounds, count, ranks);
}
