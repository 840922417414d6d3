// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Counters of a domain, and what peers may do with them (fi_dpdkx_cntr(3)).
#pragma once

#include "endpoint.h"

#include <rdma/fi_ext_dpdkx.h>

namespace fabtest {

owned_fid<fid_cntr> open_counter(endpoint &e, fi_wait_obj wait = FI_WAIT_UNSPEC);

// Skips the case where the provider has no counters for peers.
fi_dpdkx_ops_cntr &counter_ops(endpoint &e);

// Lets peers add to it, under a key that the provider chooses.
std::uint64_t export_counter(endpoint &e, fid_cntr *cntr);

} // namespace fabtest
