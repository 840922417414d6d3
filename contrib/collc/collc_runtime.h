/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Persistent collectives over libfabric: schedules of the compiler (collc.h),
 * run as deferred work or by calls that make progress. For C (C99 and later)
 * and C++. See collc_runtime(3).
 *
 * A group is the ranks that collectives run among, a communicator say; it has
 * fabric, domain, endpoint and addresses of its own. A request is one
 * collective with its buffers, which is started any number of times.
 *
 * Calls return 0 or a negative FI_E* (rdma/fi_errno.h); collc_rt_error() then
 * has a line for the user. Nothing here prints or exits.
 *
 * Threads: every call may be made by any thread at any time, several at once,
 * also on one group; init of one group, by one thread at a time, as all ranks
 * must come to them in the same order. What has been freed or destroyed is not
 * to be used by any.
 *
 * Progress: collc_rt_test, _wait and _progress drive all groups of the process.
 */
#ifndef COLLC_RUNTIME_H
#define COLLC_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fi_info;
struct collc_parameter; /* collc.h */

struct collc_rt_group;
struct collc_rt_request;

/* Out of band: each rank gives `bytes` bytes, all get those of all in the order of ranks, in `all`.
 * 0, or a negative FI_E*, which the caller of create or init then gets. Called by create and init
 * alone, with no lock held, several times in each, as often on all ranks. While it waits, a thread
 * of the runtime drives what is active. */
struct collc_rt_exchange {
  int (*allgather)(void *context, const void *mine, size_t bytes, void *all);
  void *context;
};

/* Who advances schedules. */
enum collc_rt_mode {
  COLLC_RT_AUTO,    /* offload if all ranks can, else function */
  COLLC_RT_OFFLOAD, /* deferred work; needs it, and FI_DPDKX_OPS_CNTR, of the provider */
  COLLC_RT_FUNCTION /* calls that make progress; needs reliable datagrams with messages */
};

/* The caller sets size; what is 0 or NULL has its default. Must be alike on all ranks but for
 * info and node. Copied. */
struct collc_rt_settings {
  size_t size; /* sizeof(struct collc_rt_settings) */
  enum collc_rt_mode mode;
  const struct fi_info *info; /* what to open; NULL: what fi_getinfo answers to the next two */
  const char *provider;       /* as in fi_info's prov_name; NULL: any that serves */
  const char *node;           /* the local address; NULL: the provider's choice */
  int automatic;       /* nonzero: FI_PROGRESS_AUTO, operations go on while nobody calls; else the
                          provider's default */
  uint32_t probe_ms;   /* a request that has waited so long asks whether its peers live, and again
                          each time so much has passed; 0: 1000 */
  uint32_t silence_ms; /* so long may a peer that was reached before be out of reach; 0: 30000 */
  uint32_t leave_ms;   /* so long does destroy wait for the others; 0: 10000 */
  uint64_t most_works; /* deferred works of a request at one time; 0: what the provider has */
};

/* Collective. settings may be NULL. If it fails on one rank it fails on all, each of which is told
 * why; *group is then NULL. */
int collc_rt_group_create(int64_t ranks, int64_t rank, const struct collc_rt_exchange *exchange,
                          const struct collc_rt_settings *settings, struct collc_rt_group **group);

#define COLLC_RT_ALONE (1u << 0) /* waits for nobody */

/* Collective: waits until all ranks are here (leave_ms at most), as what has been completed here
 * may still need this process elsewhere; a group that has failed, or with COLLC_RT_ALONE, waits for
 * nobody. -FI_EBUSY: there are requests, nothing is done. Else the group is gone, whatever is
 * returned: -FI_ETIMEDOUT if not all came. */
int collc_rt_group_destroy(struct collc_rt_group *group, unsigned flags);

enum collc_rt_kind {
  COLLC_RT_BARRIER,
  COLLC_RT_BROADCAST,
  COLLC_RT_ALLGATHER,
  COLLC_RT_ALLTOALL,
  COLLC_RT_GATHER,
  COLLC_RT_SCATTER,
  COLLC_RT_REDUCE,
  COLLC_RT_ALLREDUCE
};

/* What a collective does. The caller sets size; what is 0 or NULL has its default.
 *
 *            in                         out
 * broadcast  -                          bytes, everywhere: the root's go to all
 * allgather  bytes                      ranks * bytes
 * alltoall   ranks * bytes              ranks * bytes
 * gather     bytes                      ranks * bytes, at the root
 * scatter    ranks * bytes, at the root bytes
 * reduce     bytes                      bytes, at the root
 * allreduce  bytes                      bytes
 *
 * in and out may overlap, as in MPI_IN_PLACE: in is then copied at each start, but for the own
 * block of gather, allgather and scatter where it stands in its place. Buffers that the rank
 * doesn't need may be NULL. */
struct collc_rt_collective {
  size_t size; /* sizeof(struct collc_rt_collective) */
  enum collc_rt_kind kind;
  uint64_t bytes; /* of a block; 0 of barriers */
  int64_t root;
  const void *in;
  void *out;
  const char *operation, *type;             /* of reductions, as in collc(1); NULL: sum, double */
  const char *algorithm;                    /* as in collc(1), or a file; NULL: chosen */
  const struct collc_parameter *parameters; /* of the algorithm */
  size_t parameter_count;
  int ready;      /* enum collc_ready */
  uint32_t flags; /* COLLC_RT_* below */
};

/* Data go straight to where they belong, once all ranks that write there know that this one has
 * started. Else small ones land in memory of the runtime's own, and are copied from there when the
 * collective is complete: see collc_runtime(3). */
#define COLLC_RT_DIRECT (1u << 1)

/* Refused with -FI_ENOSYS: tanks shared with other requests, as
 * mpi_assert_strict_persistent_collective_ordering would allow. Each request has its own. */
#define COLLC_RT_STRICT_ORDER (1u << 0)

/* Collective, and in the same order on all ranks. Registers the buffers and compiles the schedule;
 * their contents may change until start. If it fails on one rank it fails on all, each of which is
 * told why (another rank's error: -FI_ECONNABORTED; parameters or texts of algorithms that differ:
 * -FI_EINVAL); the group serves on. */
int collc_rt_init(struct collc_rt_group *group, const struct collc_rt_collective *collective,
                  struct collc_rt_request **request);

/* Begins an epoch; local, doesn't block, allocates nothing. Ranks may start their requests in any
 * order. -FI_EBUSY: it is active. */
int collc_rt_start(struct collc_rt_request *request);

/* *done is nonzero if the request is not active: its epoch is complete, out can be read, in
 * changed; or it has not been started. Doesn't block. An error is returned once the request has
 * failed, and ends the epoch: the group has failed then. */
int collc_rt_test(struct collc_rt_request *request, int *done);

/* The same, and waits for it: timeout_ms at most, below 0 without limit. -FI_ETIMEDOUT: it is still
 * active. A peer that has died ends it in any case. */
int collc_rt_wait(struct collc_rt_request *request, int timeout_ms);

/* Local. -FI_EBUSY: it is active (that of a group that has failed is not). */
int collc_rt_free(struct collc_rt_request *request);

/* Drives that group; all of the process, if NULL. 0, or the group's error. */
int collc_rt_progress(struct collc_rt_group *group);

/* The text of what the last call that failed in this thread has returned; "" if none has. Valid
 * until the thread's next call. */
const char *collc_rt_error(void);

/* The caller sets size; what lies within it is filled in. */
struct collc_rt_group_info {
  size_t size; /* sizeof(struct collc_rt_group_info) */
  int64_t ranks, rank;
  enum collc_rt_mode mode; /* which was chosen: COLLC_RT_OFFLOAD or COLLC_RT_FUNCTION */
  int error;               /* 0, or the negative FI_E* that all calls of a failed group return */
  uint64_t requests, active;
  char provider[64];
};
int collc_rt_group_query(struct collc_rt_group *group, struct collc_rt_group_info *info);

struct collc_rt_request_info {
  size_t size; /* sizeof(struct collc_rt_request_info) */
  int active;
  uint64_t starts, works, counters; /* works of an epoch; counters of this rank */
  char algorithm[64];               /* its name, or the end of its file's */
};
int collc_rt_request_query(struct collc_rt_request *request, struct collc_rt_request_info *info);

#ifdef __cplusplus
}
#endif

#endif /* COLLC_RUNTIME_H */
