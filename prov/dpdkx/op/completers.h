// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Where an endpoint's operations report their end. Null: nobody wants to know.
#pragma once

#include "util_ext/av.h"
#include "util_ext/cntr.h"
#include "util_ext/cntr_table.h"
#include "util_ext/cq.h"
#include "util_ext/mr_table.h"

namespace dpdkx::op {

struct Completers {
  util_ext::Cq *tx_cq = nullptr;
  util_ext::Cq *rx_cq = nullptr;
  util_ext::Cntr *tx_cntr = nullptr;                          // bound with FI_SEND
  util_ext::Cntr *rx_cntr = nullptr;                          // bound with FI_RECV
  util_ext::Cntr *read_cntr = nullptr, *write_cntr = nullptr; // FI_READ, FI_WRITE
  // FI_REMOTE_READ, FI_REMOTE_WRITE: what peers have done here. (A region has its own besides.)
  util_ext::Cntr *remote_read_cntr = nullptr, *remote_write_cntr = nullptr;
  util_ext::MrTable *regions = nullptr;    // what peers may access; null: nothing
  util_ext::CntrTable *exported = nullptr; // counters they may add to; null: none
  // What they may do there by this endpoint.
  std::uint64_t remote_rights = FI_REMOTE_READ | FI_REMOTE_WRITE;
  bool source = false;              // FI_SOURCE: entries carry the sender's fi_addr_t
  const util_ext::Av *av = nullptr; // what an entry calls a sender; null: fi_addr_t as they are
  bool source_err = false;          // FI_SOURCE_ERR: unknown senders are told as errors

  fi_addr_t name_of(fi_addr_t src) const noexcept { return av ? av->user_id(src) : src; }
};

// Tells of the end of a send, or of an operation on a peer's memory; `flags` are its request's,
// `error` a positive FI_E* or 0.
void report_send(const Completers &, std::uint64_t flags, void *context, std::size_t len,
                 int error);

} // namespace dpdkx::op
