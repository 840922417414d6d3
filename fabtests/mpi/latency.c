/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * One-way latency between ranks 0 and 1: half a round trip, the median of
 * SAMPLES samples, each the mean of a number of round trips that takes about
 * 10 ms. One line a size: bytes, microseconds. The data are verified before and
 * after the timed part.
 *   latency [SAMPLES [SIZE...]] */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>

#define TAG 71
#define SAMPLE_SECONDS 0.01

static void verified_round_trip(unsigned char *out, unsigned char *in, int n, long number)
{
	const int peer = 1 - rank;

	fill(out, (size_t)n, seed_of(rank, peer, TAG, number));
	for (int turn = 0; turn < 2; turn++) {
		if (turn == rank)
			MPI_Send(out, n, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
		else
			MPI_Recv(in, n, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	verify(in, (size_t)n, seed_of(peer, rank, TAG, number));
}

/* Seconds one way. */
static double sample(unsigned char *out, unsigned char *in, int n, long trips)
{
	const double begin = seconds();

	for (long i = 0; i < trips; i++) {
		if (rank == 0) {
			MPI_Send(out, n, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
			MPI_Recv(in, n, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(in, n, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(out, n, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
		}
	}
	return (seconds() - begin) / (double)trips / 2;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Round trips for the next sample, after one that took `latency` one way: rank 0
 * decides. Anew each time, so that one slow moment of the machine costs one
 * sample. */
static long trips_for(double latency)
{
	long trips = (long)(SAMPLE_SECONDS / (2 * latency));

	trips = trips < 2 ? 2 : trips;
	MPI_Bcast(&trips, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	return trips;
}

static double median(int n, long samples)
{
	unsigned char *out = buffer((size_t)n), *in = buffer((size_t)n);
	double *values = calloc((size_t)samples, sizeof(*values)), result;

	CHECK(values, "no memory for %ld samples", samples);
	verified_round_trip(out, in, n, 0);
	result = sample(out, in, n, 10);
	result = sample(out, in, n, trips_for(result));
	for (long i = 0; i < samples; i++)
		values[i] = result = sample(out, in, n, trips_for(result));
	verified_round_trip(out, in, n, 1);

	qsort(values, (size_t)samples, sizeof(*values), ascending);
	result = values[samples / 2];
	free(values);
	release(in);
	release(out);
	return result;
}

int main(int argc, char **argv)
{
	static const int usual[] = {8, 1024, 2048, 16384, 65536, 1 << 20};
	const int count = argc > 2 ? argc - 2 : (int)(sizeof(usual) / sizeof(usual[0]));
	long samples;

	start(&argc, &argv, MPI_THREAD_SINGLE, 2);
	CHECK(ranks == 2, "%d ranks; latency is measured between 2", ranks);
	samples = argument(argc, argv, 1, 9);
	CHECK(samples > 0, "0 samples; at least 1 is needed");
	for (int i = 0; i < count; i++) {
		const int n = argc > 2 ? (int)argument(argc, argv, 2 + i, 0) : usual[i];
		const double latency = median(n, samples);

		if (rank == 0)
			printf("%d %.3f\n", n, 1e6 * latency);
	}
	return finish("latency at %d sizes", count);
}
