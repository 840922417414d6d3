// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/cntr_ops.h"

#include "dpdkx/deferred_work.h"
#include "dpdkx/provider.h"
#include "util_ext/cntr.h"

#include <rdma/fi_ext_dpdkx.h>

#include <algorithm>
#include <cstring>

namespace dpdkx {

namespace {

constexpr std::uint64_t rights = FI_REMOTE_READ | FI_REMOTE_WRITE;

unsigned long long hex(std::uint64_t v) { return v; }

// These calls are made without an object's own table: a program under a hook, say, would pass the
// hook's objects.
int not_ours(const char *call, const char *what) {
  FI_WARN(&provider, FI_LOG_CNTR, "%s: the %s is null or not one of this provider's\n", call, what);
  return -FI_EINVAL;
}

int export_cntr(fid_cntr *cntr, std::uint64_t access, std::uint64_t requested_key,
                std::uint64_t flags, std::uint64_t *key) {
  if (!util_ext::Cntr::is(cntr))
    return not_ours("export_cntr", "counter");
  if (!key || flags) {
    FI_WARN(&provider, FI_LOG_CNTR,
            "export_cntr: flags %#llx, place for the key %p; allowed: 0, and not null\n",
            hex(flags), static_cast<void *>(key));
    return -FI_EINVAL;
  }
  if (access == 0 || access & ~rights) {
    FI_WARN(&provider, FI_LOG_CNTR,
            "export_cntr: access %#llx; allowed: FI_REMOTE_WRITE, FI_REMOTE_READ\n", hex(access));
    return -FI_EINVAL;
  }
  util_ext::Cntr &counter = *util_ext::Cntr::from(&cntr->fid);
  util_ext::CntrTable &table = counter.table();
  if (requested_key == FI_KEY_NOTAVAIL)
    return util_ext::guard([&] { return table.insert_random(counter, access, *key); });
  const int rc = util_ext::guard([&] { return table.insert(counter, requested_key, access); });
  if (rc == -FI_ENOKEY)
    FI_WARN(&provider, FI_LOG_CNTR,
            "export_cntr: requested key %#llx: another counter of the domain has it\n",
            hex(requested_key));
  if (rc == 0)
    *key = requested_key;
  return rc;
}

int unexport_cntr(fid_cntr *cntr, std::uint64_t key) {
  if (!util_ext::Cntr::is(cntr))
    return not_ours("unexport_cntr", "counter");
  util_ext::Cntr &counter = *util_ext::Cntr::from(&cntr->fid);
  return counter.table().remove(counter, key);
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
    return not_ours("remote_add", "endpoint");
  return add(EndpointHandle::from(ep).endpoint, {ep, addr, key, value, given, context});
}

int query(fid_domain *domain, fi_dpdkx_cntr_limits *out) {
  if (!domain || domain->fid.fclass != FI_CLASS_DOMAIN ||
      domain->fid.ops->ops_open != open_domain_ops)
    return not_ours("query", "domain");
  if (!out || out->size < sizeof out->size) {
    FI_WARN(&provider, FI_LOG_CNTR,
            "query: no place for the limits, or of size %zu; allowed: %zu\n", out ? out->size : 0,
            sizeof *out);
    return -FI_EINVAL;
  }
  const Domain &self = Domain::from(domain);
  fi_dpdkx_cntr_limits limits{};
  limits.max_cntrs = self.limits.cntrs;
  limits.max_triggered_ops = self.triggers.limit;
  limits.triggered_ops = self.triggers.queued();
  limits.cntrs = self.open_cntrs.load();
  limits.max_exports = FI_DPDKX_UNLIMITED;
  limits.exports = self.exported.size();
  // A program built with a later header has room for more, which is nothing here.
  limits.size = out->size;
  std::memset(out, 0, out->size);
  std::memcpy(out, &limits, std::min(limits.size, sizeof limits));
  return 0;
}

fi_dpdkx_ops_cntr cntr_ops{sizeof(fi_dpdkx_ops_cntr), export_cntr, unexport_cntr, remote_add,
                           query};

} // namespace

ssize_t make_remote_add(WorkMaker &maker, const fi_op_remote_cntr &op) { return add(maker, op); }

int open_domain_ops(struct fid *, const char *name, std::uint64_t flags, void **ops, void *) {
  if (!name || !ops)
    return -FI_EINVAL;
  if (std::strcmp(name, FI_DPDKX_OPS_CNTR) != 0)
    return -FI_ENOSYS;
  if (flags) {
    FI_WARN(&provider, FI_LOG_DOMAIN, "fi_open_ops(\"%s\"): flags %#llx; allowed: 0\n", name,
            hex(flags));
    return -FI_EINVAL;
  }
  *ops = &cntr_ops;
  return 0;
}

} // namespace dpdkx
