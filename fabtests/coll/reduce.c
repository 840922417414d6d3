/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Persistent MPI_Allreduce: every predefined operation on the types that it is
 * for, in place and not, beside MPI's blocking one; and barriers, which let nobody
 * through before all have come.
 *   reduce [STARTS] */
#include "names.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned long state;

/* Integers, exact in every type, products of few ranks too. */
static long value(int r, int i, long round)
{
	return (r + i + round) % 3;
}

static void set(void *data, MPI_Datatype type, int i, long v)
{
	if (type == MPI_DOUBLE)
		((double *)data)[i] = (double)v;
	else if (type == MPI_FLOAT)
		((float *)data)[i] = (float)v;
	else if (type == MPI_INT64_T)
		((int64_t *)data)[i] = v;
	else if (type == MPI_INT)
		((int *)data)[i] = (int)v;
	else if (type == MPI_UINT16_T)
		((uint16_t *)data)[i] = (uint16_t)v;
	else if (type == MPI_UNSIGNED_CHAR)
		((unsigned char *)data)[i] = (unsigned char)v;
	else
		fail("a type without a case");
}

static void reduce(MPI_Op op, const char *name, MPI_Datatype type, int count, int in_place,
                   long starts)
{
	int size;
	void *in, *out, *want;
	MPI_Request request;

	MPI_Type_size(type, &size);
	const size_t bytes = (size_t)count * (size_t)size;

	in = buffer(bytes);
	out = buffer(bytes);
	want = buffer(bytes);
	MPI_Allreduce_init(in_place ? MPI_IN_PLACE : in, out, count, type, op, MPI_COMM_WORLD, NO_INFO,
	                   &request);
	for (long round = 0; round < starts; round++) {
		for (int i = 0; i < count; i++)
			set(in, type, i, value(rank, i, round));
		if (in_place)
			memcpy(out, in, bytes);
		else
			memset(out, 0x5a, bytes);
		dawdle(&state);
		MPI_Start(&request);
		dawdle(&state);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Allreduce(in, want, count, type, op, MPI_COMM_WORLD);
		CHECK(memcmp(out, want, bytes) == 0, "%s of %d elements of %d bytes, %s, start %ld: wrong",
		      name, count, size, in_place ? "in place" : "not in place", round);
	}
	MPI_Request_free(&request);
	release(want);
	release(out);
	release(in);
}

/* What all processes of this host see. */
static volatile long *shared_longs(void)
{
	char name[64];
	int fd;
	void *memory;

	snprintf(name, sizeof(name), "/dpdkx-coll-test-%ld", (long)getpid());
	MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
	fd = shm_open(name, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && ftruncate(fd, (off_t)(64 * (size_t)ranks)) == 0, "shm_open %s", name);
	memory = mmap(NULL, 64 * (size_t)ranks, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(memory != MAP_FAILED, "mmap");
	close(fd);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		shm_unlink(name);
	return memory;
}

static void barriers(long starts)
{
	volatile long *came = shared_longs();
	MPI_Request request;

	MPI_Barrier_init(MPI_COMM_WORLD, NO_INFO, &request);
	for (long round = 1; round <= starts; round++) {
		dawdle(&state);
		__atomic_store_n(&came[8 * rank], round, __ATOMIC_SEQ_CST);
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		for (int r = 0; r < ranks; r++)
			CHECK(__atomic_load_n(&came[8 * r], __ATOMIC_SEQ_CST) >= round,
			      "barrier %ld let this rank through before rank %d had come", round, r);
	}
	MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
	static const int counts[] = {1, 3, 1000, 9000};
	const struct {
		MPI_Op op;
		const char *name;
		int integers_only;
	} ops[] = {{MPI_SUM, "sum", 0}, {MPI_PROD, "prod", 0}, {MPI_MIN, "min", 0},
	           {MPI_MAX, "max", 0}, {MPI_LAND, "land", 1}, {MPI_LOR, "lor", 1},
	           {MPI_LXOR, "lxor", 1}, {MPI_BAND, "band", 1}, {MPI_BOR, "bor", 1},
	           {MPI_BXOR, "bxor", 1}};
	const MPI_Datatype types[] = {MPI_INT,   MPI_INT64_T,  MPI_UINT16_T, MPI_UNSIGNED_CHAR,
	                              MPI_FLOAT, MPI_DOUBLE};
	long starts, cases = 0;

	start(&argc, &argv, MPI_THREAD_SINGLE, 1);
	starts = argument(argc, argv, 1, 100);
	state = (unsigned long)rank + 1;
	barriers(10 * starts);
	for (int o = 0; o < 10; o++)
		for (int t = 0; t < (ops[o].integers_only ? 4 : 6); t++, cases++)
			reduce(ops[o].op, ops[o].name, types[t], counts[cases % 4], (int)(cases / 4 % 2),
			       cases % 5 ? (starts + 9) / 10 : starts);
	return finish("%ld reductions and a barrier on %d ranks, started up to %ld times", cases, ranks,
	              starts);
}
