/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Deferred work, and counters that peers add to, over providers that have neither.
 * For C (C99 and later) and C++. See fi_dpdkx_emulation(3).
 */
#ifndef FI_DPDKX_EMULATION_H
#define FI_DPDKX_EMULATION_H

#include <rdma/fi_ext_dpdkx.h>

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All of it must be there until the emulation is closed, but for ep, which is closed before. */
struct fi_dpdkx_emulation_attr {
  size_t size;                /* sizeof(struct fi_dpdkx_emulation_attr) */
  const struct fi_info *info; /* what domain and ep were opened with */
  struct fid_domain *domain;
  struct fid_av *av;
  struct fid_ep *ep; /* FI_EP_RDM with FI_MSG, enabled. Its untagged messages are the emulation's */
  struct fid_cq *cq; /* of all that ep sends and receives. Only the emulation reads it */
  size_t receives;   /* messages that may arrive before they are looked at; 0: 256 */
};

/* A domain over attr->domain. It has fi_cntr_open(), fi_control() with FI_QUEUE_WORK,
 * FI_CANCEL_WORK and FI_FLUSH_WORK, and fi_open_ops() with FI_DPDKX_OPS_CNTR; the works' operations
 * go by ep. Peers must have one as well. Calls that read its counters make all progress. */
int fi_dpdkx_emulate(const struct fi_dpdkx_emulation_attr *attr, struct fid_domain **emulated,
                     void *context);

#ifdef __cplusplus
}
#endif

#endif /* FI_DPDKX_EMULATION_H */
