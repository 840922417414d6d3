/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "common.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int rank = -1, ranks;

static int sabotage;

void fail(const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "rank %d: %s\n", rank, text);
	fflush(stderr);
	MPI_Abort(MPI_COMM_WORLD, 1);
	abort();
}

void start(int *argc, char ***argv, int thread_level, int min_ranks)
{
	int granted;

	MPI_Init_thread(argc, argv, thread_level, &granted);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	sabotage = getenv("DPDKX_MPI_SABOTAGE") != NULL;
	CHECK(granted >= thread_level, "thread level %d asked, %d granted", thread_level, granted);
	CHECK(ranks >= min_ranks, "%d ranks; this program needs at least %d", ranks, min_ranks);
}

int finish(const char *format, ...)
{
	va_list args;

	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		printf("ok: ");
		va_start(args, format);
		vprintf(format, args);
		va_end(args);
		printf("\n");
		fflush(stdout);
	}
	MPI_Finalize();
	return 0;
}

long argument(int argc, char **argv, int index, long fallback)
{
	char *end;
	long value;

	if (index >= argc)
		return fallback;
	errno = 0;
	value = strtol(argv[index], &end, 10);
	CHECK(end != argv[index] && *end == '\0' && errno == 0 && value >= 0,
	      "argument %d is '%s'; a number >= 0 is wanted", index, argv[index]);
	return value;
}

/* Before the data of a buffer: its size. Behind them: the guard. */
struct header {
	_Alignas(64) size_t size;
};

#define GUARD 64
#define GUARD_BYTE 0xa5

void *buffer(size_t n)
{
	struct header *header = malloc(sizeof(*header) + n + GUARD);

	CHECK(header, "no memory for a buffer of %zu bytes", n);
	header->size = n;
	memset((char *)(header + 1) + n, GUARD_BYTE, GUARD);
	return header + 1;
}

void release(void *data)
{
	struct header *header = (struct header *)data - 1;
	const unsigned char *guard = (unsigned char *)data + header->size;

	for (int i = 0; i < GUARD; i++)
		CHECK(guard[i] == GUARD_BYTE, "byte %d behind a buffer of %zu bytes was overwritten", i,
		      header->size);
	free(header);
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15u;
	x ^= x >> 29;
	return x;
}

uint64_t seed_of(int from, int to, int tag, long number)
{
	return mix(mix(mix(mix((uint64_t)from + 1) + (uint64_t)to) + (uint64_t)tag) + (uint64_t)number);
}

static uint64_t word(uint64_t seed, size_t index)
{
	return mix(seed + index);
}

void fill(void *data, size_t n, uint64_t seed)
{
	unsigned char *out = data;

	for (size_t at = 0; at < n; at += sizeof(uint64_t)) {
		const uint64_t w = word(seed, at / sizeof(w));
		const size_t len = n - at < sizeof(w) ? n - at : sizeof(w);

		memcpy(out + at, &w, len);
	}
	if (sabotage && n > 0)
		out[n / 2] ^= 1;
}

void verify(const void *data, size_t n, uint64_t seed)
{
	const unsigned char *in = data;

	for (size_t at = 0; at < n; at += sizeof(uint64_t)) {
		const uint64_t w = word(seed, at / sizeof(w));
		const size_t len = n - at < sizeof(w) ? n - at : sizeof(w);

		if (memcmp(in + at, &w, len) == 0)
			continue;
		for (size_t i = 0; i < len; i++) {
			const unsigned char want = ((const unsigned char *)&w)[i];

			CHECK(in[at + i] == want, "byte %zu of a message of %zu is 0x%02x, not 0x%02x", at + i, n,
			      in[at + i], want);
		}
	}
}

void verify_status(const MPI_Status *status, size_t n, int from, int tag)
{
	int count;

	MPI_Get_count(status, MPI_BYTE, &count);
	CHECK(count >= 0 && (size_t)count == n, "a message of %d bytes came, not of %zu", count, n);
	CHECK(status->MPI_SOURCE == from, "a message came from rank %d, not %d", status->MPI_SOURCE,
	      from);
	CHECK(status->MPI_TAG == tag, "a message came with tag %d, not %d", status->MPI_TAG, tag);
}

double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void compute(double duration)
{
	const double end = seconds() + duration;
	volatile uint64_t x = 1;

	while (seconds() < end)
		for (int i = 0; i < 10000; i++)
			x = mix(x);
}

void exchange_with_all(int tag, size_t n, long number)
{
	unsigned char *out[ranks], *in[ranks];
	MPI_Request requests[2 * ranks];
	MPI_Status statuses[2 * ranks];

	for (int r = 0; r < ranks; r++) {
		out[r] = buffer(n);
		in[r] = buffer(n);
		fill(out[r], n, seed_of(rank, r, tag, number));
		MPI_Irecv(in[r], (int)n, MPI_BYTE, r, tag, MPI_COMM_WORLD, &requests[r]);
	}
	for (int r = 0; r < ranks; r++)
		MPI_Isend(out[r], (int)n, MPI_BYTE, r, tag, MPI_COMM_WORLD, &requests[ranks + r]);
	MPI_Waitall(2 * ranks, requests, statuses);
	for (int r = 0; r < ranks; r++) {
		verify_status(&statuses[r], n, r, tag);
		verify(in[r], n, seed_of(r, rank, tag, number));
		release(in[r]);
		release(out[r]);
	}
}
