/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * How much of a collective's time is hidden behind work, in one way of calling it;
 * the processor time that it takes; and whether it is over before it is waited for.
 *
 * Work is a number of turns, never a time: a collective that takes the processor
 * from the work makes the work take longer, which then counts. All ranks do the
 * same. They begin each epoch at one time of the clock, as they are on one machine.
 *
 * Rank 0 prints a JSON object a figure and round; fabtests/bench/overlap runs this. */
#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum collective { BARRIER, BCAST, ALLGATHER, COLLECTIVES };
enum way { BLOCKING, NONBLOCKING, PERSISTENT };

static const char *const names[COLLECTIVES] = {"barrier", "bcast", "allgather"};

enum { MOST_EPOCHS = 1000, LONG_EPOCHS = 5 };

static struct {
	const char *label;
	enum way way;
	int looks;    /* MPI_Test tells without advancing anything */
	int tolerant; /* wrong data is counted, not the end */
	int rounds;
	double batch; /* seconds */
} setup;

/* One collective with its buffers. */
static struct {
	enum collective what;
	size_t size;
	char *in, *out;
	MPI_Request request;
	uint64_t epoch;
	long wrong;
} subject;

static double turns_per_second;
static double notice; /* seconds in which all ranks learn when to begin */

static double least(double a, double b) { return a < b ? a : b; }
static double greatest(double a, double b) { return a > b ? a : b; }

static double processor_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* of all threads, as getrusage has, but finer */
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work(uint64_t turns)
{
	static volatile uint64_t result;
	uint64_t x = result | 1;

	for (uint64_t i = 0; i < turns; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	result = x;
}

/* The quickest of many: what nobody disturbed. */
static void calibrate(void)
{
	enum { TURNS = 20000 };
	double best = 0;

	for (int i = 0; i < 50; i++) {
		const double begin = seconds();

		work(TURNS);
		best = greatest(best, TURNS / (seconds() - begin));
	}
	MPI_Bcast(&best, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	turns_per_second = best;
}

/* Returns on all ranks at the same time. A barrier would not do: where messages take long, some
 * leave it later by as much. */
static void meet(void)
{
	const double mine = seconds() + notice;
	double begin;

	MPI_Allreduce(&mine, &begin, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	while (seconds() < begin)
		continue;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void choose_notice(void)
{
	enum { TIMES = 31 };
	double took[TIMES], mine;

	for (int i = 0; i < TIMES; i++) {
		const double from = seconds();

		meet();
		took[i] = seconds() - from;
	}
	qsort(took, TIMES, sizeof(took[0]), compare);
	mine = 1.5 * took[TIMES / 2];
	MPI_Allreduce(&mine, &notice, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

/* ---- the collective ---- */

static int block_of(int r, char **block)
{
	if (subject.what == BARRIER || (subject.what == BCAST && r != 0))
		return 0;
	*block = subject.out + (subject.what == ALLGATHER ? (size_t)r * subject.size : 0);
	return 1;
}

static uint64_t stamp_of(int r) { return subject.epoch << 8 | (uint64_t)r; }

/* First and last bytes of a block say whose it is, and of which epoch. */
static void stamp(char *block, int r)
{
	const uint64_t value = stamp_of(r);

	memcpy(block, &value, sizeof(value));
	memcpy(block + subject.size - sizeof(value), &value, sizeof(value));
}

static void next_epoch(void)
{
	char *block = NULL;

	subject.epoch++;
	if (subject.what == ALLGATHER)
		stamp(subject.in, rank);
	else if (rank == 0 && block_of(0, &block))
		stamp(block, 0);
}

/* Whether all that others send is here: a look at memory alone. */
static int has_come(void)
{
	char *block = NULL;

	for (int r = 0; r < ranks; r++) {
		if (r == rank || !block_of(r, &block))
			continue;
		for (size_t at = 0;; at = subject.size - sizeof(uint64_t)) {
			uint64_t value;

			memcpy(&value, block + at, sizeof(value));
			if (value != stamp_of(r))
				return 0;
			if (at == subject.size - sizeof(uint64_t))
				break;
		}
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return 1;
}

static void check_data(void)
{
	if (has_come())
		return;
	subject.wrong++;
	CHECK(setup.tolerant, "%s, %s of %zu bytes: what came in epoch %llu is wrong", setup.label,
	      names[subject.what], subject.size, (unsigned long long)subject.epoch);
}

static void init_persistent(void)
{
	const int n = (int)subject.size;

	switch (subject.what) {
	case BARRIER:
		MPI_Barrier_init(MPI_COMM_WORLD, NO_INFO, &subject.request);
		break;
	case BCAST:
		MPI_Bcast_init(subject.out, n, MPI_BYTE, 0, MPI_COMM_WORLD, NO_INFO, &subject.request);
		break;
	default:
		MPI_Allgather_init(subject.in, n, MPI_BYTE, subject.out, n, MPI_BYTE, MPI_COMM_WORLD, NO_INFO,
		                   &subject.request);
	}
}

static void begin_nonblocking(void)
{
	const int n = (int)subject.size;

	switch (subject.what) {
	case BARRIER:
		MPI_Ibarrier(MPI_COMM_WORLD, &subject.request);
		break;
	case BCAST:
		MPI_Ibcast(subject.out, n, MPI_BYTE, 0, MPI_COMM_WORLD, &subject.request);
		break;
	default:
		MPI_Iallgather(subject.in, n, MPI_BYTE, subject.out, n, MPI_BYTE, MPI_COMM_WORLD,
		               &subject.request);
	}
}

static void call_blocking(void)
{
	const int n = (int)subject.size;

	switch (subject.what) {
	case BARRIER:
		MPI_Barrier(MPI_COMM_WORLD);
		break;
	case BCAST:
		MPI_Bcast(subject.out, n, MPI_BYTE, 0, MPI_COMM_WORLD);
		break;
	default:
		MPI_Allgather(subject.in, n, MPI_BYTE, subject.out, n, MPI_BYTE, MPI_COMM_WORLD);
	}
}

static void begin(void)
{
	if (setup.way == PERSISTENT)
		MPI_Start(&subject.request);
	else if (setup.way == NONBLOCKING)
		begin_nonblocking();
	else
		call_blocking();
}

static void end(void)
{
	if (setup.way != BLOCKING)
		MPI_Wait(&subject.request, MPI_STATUS_IGNORE);
}

/* ---- batches of epochs ---- */

struct batch {
	int epochs;
	int communicates;
	uint64_t turns; /* of work; 0: none */
};

struct outcome {
	double time;      /* seconds of an epoch, of the slowest rank in each */
	double processor; /* seconds of an epoch and of meeting before it, of a rank on average */
	double ready;     /* share of epochs whose data were everywhere after the work */
};

static struct outcome run_batch(struct batch b)
{
	static double times[MOST_EPOCHS], slowest[MOST_EPOCHS];
	static int ready[MOST_EPOCHS], everywhere[MOST_EPOCHS];
	struct outcome o = {0, 0, 0};
	double used = processor_time(), all;

	for (int i = 0; i < b.epochs; i++) {
		if (b.communicates)
			next_epoch();
		meet();
		const double from = seconds();

		if (b.communicates)
			begin();
		work(b.turns);
		if (b.communicates) {
			ready[i] = has_come();
			end();
		}
		times[i] = seconds() - from;
		if (b.communicates)
			check_data();
	}
	used = processor_time() - used;
	MPI_Reduce(&used, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Reduce(times, slowest, b.epochs, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Reduce(ready, everywhere, b.epochs, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
	for (int i = 0; i < b.epochs; i++) {
		o.time += slowest[i] / b.epochs;
		o.ready += (double)everywhere[i] / b.epochs;
	}
	o.processor = all / ranks / b.epochs;
	return o;
}

static void print(const char *what, const char *unit, double value)
{
	if (rank == 0)
		printf("{\"collective\": \"%s\", \"size\": %zu, \"way\": \"%s\", \"what\": \"%s\", "
		       "\"unit\": \"%s\", \"value\": %.9g}\n",
		       names[subject.what], subject.size, setup.label, what, unit, value);
}

/* Whether an epoch that is given much more time than it needs is over at its end, though
 * nobody has called anything since its start. Where to test is to advance, memory alone tells. */
static void look_after_long_work(uint64_t turns)
{
	int over = 0, everywhere;

	for (int i = 0; i < LONG_EPOCHS; i++) {
		int mine, flag = 0;

		next_epoch();
		meet();
		begin();
		work(turns);
		mine = has_come();
		if (setup.looks) {
			MPI_Test(&subject.request, &flag, MPI_STATUS_IGNORE);
			mine = mine && flag;
		}
		if (!flag)
			end();
		check_data();
		MPI_Allreduce(&mine, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
		over += everywhere;
	}
	if (subject.what != BARRIER || setup.looks)
		print("over", "share", (double)over / LONG_EPOCHS);
}

/* The time of a processor for one copy of what a rank has in the end: no way needs less. */
static double copies(void)
{
	const int blocks = subject.what == BARRIER ? 0 : subject.what == BCAST ? 1 : ranks;
	const int times = subject.size > 65536 ? 5 : 50;
	char *from = buffer(subject.size ? subject.size : 1), *to = buffer(subject.size ? subject.size : 1);
	double used;

	memset(from, 1, subject.size);
	memset(to, 2, subject.size);
	used = processor_time();
	for (int i = 0; i < times * blocks; i++) {
		memcpy(to, from, subject.size);
		__asm__ volatile("" : : "r"(to) : "memory");
	}
	used = processor_time() - used;
	release(from);
	release(to);
	return used / times;
}

static void run_round(int epochs, uint64_t turns)
{
	const struct outcome nothing = run_batch((struct batch){epochs, 0, 0});
	const struct outcome alone = run_batch((struct batch){epochs, 1, 0});

	print("alone", "us", 1e6 * alone.time);
	print("processor", "us", 1e6 * (alone.processor - nothing.processor));
	if (setup.way == BLOCKING)
		return;
	const struct outcome worked = run_batch((struct batch){epochs, 0, turns});
	const struct outcome together = run_batch((struct batch){epochs, 1, turns});
	const double most = least(alone.time, worked.time);
	const double hidden = (alone.time + worked.time - together.time) / most;

	print("work", "us", 1e6 * worked.time);
	print("together", "us", 1e6 * together.time);
	print("hidden", "share", least(1, greatest(0, hidden)));
	print("processor_together", "us", 1e6 * (together.processor - worked.processor));
	if (subject.what != BARRIER)
		print("ready", "share", together.ready);
}

/* The least of some batches: once the work is chosen by it, it only says how much that is. */
static double time_of_an_epoch(void)
{
	double time = run_batch((struct batch){5, 1, 0}).time;

	for (int i = 0; i < 4; i++)
		time = least(time, run_batch((struct batch){5, 1, 0}).time);
	return time;
}

static void measure(enum collective what, size_t size)
{
	double time;

	subject.what = what;
	subject.size = size;
	subject.in = buffer(size ? size : 1);
	subject.out = buffer(size ? size * (size_t)ranks : 1);
	subject.request = MPI_REQUEST_NULL;
	subject.wrong = 0;
	if (setup.way == PERSISTENT)
		init_persistent();
	run_batch((struct batch){5, 1, 0}); /* whatever the first ones do besides */
	time = time_of_an_epoch();
	MPI_Bcast(&time, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);

	const int epochs = (int)least(MOST_EPOCHS, greatest(3, setup.batch / time));
	const uint64_t turns = (uint64_t)(time * turns_per_second) + 1;
	const double copying = copies();

	if (subject.what != BARRIER)
		print("copies", "us", 1e6 * copying);
	for (int i = 0; i < setup.rounds; i++)
		run_round(epochs, turns);
	if (setup.way != BLOCKING)
		look_after_long_work((uint64_t)(greatest(5e-3, 4 * time) * turns_per_second));
	if (setup.tolerant)
		print("wrong", "epochs", (double)subject.wrong);
	if (subject.request != MPI_REQUEST_NULL)
		MPI_Request_free(&subject.request);
	release(subject.in);
	release(subject.out);
}

static void read_way(const char *label)
{
	static const struct {
		const char *label;
		enum way way;
		int looks, tolerant;
	} all[] = {
		{"blocking", BLOCKING, 0, 0},     {"non-blocking", NONBLOCKING, 0, 0},
		{"persistent", PERSISTENT, 0, 1}, {"function", PERSISTENT, 0, 0},
		{"offload", PERSISTENT, 1, 0},    {"offload-manual", PERSISTENT, 0, 0},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(all[i].label, label) == 0) {
			setup.label = all[i].label;
			setup.way = all[i].way;
			setup.looks = all[i].looks;
			setup.tolerant = all[i].tolerant;
			return;
		}
	fail("way '%s'; blocking, non-blocking, persistent, function, offload or offload-manual is wanted", label);
}

/* WAY ROUNDS MICROSECONDS-OF-A-BATCH SIZE... */
int main(int argc, char **argv)
{
	start(&argc, &argv, MPI_THREAD_SINGLE, 2);
	CHECK(argc > 3, "usage: overlap WAY ROUNDS MICROSECONDS SIZE...");
	read_way(argv[1]);
	setup.rounds = (int)argument(argc, argv, 2, 3);
	setup.batch = 1e-6 * (double)argument(argc, argv, 3, 5000);
	calibrate();
	choose_notice();
	measure(BARRIER, 0);
	for (int i = 4; i < argc; i++) {
		const long size = argument(argc, argv, i, 8);

		CHECK(size >= (long)sizeof(uint64_t) && size <= 1l << 28,
		      "size '%s'; 8 to 268435456 is wanted", argv[i]);
		measure(BCAST, (size_t)size);
		measure(ALLGATHER, (size_t)size);
	}
	return finish("%s", setup.label);
}
