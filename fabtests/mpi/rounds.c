/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Goes on for as long as whoever started it wants, so that things can be done
 * meanwhile to what carries the messages. For each line of rank 0's standard
 * input, messages of all sizes go from everybody to everybody, MESSAGES times,
 * and rank 0 answers with a line; "stop", or the end of the input, ends it.
 *   rounds [MESSAGES] */
#include "common.h"

#include <stdio.h>
#include <string.h>

#define TAG 71

static const size_t sizes[] = {0, 8, 1500, 12000, 100000, 1 << 20};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

static int told_to_go_on(void)
{
	char line[64];
	int go_on = 0;

	if (rank == 0)
		go_on = fgets(line, sizeof(line), stdin) != NULL && strcmp(line, "stop\n") != 0;
	MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return go_on;
}

int main(int argc, char **argv)
{
	long messages, number = 0, rounds = 0;

	start(&argc, &argv, MPI_THREAD_SINGLE, 2);
	messages = argument(argc, argv, 1, 10);
	while (told_to_go_on()) {
		for (long i = 0; i < messages; i++)
			for (int size = 0; size < SIZES; size++)
				exchange_with_all(TAG, sizes[size], number++);
		MPI_Barrier(MPI_COMM_WORLD);
		rounds++;
		if (rank == 0) {
			printf("round %ld\n", rounds);
			fflush(stdout);
		}
	}
	return finish("%ld rounds of %d sizes, %ld messages each, over %d ranks", rounds, SIZES,
		      messages, ranks);
}
