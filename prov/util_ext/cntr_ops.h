// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Of fi_dpdkx_cntr(3), what does not depend on how an add travels. `provider`:
// in whose name a refusal is logged.
#pragma once

#include "util_ext/cntr.h"

#include <rdma/fi_ext_dpdkx.h>

namespace util_ext {

// These calls are made without an object's own table: a program under a hook, say, would pass the
// hook's objects. -FI_EINVAL.
int not_ours(const fi_provider &provider, const char *call, const char *what);

int export_cntr(const fi_provider &provider, fid_cntr *, std::uint64_t access,
                std::uint64_t requested_key, std::uint64_t flags, std::uint64_t *key);
int unexport_cntr(const fi_provider &provider, fid_cntr *, std::uint64_t key);
int query_cntrs(const Domain &, fi_dpdkx_cntr_limits *);

// fi_open_ops of a domain that has that table.
int open_cntr_ops(const fi_provider &provider, fi_dpdkx_ops_cntr &table, const char *name,
                  std::uint64_t flags, void **ops);

} // namespace util_ext
