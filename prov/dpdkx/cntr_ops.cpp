// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/cntr_ops.h"

#include "dpdkx/deferred_work.h"
#include "dpdkx/provider.h"
#include "util_ext/cntr_ops.h"

namespace dpdkx {

namespace {

int export_cntr(fid_cntr *cntr, std::uint64_t access, std::uint64_t requested_key,
                std::uint64_t flags, std::uint64_t *key) {
  return util_ext::export_cntr(provider, cntr, access, requested_key, flags, key);
}

int unexport_cntr(fid_cntr *cntr, std::uint64_t key) {
  return util_ext::unexport_cntr(provider, cntr, key);
}

// `Owner`: an endpoint, or a WorkMaker.
template <class Owner> ssize_t add(Owner &owner, const fi_op_remote_cntr &op) {
  const std::uint64_t given = op.flags;
  if (const int rc = flags::check(given, flags::counting))
    return rc;
  return post(owner, op::CounterRequest{.dest = op.addr,
                                        .key = op.cntr_key,
                                        .value = op.value,
                                        .flags = FI_ATOMIC | FI_WRITE |
                                                 flags::of_write(given, owner.selective_send()),
                                        .context = op.context});
}

ssize_t remote_add(fid_ep *ep, fi_addr_t addr, std::uint64_t key, std::uint64_t value,
                   std::uint64_t given, void *context) {
  if (!EndpointHandle::is(ep))
    return util_ext::not_ours(provider, "remote_add", "endpoint");
  return add(EndpointHandle::from(ep).endpoint, {ep, addr, key, value, given, context});
}

int query(fid_domain *domain, fi_dpdkx_cntr_limits *out) {
  if (!domain || domain->fid.fclass != FI_CLASS_DOMAIN ||
      domain->fid.ops->ops_open != open_domain_ops)
    return util_ext::not_ours(provider, "query", "domain");
  return util_ext::query_cntrs(Domain::from(domain), out);
}

fi_dpdkx_ops_cntr cntr_ops{sizeof(fi_dpdkx_ops_cntr), export_cntr, unexport_cntr, remote_add,
                           query};

} // namespace

ssize_t make_remote_add(WorkMaker &maker, const fi_op_remote_cntr &op) { return add(maker, op); }

int open_domain_ops(struct fid *, const char *name, std::uint64_t flags, void **ops, void *) {
  return util_ext::open_cntr_ops(provider, cntr_ops, name, flags, ops);
}

} // namespace dpdkx
