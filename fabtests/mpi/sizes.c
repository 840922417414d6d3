/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Every size near where a transport may switch protocols: powers of two and
 * their neighbours, datagrams of usual MTUs, and in steps of a prime through the
 * small sizes. Both ways at once, expected and unexpected, standard and
 * synchronous, and with gaps (a vector datatype).
 *   sizes [LARGEST] */
#include "common.h"

#include <stdlib.h>

#define TAG 51

static int tested;

static void swap(int peer, size_t n, int expected, int synchronous)
{
	unsigned char *out = buffer(n), *in = buffer(n);
	MPI_Request requests[2];
	MPI_Status status;

	fill(out, n, seed_of(rank, peer, TAG, (long)n));
	if (expected) {
		MPI_Irecv(in, (int)n, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
		MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, TAG + 1, NULL, 0, MPI_BYTE, peer, TAG + 1,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	if (synchronous)
		MPI_Issend(out, (int)n, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
	else
		MPI_Isend(out, (int)n, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
	if (!expected)
		MPI_Irecv(in, (int)n, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
	MPI_Wait(&requests[0], &status);
	MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
	verify_status(&status, n, peer, TAG);
	verify(in, n, seed_of(peer, rank, TAG, (long)n));
	release(in);
	release(out);
}

/* Every second byte of the buffer is sent; those between must stay. */
static void gaps(int peer, size_t n)
{
	unsigned char *out = buffer(2 * n), *in = buffer(2 * n), *plain = buffer(n);
	MPI_Datatype every_second;

	MPI_Type_vector((int)n, 1, 2, MPI_BYTE, &every_second);
	MPI_Type_commit(&every_second);
	fill(plain, n, seed_of(rank, peer, TAG, (long)n));
	for (size_t i = 0; i < n; i++) {
		out[2 * i] = plain[i];
		out[2 * i + 1] = 0xee;
		in[2 * i + 1] = 0x77;
	}
	MPI_Sendrecv(out, 1, every_second, peer, TAG, in, 1, every_second, peer, TAG, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	for (size_t i = 0; i < n; i++) {
		CHECK(in[2 * i + 1] == 0x77, "a byte in a gap was overwritten, %zu of %zu", i, n);
		plain[i] = in[2 * i];
	}
	verify(plain, n, seed_of(peer, rank, TAG, (long)n));
	MPI_Type_free(&every_second);
	release(plain);
	release(in);
	release(out);
}

static void test(size_t n, size_t largest)
{
	if (n > largest)
		return;
	tested++;
	/* Round s: each rank with the rank whose number is its own xor s. */
	for (int s = 1; s < ranks; s++) {
		const int peer = rank ^ s;

		if (peer >= ranks)
			continue;
		for (int how = 0; how < 4; how++)
			swap(peer, n, how & 1, how >> 1);
		if (n > 0 && n <= 1 << 20)
			gaps(peer, n);
	}
}

int main(int argc, char **argv)
{
	static const size_t datagrams[] = {1372, 1400, 1432, 1452, 1460, 1472, 1500, 8872, 8952, 8972, 9000,
					   13312, 26624, 65507};
	size_t largest;

	start(&argc, &argv, MPI_THREAD_SINGLE, 2);
	largest = (size_t)argument(argc, argv, 1, 8 << 20);
	for (size_t n = 0; n < 300; n++)
		test(n, largest);
	for (size_t n = 300; n < 20000; n += 127)
		test(n, largest);
	for (size_t power = 512; power <= largest; power *= 2)
		for (size_t n = power - 65; n <= power + 65; n += power > 1 << 17 ? 65 : 13)
			test(n, largest);
	for (size_t i = 0; i < sizeof(datagrams) / sizeof(datagrams[0]); i++)
		for (size_t count = 1; count <= 4; count++)
			for (size_t d = 0; d <= 2; d++)
				test(datagrams[i] * count + d - 1, largest);
	return finish("%d sizes up to %zu bytes, %d ranks", tested, largest, ranks);
}
