/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * The runtime's interface as a C program uses it.
 */
#include "functional/persistent_c.h"

#include "collc/collc.h"

#include <stdlib.h>
#include <string.h>

static const char *run(struct collc_rt_request *request, int64_t ranks, int64_t rank, int64_t *mine,
                       const int64_t *all, int times) {
  for (int i = 0; i < times; ++i) {
    int done = 0;
    *mine = 1000 * i + rank;
    if (collc_rt_start(request) != 0)
      return collc_rt_error();
    while (!done)
      if (collc_rt_test(request, &done) != 0)
        return collc_rt_error();
    for (int64_t r = 0; r < ranks; ++r)
      if (all[r] != 1000 * i + r)
        return "a block is wrong";
  }
  return NULL;
}

static const char *allgather(struct collc_rt_group *group, int64_t ranks, int64_t rank,
                             int64_t *all, int times) {
  struct collc_rt_request *request;
  struct collc_rt_collective what;
  const char *wrong;
  int64_t mine = 0;

  memset(&what, 0, sizeof what);
  what.size = sizeof what;
  what.kind = COLLC_RT_ALLGATHER;
  what.bytes = sizeof mine;
  what.in = &mine;
  what.out = all;
  what.ready = COLLC_READY_EARLY;
  if (collc_rt_init(group, &what, &request) != 0)
    return collc_rt_error();
  wrong = run(request, ranks, rank, &mine, all, times);
  return collc_rt_free(request) != 0 ? collc_rt_error() : wrong;
}

const char *c_allgather(int64_t ranks, int64_t rank, const struct collc_rt_exchange *exchange,
                        const struct collc_rt_settings *settings, int times) {
  struct collc_rt_group *group;
  const char *wrong;
  int64_t *all;

  if (collc_rt_group_create(ranks, rank, exchange, settings, &group) != 0)
    return collc_rt_error();
  all = calloc((size_t)ranks, sizeof *all);
  wrong = all != NULL ? allgather(group, ranks, rank, all, times) : "no memory";
  free(all);
  return collc_rt_group_destroy(group, 0) != 0 ? collc_rt_error() : wrong;
}
