// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/cntr_ops.h"

#include <algorithm>
#include <cstring>

namespace util_ext {

namespace {

constexpr std::uint64_t rights = FI_REMOTE_READ | FI_REMOTE_WRITE;

unsigned long long hex(std::uint64_t v) { return v; }

} // namespace

int not_ours(const fi_provider &provider, const char *call, const char *what) {
  FI_WARN(&provider, FI_LOG_CNTR, "%s: the %s is null or not one of this provider's\n", call, what);
  return -FI_EINVAL;
}

int export_cntr(const fi_provider &provider, fid_cntr *cntr, std::uint64_t access,
                std::uint64_t requested_key, std::uint64_t flags, std::uint64_t *key) {
  if (!Cntr::is(cntr))
    return not_ours(provider, "export_cntr", "counter");
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
  Cntr &counter = *Cntr::from(&cntr->fid);
  CntrTable &table = counter.table();
  if (requested_key == FI_KEY_NOTAVAIL)
    return guard([&] { return table.insert_random(counter, access, *key); });
  const int rc = guard([&] { return table.insert(counter, requested_key, access); });
  if (rc == -FI_ENOKEY)
    FI_WARN(&provider, FI_LOG_CNTR,
            "export_cntr: requested key %#llx: another counter of the domain has it\n",
            hex(requested_key));
  if (rc == 0)
    *key = requested_key;
  return rc;
}

int unexport_cntr(const fi_provider &provider, fid_cntr *cntr, std::uint64_t key) {
  if (!Cntr::is(cntr))
    return not_ours(provider, "unexport_cntr", "counter");
  Cntr &counter = *Cntr::from(&cntr->fid);
  return counter.table().remove(counter, key);
}

int query_cntrs(const Domain &self, fi_dpdkx_cntr_limits *out) {
  if (!out || out->size < sizeof out->size) {
    FI_WARN(&self.provider(), FI_LOG_CNTR,
            "query: no place for the limits, or of size %zu; allowed: %zu\n", out ? out->size : 0,
            sizeof *out);
    return -FI_EINVAL;
  }
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

int open_cntr_ops(const fi_provider &provider, fi_dpdkx_ops_cntr &table, const char *name,
                  std::uint64_t flags, void **ops) {
  if (!name || !ops)
    return -FI_EINVAL;
  if (std::strcmp(name, FI_DPDKX_OPS_CNTR) != 0)
    return -FI_ENOSYS;
  if (flags) {
    FI_WARN(&provider, FI_LOG_DOMAIN, "fi_open_ops(\"%s\"): flags %#llx; allowed: 0\n", name,
            hex(flags));
    return -FI_EINVAL;
  }
  *ops = &table;
  return 0;
}

} // namespace util_ext
