// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Messages without a peer's session: over when they have been sent, and gone
// when nobody waits for them.
#include "dpdkx/op/messenger.h"

namespace dpdkx::op {

void Messenger::datagram_sent(const SendRequest &r) {
  ++counters_.sent;
  report_send(completers_, r.flags & ~FI_MULTICAST, r.context, r.len, 0);
}

bool Messenger::on_datagram(const wire::MessageFrame &f, fi_addr_t src,
                            std::span<const std::byte> raw_source) {
  auto *op = static_cast<RxOp *>(receives_->untagged.find_posted(0, src));
  if (!op)
    return false;
  const Place place = claim_place(*op, f.len);
  op->memory.copy_in(place.base, f.payload, place.room);
  ++counters_.received;
  const std::uint64_t flags =
      FI_MSG | (f.flags & wire::frame_flag::cq_data ? FI_REMOTE_CQ_DATA : 0);
  receive_done(*op, nullptr, src, {f.len, place.room, flags, 0, f.data, place.base, raw_source}, 0);
  return true;
}

} // namespace dpdkx::op
