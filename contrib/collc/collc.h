/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * The collective schedule compiler as a library: a rank's part of a collective
 * as the deferred works that it queues. For C (C99 and later) and C++. See
 * collc(1) for what algorithms, options and works are.
 *
 * A compiler may be used by one thread at a time. Nothing here prints or exits.
 */
#ifndef COLLC_H
#define COLLC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct collc_compiler;
struct collc_schedule;

/* NAME=VALUE, as --set */
struct collc_parameter {
  const char *name;
  int64_t value;
};

enum collc_ready {
  COLLC_READY_DEFAULT,
  COLLC_READY_EACH,
  COLLC_READY_EARLY,
  COLLC_READY_ONCE,
  COLLC_READY_NEVER
};
enum collc_scheme { COLLC_WATER_TANK, COLLC_PREMATCHED };

#define COLLC_UNORDERED (1u << 0)         /* the network keeps no order between two ranks */
#define COLLC_WAIT_FOR_DELIVERY (1u << 1) /* --end delivered */
#define COLLC_OWN_START (1u << 2)         /* --own-start */
#define COLLC_ADD_ARRIVALS (1u << 3)      /* --arrival add */
#define COLLC_SHORT_BRANCHES (1u << 4)    /* --branch short */
#define COLLC_LANDING (1u << 5)           /* --landing */

/* The caller sets size; what is 0 beyond ranks has its default. */
struct collc_request {
  size_t size; /* sizeof(struct collc_request) */
  int64_t ranks, root, bytes;
  const struct collc_parameter *parameters;
  size_t parameter_count;
  enum collc_ready ready;
  enum collc_scheme scheme;
  uint32_t flags;      /* COLLC_* above */
  uint32_t width;      /* bits of a counter; 0: 64 */
  uint64_t most_works; /* 0: no limit */
  uint64_t most_counters;
  const char *operation, *type; /* of reductions; NULL: sum of double */
};

enum collc_operation { COLLC_REMOTE_CNTR_ADD, COLLC_CNTR_ADD, COLLC_WRITE, COLLC_ATOMIC };

/* What a counter is for; path and round tell it apart from others of its kind. */
enum collc_counter_kind {
  COLLC_TANK,       /* triggers works; which of those that are used in turn, the epoch tells */
  COLLC_TRANSFERS,  /* completions of writes and atomics, which the request waits for */
  COLLC_DELIVERIES, /* the same, and triggers works */
  COLLC_ROUND_READY,
  COLLC_ROUND_DATA,
  COLLC_ROUND_SENT /* of a round of a pre-matched schedule */
};

struct collc_counter {
  enum collc_counter_kind kind;
  int64_t path, round;
};

/* Of a rank's: 0 is the input, 1 the output, 2 what is broadcast; scratch from 3 on. */
struct collc_place {
  int buffer;
  uint64_t offset;
};

struct collc_work {
  struct collc_counter trigger;
  uint64_t threshold;
  enum collc_operation operation;
  int64_t peer;   /* the rank itself for what goes to itself; -1 for COLLC_CNTR_ADD */
  uint64_t value; /* added to target, modulo 2^64; of a write: by the peer, which counts it */
  struct collc_counter target;     /* of the peer, if value is not 0 */
  struct collc_counter completion; /* of COLLC_WRITE and COLLC_ATOMIC */
  struct collc_place from, to;     /* of those two: in the rank's buffer, in the peer's */
  uint64_t length;
  uint64_t window; /* queued when the works of the window before have fired; from 0 */
  uint32_t ahead;  /* target is the tank of the epoch that is so many later */
};

struct collc_tank {
  struct collc_counter counter;
  uint64_t start; /* what Start adds to it */
  uint64_t
      full; /* its level when all has come; the last work takes it back, or else the runtime does */
  int emptied;    /* there is such a work */
  uint64_t told;  /* what of full peers tell so many epochs ahead: in the first epochs, which */
  uint32_t ahead; /* nobody has told of, Start adds it */
};

struct collc_copy {
  struct collc_place from, to;
  uint64_t length;
};

/* NAME: one of the built-in algorithms, or a file. 0, or -1 with a message for the user, which is
 * freed with collc_free_message(). */
int collc_open(const char *name, const struct collc_request *request,
               struct collc_compiler **compiler, char **message);
void collc_close(struct collc_compiler *compiler);

/* Of the algorithm: what it is, "barrier" say, and its text. Valid until collc_close(). */
const char *collc_collective(const struct collc_compiler *compiler);
const char *collc_text(const struct collc_compiler *compiler);

/* A rank's part. It lives on without the compiler. */
int collc_lower(struct collc_compiler *compiler, int64_t rank, struct collc_schedule **schedule,
                char **message);
void collc_free_schedule(struct collc_schedule *schedule);
void collc_free_message(char *message);

/* What it has; valid until it is freed. The count is returned. */
size_t collc_works(const struct collc_schedule *schedule, const struct collc_work **works);
size_t collc_tanks(const struct collc_schedule *schedule, const struct collc_tank **tanks);
size_t collc_scratch(const struct collc_schedule *schedule, const uint64_t **sizes);
/* So many tanks of each path are used in turn: epoch e, from 1 on, uses number e modulo that. With
 * COLLC_LANDING so is scratch, which then holds all that peers write, and must be there as often.
 */
uint32_t collc_turns(const struct collc_schedule *schedule);
/* An epoch is complete once the writes and atomics of the epoch so many before it have been
 * delivered, which read scratch until then; 0: once its own have. */
uint32_t collc_lag(const struct collc_schedule *schedule);
/* By the processor, when the collective starts and when it is complete. */
size_t collc_start_copies(const struct collc_schedule *schedule, const struct collc_copy **copies);
size_t collc_finish_copies(const struct collc_schedule *schedule, const struct collc_copy **copies);

#ifdef __cplusplus
}
#endif

#endif /* COLLC_H */
