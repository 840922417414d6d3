// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Counters of a domain, and what peers may do with them (fi_dpdkx_cntr(3)).
#pragma once

#include "endpoint.h"

#include <rdma/fi_ext_dpdkx.h>

namespace fabtest {

owned_fid<fid_cntr> open_counter(fid_domain *domain, fi_wait_obj wait = FI_WAIT_UNSPEC);
inline owned_fid<fid_cntr> open_counter(const endpoint &e, fi_wait_obj wait = FI_WAIT_UNSPEC) {
  return open_counter(e.domain(), wait);
}

// Skips the case where the provider has no counters for peers.
fi_dpdkx_ops_cntr &counter_ops(fid_domain *domain);
inline fi_dpdkx_ops_cntr &counter_ops(const endpoint &e) { return counter_ops(e.domain()); }

// Lets peers add to it, under a key that the provider chooses.
std::uint64_t export_counter(fid_domain *domain, fid_cntr *cntr);
inline std::uint64_t export_counter(const endpoint &e, fid_cntr *cntr) {
  return export_counter(e.domain(), cntr);
}

} // namespace fabtest
