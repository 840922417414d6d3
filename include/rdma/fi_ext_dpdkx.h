/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * What the dpdkx provider has beyond libfabric's interface: counters that peers
 * add to. For C (C99 and later) and C++. See fi_dpdkx_cntr(3).
 */
#ifndef FI_EXT_DPDKX_H
#define FI_EXT_DPDKX_H

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_trigger.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* By the rule of fi_ext.h for what is a provider's own. */
#define FI_PROV_SPECIFIC_DPDKX (0xd9d << 16)

/* ---- The immediate form, and keys: fi_open_ops(&domain->fid, FI_DPDKX_OPS_CNTR, 0, &ops, NULL) */

#define FI_DPDKX_OPS_CNTR "dpdkx cntr 1"

#define FI_DPDKX_UNLIMITED UINT64_MAX /* of a limit: memory only */

/* The caller sets size; what lies within it is filled in, and what the provider doesn't know is 0.
 */
struct fi_dpdkx_cntr_limits {
  size_t size;                /* sizeof(struct fi_dpdkx_cntr_limits) */
  uint64_t max_cntrs;         /* counters that a domain may have open */
  uint64_t cntrs;             /* ... and has */
  uint64_t max_triggered_ops; /* deferred work that may be queued; 0: none is supported */
  uint64_t triggered_ops;     /* ... and is */
  uint64_t max_exports;       /* keys of exported counters */
  uint64_t exports;           /* ... and how many there are */
};

struct fi_dpdkx_ops_cntr {
  size_t size; /* bytes of the table that there are: more in later versions */

  /* Lets peers add to the counter, under a key of 64 bits. access: FI_REMOTE_WRITE, without which
   * they may not; FI_REMOTE_READ is reserved. requested_key: FI_KEY_NOTAVAIL for one that can't be
   * guessed, which the provider chooses. flags: 0. */
  int (*export_cntr)(struct fid_cntr *cntr, uint64_t access, uint64_t requested_key, uint64_t flags,
                     uint64_t *key);

  /* No peer adds by that key any more once this returns. fi_close() of the counter does so for all
   * its keys. */
  int (*unexport_cntr)(struct fid_cntr *cntr, uint64_t key);

  /* Adds value, modulo 2^64, to the counter of the peer at addr that has that key.
   * flags: FI_COMPLETION, FI_DELIVERY_COMPLETE, FI_FENCE, FI_MORE; or FI_TRANSMIT_COMPLETE: it is
   * complete when it has left, and what goes wrong at the peer is told to nobody. */
  ssize_t (*remote_add)(struct fid_ep *ep, fi_addr_t addr, uint64_t cntr_key, uint64_t value,
                        uint64_t flags, void *context);

  int (*query)(struct fid_domain *domain, struct fi_dpdkx_cntr_limits *limits);
};

/* ---- The same as deferred work (fi_trigger(3)) */

#define FI_OP_REMOTE_CNTR_ADD (FI_PROV_SPECIFIC_DPDKX | 1)

struct fi_op_remote_cntr {
  struct fid_ep *ep; /* carries the request */
  fi_addr_t addr;    /* whose counter */
  uint64_t cntr_key; /* which of them */
  uint64_t value;    /* how much, modulo 2^64 */
  uint64_t flags;    /* FI_COMPLETION, FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE, FI_FENCE */
  void *context;
};

/* The operation's number is none of enum fi_op_type, and the operand none of the union's members:
 * both go as bytes. As with other operations, what op points to is copied when the work is queued.
 */
static inline void fi_dpdkx_set_remote_cntr_add(struct fi_deferred_work *work,
                                                struct fi_op_remote_cntr *op) {
  const uint32_t type = FI_OP_REMOTE_CNTR_ADD;
  memcpy(&work->op_type, &type, sizeof type);
  memcpy(&work->op, &op, sizeof op);
}

/* The operand; NULL if the work is another operation. */
static inline struct fi_op_remote_cntr *
fi_dpdkx_get_remote_cntr_add(const struct fi_deferred_work *work) {
  uint32_t type;
  struct fi_op_remote_cntr *op = NULL;
  memcpy(&type, &work->op_type, sizeof type);
  if (type == FI_OP_REMOTE_CNTR_ADD)
    memcpy(&op, &work->op, sizeof op);
  return op;
}

#ifdef __cplusplus
}

static_assert(sizeof(enum fi_op_type) == sizeof(uint32_t) &&
                  sizeof(fi_deferred_work::op) == sizeof(void *),
              "what the accessors go by");
#endif

#endif /* FI_EXT_DPDKX_H */
