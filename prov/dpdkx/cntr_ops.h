// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Counters that peers add to: fi_dpdkx_cntr(3).
#pragma once

#include <rdma/fabric.h>

#include <cstdint>

namespace dpdkx {

// fi_open_ops() of a domain. -FI_ENOSYS: it has none of that name.
int open_domain_ops(struct fid *, const char *name, std::uint64_t flags, void **ops, void *context);

} // namespace dpdkx
