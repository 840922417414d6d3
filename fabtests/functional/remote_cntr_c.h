/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * What of the test is in C.
 */
#ifndef REMOTE_CNTR_C_H
#define REMOTE_CNTR_C_H

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#ifdef __cplusplus
extern "C" {
#endif

const char *c_accessors(void); /* NULL: they do what they should */
int c_export(struct fid_domain *domain, struct fid_cntr *cntr, uint64_t *key);
ssize_t c_remote_add(struct fid_domain *domain, struct fid_ep *ep, fi_addr_t addr, uint64_t key,
                     uint64_t value, void *context);

#ifdef __cplusplus
}
#endif

#endif
