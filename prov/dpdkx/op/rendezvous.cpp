// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Rendezvous: the sender asks (rts), the receiver has a place for it and says
// so (cts), data go to their place in whatever order they come (rdata), the
// receiver says when all is there (fin). Where the receiver can read the
// sender's memory it does, instead of cts and rdata.
#include "dpdkx/op/messenger.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

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
    f.regions = op.memory.regions(f.region);
  }
  if (!ask(p, op, f))
    return false;
  ++counters_.sent;
  ++counters_.rendezvous;
  return true;
}

// A packet of data of the first operation that may send, which then waits for its next turn behind
// the others. False: no room.
bool Messenger::stream(Peer &p) {
  Traffic &t = *p.traffic;
  TxOp &op = *t.streaming.front();
  const std::size_t room = p.max_frames - wire::rdata_frame_size;
  const std::size_t part = std::min<std::uint64_t>(op.wanted - op.offset, room);
  const std::uint32_t len = static_cast<std::uint32_t>(wire::rdata_frame_size + part);
  Reach reach;
  if (op.serves) {
    const wire::Targets from = slice(op.remote->targets, op.offset, part);
    if (const int error = open(reach, from, FI_REMOTE_READ)) {
      t.streaming.erase(&op); // the registration has been closed
      send_fin(p, op.receiver, error);
      release(op);
      settle_adds(p);
      return true;
    }
  }
  std::byte *out = outlet_.begin(p, len, Load::bulk);
  if (!out)
    return false;
  wire::RdataFrame f;
  f.len = static_cast<std::uint16_t>(part);
  f.receiver = op.receiver;
  f.offset = op.offset;
  out = wire::encode(out, f);
  if (op.serves) {
    reach.get(0, out, part);
    op.last_pn = outlet_.commit(p, len);
  } else if (p.lossless) {
    op.memory.copy_out(op.offset, out, part);
    op.last_pn = outlet_.commit(p, len);
  } else {
    op.last_pn = outlet_.commit(p, len, &op, op.offset, static_cast<std::uint32_t>(part));
  }
  t.data_share -= std::min(t.data_share, len);
  op.offset += part;
  t.streaming.erase(&op);
  if (op.offset < op.wanted) {
    t.streaming.push_back(&op);
  } else if (op.serves) {
    served(op);
  } else {
    op.stage = TxStage::streamed;
    t.streamed.push_back(&op);
  }
  return true;
}

namespace {
std::uint32_t frame_size(const ControlFrame &c) {
  switch (c.type) {
  case wire::FrameType::cts:
    return wire::cts_frame_size;
  case wire::FrameType::status:
    return wire::status_frame_size;
  case wire::FrameType::rdata:
    return static_cast<std::uint32_t>(wire::rdata_frame_size + c.rdata.len);
  default:
    return wire::fin_frame_size;
  }
}

void write_frame(std::byte *out, const ControlFrame &c) {
  switch (c.type) {
  case wire::FrameType::cts:
    wire::encode(out, c.cts);
    return;
  case wire::FrameType::status:
    wire::encode(out, c.status);
    return;
  case wire::FrameType::rdata:
    std::memcpy(wire::encode(out, c.rdata), c.payload.get(), c.rdata.len);
    return;
  default:
    wire::encode(out, c.fin);
  }
}
} // namespace

bool Messenger::send_control(Peer &p, const ControlFrame &c) {
  std::byte *out = outlet_.begin(p, frame_size(c));
  if (!out)
    return false;
  write_frame(out, c);
  const PacketNumber pn = outlet_.commit(p, frame_size(c));
  if (c.failed) {
    c.failed->told = true;
    c.failed->status_pn = pn;
  }
  return true;
}

// At once if there is room; else it waits, before all else that is to be sent.
void Messenger::send_or_queue(Peer &p, ControlFrame &&c) {
  if ((!p.traffic || p.traffic->control.empty()) && send_control(p, c))
    return;
  auto *const waiting = traffic(p) ? new (std::nothrow) ControlFrame(std::move(c)) : nullptr;
  if (!waiting) {
    outlet_.out_of_memory(p);
    return;
  }
  p.traffic->control.push_back(waiting);
  outlet_.want_push(p);
}

bool Messenger::flush_control(Peer &p) {
  Traffic &t = *p.traffic;
  bool failures = false;
  while (ControlFrame *c = t.control.front()) {
    if (!send_control(p, *c))
      break;
    failures |= c->failed != nullptr;
    delete t.control.pop_front();
  }
  if (failures) // the processed position may have waited for their leaving
    settle_failed(p);
  return t.control.empty();
}

void Messenger::send_cts(Landing &l) {
  ControlFrame c{};
  c.type = wire::FrameType::cts;
  c.cts.sender = l.sender;
  c.cts.receiver = static_cast<wire::OpId>(Slab<Landing>::name(&l));
  c.cts.length = l.wanted;
  send_or_queue(*l.peer, std::move(c));
}

void Messenger::send_fin(Peer &p, wire::OpId sender, int status) {
  ControlFrame c{};
  c.type = wire::FrameType::fin;
  c.fin.sender = sender;
  c.fin.status = static_cast<std::uint32_t>(status);
  send_or_queue(p, std::move(c));
}

bool Messenger::on_cts(Peer &p, const wire::CtsFrame &f) {
  TxOp *op = tx_.find(static_cast<std::uint64_t>(f.sender));
  if (!op || op->peer != &p || op->stage != TxStage::requested || f.length == 0 ||
      f.length > op->memory.len || (op->flags & (FI_READ | FI_ATOMIC)))
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
  TxOp *op = tx_.find(slab_name(f.sender));
  if (!op || op->peer != &p)
    return false;
  // Of a read this is how it fails, or what there is to say when it was of nothing.
  if ((op->flags & FI_READ) && f.status == 0 && op->memory.len != 0)
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
    // An atomic in several frames, of which one has failed.
    if (op->stage == TxStage::partial && (op->flags & FI_READ)) {
      op->status = f.status > 4096 ? FI_EOTHER : static_cast<int>(f.status);
      return true;
    }
    return false;
  }
  op->status = f.status > 4096 ? FI_EOTHER : static_cast<int>(f.status);
  op->stage = TxStage::ended;
  let_messages_go(*op);
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
  if (is_reader(f.receiver)) {
    TxOp *reader = tx_.find(slab_name(f.receiver));
    return reader && reader->peer == &p && on_read_data(p, *reader, f);
  }
  Landing *l = landings_.find(static_cast<std::uint64_t>(f.receiver));
  if (!l || l->peer != &p || l->sender == wire::OpId::none || l->pulling || !(l->op || l->remote))
    return false;
  if (f.len == 0 || f.offset > l->wanted || f.len > l->wanted - f.offset ||
      f.len > l->wanted - l->received)
    return false;
  place(*l, f.offset, f.payload, f.len);
  l->received += f.len;
  if (l->received == l->wanted) {
    p.traffic->receiving.erase(l);
    rendezvous_done(*l);
  }
  return true;
}

// Where in registered memory the next bytes go that lie in one piece. 0: nowhere any more.
std::size_t Messenger::place_of(Landing &l, Reach &reach, std::size_t n, iovec (&out)[max_iov],
                                std::size_t &pieces) {
  l.status = open(reach, slice(l.remote->targets, l.received, n), FI_REMOTE_WRITE);
  if (l.status != 0)
    return 0;
  std::size_t done = 0;
  for (pieces = 0; pieces < max_iov && done < n; ++pieces) {
    const iovec at = reach.piece(done);
    const std::size_t part = std::min(n - done, at.iov_len);
    out[pieces] = {at.iov_base, part};
    done += part;
  }
  return done;
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
  std::size_t n = std::min<std::uint64_t>(pull_chunk, l.wanted - l.received);
  iovec local[max_iov], remote[wire::max_rts_regions];
  std::size_t locals = 0;
  Reach reach; // while it lasts
  if (l.op)
    locals = l.op->memory.slice(l.base + l.received, n, local);
  else
    n = place_of(l, reach, n, local, locals);
  if (n == 0) { // a registration has been closed
    pulls_.erase(&l);
    l.pulling = false;
    p.traffic->receiving.erase(&l);
    rendezvous_done(l);
    return false;
  }
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
  if (l.remote)
    written(l);
  send_fin(p, l.sender, l.status);
  if (l.remote) {
    give_write(l);
  } else {
    RxOp &op = *l.op;
    const Arrival a{l.total, l.wanted, l.flags, l.tag, l.data, l.base};
    landings_.give(&l);
    receive_done(op, &p, p.addr, a, 0);
  }
  settle_adds(p);
}

} // namespace dpdkx::op
