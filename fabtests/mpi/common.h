/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * What the MPI test programs share: data whose every byte tells whose it is,
 * buffers with guards behind them, and one way to fail.
 *
 * A program ends with exit code 0 when all that it received was right. Anything
 * else is said in one line on stderr, with MPI_Abort(1). With the variable
 * DPDKX_MPI_SABOTAGE set, one byte of each filled buffer is wrong: a program
 * that then succeeds does not verify its data. */
#ifndef DPDKX_FABTESTS_MPI_COMMON_H
#define DPDKX_FABTESTS_MPI_COMMON_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

extern int rank, ranks; /* of MPI_COMM_WORLD, set by start() */

/* MPI_Init, or MPI_Init_thread for more than MPI_THREAD_SINGLE, which must be
 * granted. Fails if there are fewer than min_ranks. */
void start(int *argc, char ***argv, int thread_level, int min_ranks);
/* Says "ok" with a description from rank 0, and finalizes. */
int finish(const char *format, ...) __attribute__((format(printf, 1, 2)));

void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
#define CHECK(condition, ...) \
	do { \
		if (!(condition)) \
			fail(__VA_ARGS__); \
	} while (0)

/* The whole argument at `index` as a number >= 0, or `fallback` if there is none. */
long argument(int argc, char **argv, int index, long fallback);

/* n bytes with a guard behind them; never NULL. release() checks the guard. */
void *buffer(size_t n);
void release(void *buffer);

/* Says which message of whom to whom the data belong to. */
uint64_t seed_of(int from, int to, int tag, long number);
void fill(void *data, size_t n, uint64_t seed);
/* Fails at the first byte that fill() would not have written. */
void verify(const void *data, size_t n, uint64_t seed);
/* A receive brought what was expected: n bytes, from, tag. */
void verify_status(const MPI_Status *status, size_t n, int from, int tag);
/* Sends n bytes to and receives n from every rank at once, itself too, and verifies. Any thread. */
void exchange_with_all(int tag, size_t n, long number);

double seconds(void);
/* Works for this long without calling MPI. */
void compute(double duration);

#endif
