/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * The extension's header as a C program sees it.
 */
#include "remote_cntr_c.h"

#include <rdma/fi_ext_dpdkx.h>

const char *c_accessors(void) {
  struct fi_deferred_work work;
  struct fi_op_remote_cntr op;
  memset(&work, 0, sizeof work);
  memset(&op, 0, sizeof op);
  work.op_type = FI_OP_CNTR_ADD;
  if (fi_dpdkx_get_remote_cntr_add(&work) != NULL)
    return "another operation is read as a remote add";
  fi_dpdkx_set_remote_cntr_add(&work, &op);
  if (fi_dpdkx_get_remote_cntr_add(&work) != &op)
    return "the operand is not what was stored";
  if (FI_OP_REMOTE_CNTR_ADD != 0xd9d0001)
    return "FI_OP_REMOTE_CNTR_ADD has another value";
  return NULL;
}

int c_export(struct fid_domain *domain, struct fid_cntr *cntr, uint64_t *key) {
  struct fi_dpdkx_ops_cntr *ops;
  const int rc = fi_open_ops(&domain->fid, FI_DPDKX_OPS_CNTR, 0, (void **)&ops, NULL);
  return rc ? rc : ops->export_cntr(cntr, FI_REMOTE_WRITE, FI_KEY_NOTAVAIL, 0, key);
}

ssize_t c_remote_add(struct fid_domain *domain, struct fid_ep *ep, fi_addr_t addr, uint64_t key,
                     uint64_t value, void *context) {
  struct fi_dpdkx_ops_cntr *ops;
  const int rc = fi_open_ops(&domain->fid, FI_DPDKX_OPS_CNTR, 0, (void **)&ops, NULL);
  return rc ? rc : ops->remote_add(ep, addr, key, value, FI_COMPLETION, context);
}
