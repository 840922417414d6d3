/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * What of the test is in C.
 */
#ifndef PERSISTENT_C_H
#define PERSISTENT_C_H

#include "collc/collc_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All-gathers each rank's number `times` times in a group of its own; NULL, or what has gone wrong,
 * of this thread. */
const char *c_allgather(int64_t ranks, int64_t rank, const struct collc_rt_exchange *exchange,
                        const struct collc_rt_settings *settings, int times);

#ifdef __cplusplus
}
#endif

#endif
