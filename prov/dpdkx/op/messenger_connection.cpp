// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Frames of connections among messages, and what the end of a connection means
// for receives. What the frames say is the engine's business.
#include "dpdkx/op/messenger.h"

#include <cstring>

namespace dpdkx::op {

bool Messenger::send_connection(Peer &p, wire::FrameType type, std::uint64_t id,
                                std::span<const std::byte> data) {
  TxOp *op = traffic(p) ? serving_.take() : nullptr;
  if (!op)
    return false;
  const iovec all{const_cast<std::byte *>(data.data()), data.size()};
  op->peer = &p;
  op->stage = TxStage::queued;
  op->memory.set(&all, 1, data.size());
  op->owned = nullptr;
  op->flags = type == wire::FrameType::shutdown ? FI_FENCE : 0;
  op->offset = op->wanted = 0;
  op->receiver = wire::OpId::none;
  op->status = 0;
  op->remote = nullptr;
  op->adds = false;
  op->serves = true;
  op->connection = type;
  op->tag = id;
  if (!own_memory(*op)) {
    release(*op);
    return false;
  }
  p.traffic->pending.push_back(op);
  if (p.traffic->pending.front() == op && p.max_frames != 0)
    push(p);
  if (p.traffic->to_send())
    outlet_.want_push(p);
  return true;
}

bool Messenger::start_connection(Peer &p, TxOp &op) {
  wire::ConnectionFrame f;
  f.type = op.connection;
  f.len = static_cast<std::uint16_t>(op.memory.len);
  f.mn = p.tx_next;
  f.id = op.tag;
  const auto len = static_cast<std::uint32_t>(wire::connection_frame_size + op.memory.len);
  std::byte *out = outlet_.begin(p, len);
  if (!out)
    return false;
  op.memory.copy_out(0, wire::encode(out, f), op.memory.len);
  outlet_.commit(p, len);
  ++p.tx_next;
  p.traffic->pending.erase(&op);
  release(op);
  return true;
}

// Of who is not the other end of a connection, only what is about one has its turn.
bool Messenger::admit(Peer &p, const wire::Frame &f) {
  switch (f.type) {
  case wire::FrameType::connect:
  case wire::FrameType::accept:
  case wire::FrameType::ready:
  case wire::FrameType::reject:
  case wire::FrameType::shutdown:
    return true;
  default:
    outlet_.violation(p, "it sends, and no connection leads to it");
    return false;
  }
}

void Messenger::deafen(Peer &p) {
  p.deaf = true;
  for (util_ext::Matcher *m : {&receives_->tagged, &receives_->untagged})
    m->for_each_unexpected([&](util_ext::UnexpectedMessage &message) {
      auto &u = static_cast<Unexpected &>(message);
      if (u.peer != &p || u.kind != UnexpectedKind::request)
        return;
      m->remove(message);
      discard(u, FI_ESHUTDOWN);
    });
}

} // namespace dpdkx::op
