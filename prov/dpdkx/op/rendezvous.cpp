// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Rendezvous: the sender asks (rts), the receiver has a place for it and says
// so (cts), data go to their place in whatever order they come (rdata), the
// receiver says when all is there (fin). Where the receiver can read the
// sender's memory it does, instead of cts and rdata.
#include "dpdkx/op/messenger.h"

#include <algorithm>
#include <new>

namespace dpdkx::op {

namespace {
constexpr std::size_t pull_chunk = 1u << 20; // bytes a turn: other peers wait that long
}

bool Messenger::request(Peer &p, TxOp &op) {
  wire::RtsFrame f;
  f.mn = p.tx_next;
  f.total = op.memory.len;
  f.sender = static_cast<wire::OpId>(Slab<TxOp>::name(&op));
  f.tag = op.tag;
  f.data = op.data;
  if (op.flags & FI_TAGGED)
    f.flags |= wire::frame_flag::tagged;
  if (op.flags & FI_REMOTE_CQ_DATA)
    f.flags |= wire::frame_flag::cq_data;
  if (p.lossless && p.can_pull && limits_.pull && op.memory.len) {
    f.flags |= wire::frame_flag::pull;
    for (std::uint32_t i = 0; i < op.memory.count; ++i)
      if (op.memory.iov[i].iov_len)
        f.region[f.regions++] = {reinterpret_cast<std::uintptr_t>(op.memory.iov[i].iov_base),
                                 op.memory.iov[i].iov_len};
  }
  const std::uint32_t len = static_cast<std::uint32_t>(wire::size_of(f));
  std::byte *out = outlet_.begin(p, len);
  if (!out)
    return false;
  wire::encode(out, f);
  op.last_pn = outlet_.commit(p, len);
  op.mn = f.mn;
  op.stage = TxStage::requested;
  ++p.tx_next;
  ++counters_.sent;
  ++counters_.rendezvous;
  p.traffic->pending.erase(&op);
  p.traffic->requested.push_back(&op);
  return true;
}

// Data of all operations that may send, a packet of each in turn.
bool Messenger::stream(Peer &p) {
  Traffic &t = *p.traffic;
  while (TxOp *op = t.streaming.front()) {
    const std::size_t room = p.max_frames - wire::rdata_frame_size;
    const std::size_t part = std::min<std::uint64_t>(op->wanted - op->offset, room);
    const std::uint32_t len = static_cast<std::uint32_t>(wire::rdata_frame_size + part);
    std::byte *out = outlet_.begin(p, len);
    if (!out)
      return false;
    wire::RdataFrame f;
    f.len = static_cast<std::uint16_t>(part);
    f.receiver = op->receiver;
    f.offset = op->offset;
    out = wire::encode(out, f);
    if (p.lossless) {
      op->memory.copy_out(op->offset, out, part);
      op->last_pn = outlet_.commit(p, len);
    } else {
      op->last_pn = outlet_.commit(p, len, op, op->offset, static_cast<std::uint32_t>(part));
    }
    op->offset += part;
    t.streaming.erase(op);
    if (op->offset < op->wanted) {
      t.streaming.push_back(op);
    } else {
      op->stage = TxStage::streamed;
      t.streamed.push_back(op);
    }
  }
  return true;
}

namespace {
std::uint32_t frame_size(const ControlFrame &c) {
  return c.type == wire::FrameType::cts ? wire::cts_frame_size : wire::fin_frame_size;
}
} // namespace

bool Messenger::send_control(Peer &p, const ControlFrame &c) {
  std::byte *out = outlet_.begin(p, frame_size(c));
  if (!out)
    return false;
  c.type == wire::FrameType::cts ? wire::encode(out, c.cts) : wire::encode(out, c.fin);
  outlet_.commit(p, frame_size(c));
  return true;
}

// At once if there is room; else it waits, before all else that is to be sent.
void Messenger::send_or_queue(Peer &p, const ControlFrame &c) {
  if ((!p.traffic || p.traffic->control.empty()) && send_control(p, c))
    return;
  auto *const waiting = traffic(p) ? new (std::nothrow) ControlFrame(c) : nullptr;
  if (!waiting) {
    outlet_.out_of_memory(p);
    return;
  }
  p.traffic->control.push_back(waiting);
  outlet_.want_push(p);
}

bool Messenger::flush_control(Peer &p) {
  Traffic &t = *p.traffic;
  while (ControlFrame *c = t.control.front()) {
    if (!send_control(p, *c))
      return false;
    delete t.control.pop_front();
  }
  return true;
}

void Messenger::send_cts(Landing &l) {
  ControlFrame c{};
  c.type = wire::FrameType::cts;
  c.cts.sender = l.sender;
  c.cts.receiver = static_cast<wire::OpId>(Slab<Landing>::name(&l));
  c.cts.length = l.wanted;
  send_or_queue(*l.peer, c);
}

void Messenger::send_fin(Peer &p, wire::OpId sender, int status) {
  ControlFrame c{};
  c.type = wire::FrameType::fin;
  c.fin.sender = sender;
  c.fin.status = static_cast<std::uint32_t>(status);
  send_or_queue(p, c);
}

bool Messenger::on_cts(Peer &p, const wire::CtsFrame &f) {
  TxOp *op = tx_.find(static_cast<std::uint64_t>(f.sender));
  if (!op || op->peer != &p || op->stage != TxStage::requested || f.length == 0 ||
      f.length > op->memory.len)
    return false;
  op->receiver = f.receiver;
  op->wanted = f.length;
  op->offset = 0;
  op->stage = TxStage::streaming;
  p.traffic->requested.erase(op);
  p.traffic->streaming.push_back(op);
  outlet_.want_push(p);
  return true;
}

bool Messenger::on_fin(Peer &p, const wire::FinFrame &f) {
  TxOp *op = tx_.find(static_cast<std::uint64_t>(f.sender));
  if (!op || op->peer != &p)
    return false;
  Traffic &t = *p.traffic;
  switch (op->stage) {
  case TxStage::requested:
    t.requested.erase(op);
    break;
  case TxStage::streaming:
    t.streaming.erase(op);
    break;
  case TxStage::streamed:
    t.streamed.erase(op);
    break;
  default:
    return false;
  }
  op->status = f.status > 4096 ? FI_EOTHER : static_cast<int>(f.status);
  op->stage = TxStage::ended;
  if (p.lossless || op->last_pn < outlet_.acked(p))
    end(*op, op->status);
  else
    t.ended.push_back(op);
  return true;
}

// The receive is there: fetch the message into it.
void Messenger::begin_rendezvous(Landing &l) {
  Peer &p = *l.peer;
  ++counters_.rendezvous;
  if (l.wanted == 0) {
    rendezvous_done(l);
    return;
  }
  p.traffic->receiving.push_back(&l);
  if (l.regions && p.lossless && p.can_pull && limits_.pull) {
    l.pulling = true;
    pulls_.push_back(&l);
    if (l.wanted <= pull_chunk)
      pull_some(l);
    return;
  }
  send_cts(l);
}

bool Messenger::on_rdata(Peer &p, const wire::RdataFrame &f) {
  Landing *l = landings_.find(static_cast<std::uint64_t>(f.receiver));
  if (!l || l->peer != &p || l->sender == wire::OpId::none || l->pulling || !l->op)
    return false;
  if (f.len == 0 || f.offset > l->wanted || f.len > l->wanted - f.offset ||
      f.len > l->wanted - l->received)
    return false;
  l->op->memory.copy_in(l->base + f.offset, f.payload, f.len);
  l->received += f.len;
  if (l->received == l->wanted) {
    p.traffic->receiving.erase(l);
    rendezvous_done(*l);
  }
  return true;
}

// The pieces of the sender's memory that hold [offset, offset + n).
static std::size_t remote_slice(const Landing &l, std::uint64_t offset, std::size_t n, iovec *out) {
  std::size_t pieces = 0;
  for (std::uint8_t i = 0; i < l.regions && n; ++i) {
    const wire::RemoteRegion &r = l.region[i];
    if (offset >= r.length) {
      offset -= r.length;
      continue;
    }
    const std::size_t bytes = std::min<std::uint64_t>(n, r.length - offset);
    out[pieces++] = {reinterpret_cast<void *>(r.address + offset), bytes};
    n -= bytes;
    offset = 0;
  }
  return pieces;
}

// False: it is over with this landing (done, or it goes on by cts).
bool Messenger::pull_some(Landing &l) {
  Peer &p = *l.peer;
  const std::size_t n = std::min<std::uint64_t>(pull_chunk, l.wanted - l.received);
  iovec local[max_iov], remote[wire::max_rts_regions];
  const std::size_t locals = l.op->memory.slice(l.base + l.received, n, local);
  const std::size_t remotes = remote_slice(l, l.received, n, remote);
  const int rc = outlet_.pull(p, {local, locals}, {remote, remotes});
  if (rc < 0) {
    if (rc == -EPERM)
      p.can_pull = false;
    pulls_.erase(&l);
    l.pulling = false;
    l.received = 0;
    send_cts(l);
    return false;
  }
  l.received += n;
  if (l.received < l.wanted)
    return true;
  pulls_.erase(&l);
  l.pulling = false;
  p.traffic->receiving.erase(&l);
  rendezvous_done(l);
  return false;
}

bool Messenger::step() {
  Landing *l = pulls_.front();
  if (!l)
    return false;
  if (pull_some(*l)) { // to the back: others have their turn
    pulls_.erase(l);
    pulls_.push_back(l);
  }
  return true;
}

void Messenger::rendezvous_done(Landing &l) {
  Peer &p = *l.peer;
  send_fin(p, l.sender, 0);
  RxOp &op = *l.op;
  const Arrival a{l.total, l.wanted, l.flags, l.tag, l.data, l.base};
  landings_.give(&l);
  receive_done(op, &p, p.addr, a, 0);
}

} // namespace dpdkx::op
