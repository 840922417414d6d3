// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The sending side of messages: which protocol, in what order, and when an
// operation is over.
#include "dpdkx/op/deferred.h"
#include "dpdkx/op/messenger.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace dpdkx::op {

namespace {

// The sender may forget the message as soon as it has been handed over.
bool ends_when_handed_over(const Peer &p, std::uint64_t flags) {
  if (flags & (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE))
    return false;
  return p.lossless || (flags & FI_INJECT_COMPLETE) || !(flags & FI_COMPLETION);
}

// The operation stays until each packet of it has been acknowledged, and so does its memory: the
// session need not keep a copy. Not worth it for a few bytes.
bool lends_memory(const Peer &p, std::uint64_t flags, std::size_t len) {
  constexpr std::size_t least = 512;
  return len >= least && !p.lossless && !(flags & FI_DELIVERY_COMPLETE) &&
         !ends_when_handed_over(p, flags);
}

} // namespace

void report_send(const Completers &completers, std::uint64_t flags, void *context, std::size_t len,
                 int error) {
  if (flags & deferred_work) [[unlikely]]
    if (!Deferred::end(flags, context, error))
      return;
  const std::uint64_t remote = flags & (FI_RMA | FI_ATOMIC);
  const std::uint64_t kind =
      remote ? remote | (flags & (FI_READ | FI_WRITE)) : FI_SEND | (flags & (FI_MSG | FI_TAGGED));
  util_ext::Cntr *const cntr = !remote           ? completers.tx_cntr
                               : flags & FI_READ ? completers.read_cntr
                                                 : completers.write_cntr;
  if (error == 0) {
    if (flags & FI_COMPLETION)
      completers.tx_cq->write({.op_context = context, .flags = kind});
    if (cntr)
      cntr->add(1);
    return;
  }
  // Also of a send that asked for no completion: losing it in silence would be worse.
  if (completers.tx_cq)
    completers.tx_cq->write_error({.entry = {.op_context = context, .flags = kind, .len = len},
                                   .err = error,
                                   .prov_errno = error});
  if (cntr)
    cntr->add_error(1);
}

void Messenger::refuse(const SendRequest &r, int error) {
  report_send(completers_, r.flags, r.context, r.len, error);
}

ssize_t Messenger::send(Peer &p, const SendRequest &r) {
  if (completers_.tx_cq && !completers_.tx_cq->room())
    return -FI_EAGAIN;
  if (p.max_frames != 0 && (!p.traffic || (p.traffic->pending.empty() && !p.traffic->bulk)) &&
      !(r.flags & (FI_FENCE | FI_MATCH_COMPLETE))) {
    const std::uint32_t charge = charge_of(r.len);
    if (route(p, r.len, r.flags, charge) == Route::whole) {
      TxOp *op = nullptr;
      if (!ends_when_handed_over(p, r.flags)) {
        op = take_tx(p, r);
        if (!op)
          return no_tx();
      }
      if (send_whole(p, r, op))
        return 0;
      if (op)
        release(*op);
    }
  }
  return enqueue(p, r);
}

Messenger::Route Messenger::route(const Peer &p, std::size_t len, std::uint64_t flags,
                                  std::uint32_t charge) const {
  const std::size_t limit = rendezvous_above(p);
  const bool credit = static_cast<std::int32_t>(p.tx_limit - (p.tx_used + charge)) >= 0;
  if (len > limit || !credit || (flags & FI_MATCH_COMPLETE))
    return Route::rendezvous;
  // Exactly: a first part that held all of its message would be malformed.
  wire::MessageFrame f;
  f.tagged = flags & FI_TAGGED;
  f.flags = frame_flags(flags);
  return len + wire::size_of(f) <= p.max_frames ? Route::whole : Route::parts;
}

// How a message ends that is over when it has been committed. Who reads each completion at once
// makes hardly any turns, which else see that a peer has ended.
int Messenger::handed_over(Peer &p) { return !p.lossless || outlet_.lives(p) ? 0 : FI_ECONNRESET; }

// One packet, straight from the application's memory. `op` stays behind when
// the operation is not over with that.
bool Messenger::send_whole(Peer &p, const SendRequest &r, TxOp *op) {
  wire::MessageFrame f;
  f.tagged = r.flags & FI_TAGGED;
  f.flags = frame_flags(r.flags);
  f.len = static_cast<std::uint16_t>(r.len);
  f.mn = p.tx_next;
  f.tag = r.tag;
  f.data = r.data;
  const std::size_t head = wire::size_of(f);
  const std::uint32_t len = static_cast<std::uint32_t>(head + r.len);
  std::byte *out = outlet_.begin(p, len);
  if (!out)
    return false;
  std::byte *to = wire::encode(out, f);
  PacketNumber pn;
  if (op && lends_memory(p, r.flags, r.len)) {
    pn = outlet_.commit(p, len, op, 0, static_cast<std::uint32_t>(r.len));
  } else {
    for (std::size_t i = 0; i < r.iov_count; ++i) {
      if (r.iov[i].iov_len)
        std::memcpy(to, r.iov[i].iov_base, r.iov[i].iov_len);
      to += r.iov[i].iov_len;
    }
    pn = outlet_.commit(p, len);
  }
  ++p.tx_next;
  p.tx_used += charge_of(r.len);
  ++counters_.sent;
  if (!op) {
    report_send(completers_, r.flags, r.context, r.len, handed_over(p));
    return true;
  }
  op->mn = f.mn;
  op->last_pn = pn;
  op->offset = r.len;
  sent(p, *op);
  return true;
}

ssize_t Messenger::no_tx() const { return tx_.taken() < tx_.limit() ? -FI_ENOMEM : -FI_EAGAIN; }

TxOp *Messenger::take_tx(Peer &p, const SendRequest &r) {
  TxOp *op = take_op(p, r.iov, r.iov_count, r.len, r.data, r.flags, r.context);
  if (op)
    op->tag = r.tag;
  return op;
}

TxOp *Messenger::take_op(Peer &p, const iovec *iov, std::size_t count, std::size_t len,
                         std::uint64_t data, std::uint64_t flags, void *context) {
  TxOp *op = traffic(p) ? tx_.take() : nullptr;
  if (!op)
    return nullptr;
  op->peer = &p;
  op->stage = TxStage::queued;
  op->memory.set(iov, count, len);
  op->owned = nullptr;
  op->flags = flags;
  op->data = data;
  op->context = context;
  op->offset = op->wanted = 0;
  op->receiver = wire::OpId::none;
  op->status = 0;
  op->remote = nullptr;
  op->adds = false;
  op->serves = false;
  op->bulk = false;
  op->connection = wire::FrameType::pad;
  return op;
}

bool Messenger::own_memory(TxOp &op) {
  if (op.memory.len == 0)
    return true;
  op.owned = new (std::nothrow) std::byte[op.memory.len];
  if (!op.owned)
    return false;
  op.memory.copy_out(0, op.owned, op.memory.len);
  const iovec all{op.owned, op.memory.len};
  op.memory.set(&all, 1, op.memory.len);
  return true;
}

ssize_t Messenger::enqueue(Peer &p, const SendRequest &r) {
  TxOp *op = take_tx(p, r);
  if (!op)
    return no_tx();
  if ((r.flags & FI_INJECT) && !own_memory(*op)) {
    release(*op);
    return -FI_ENOMEM;
  }
  Traffic &t = *p.traffic;
  t.pending.push_back(op);
  if (t.pending.front() == op && p.max_frames != 0)
    push(p);
  if (t.to_send())
    outlet_.want_push(p);
  return 0;
}

// Puts the operation where it waits for its end, or ends it.
void Messenger::sent(Peer &p, TxOp &op) {
  const bool may_fail = op.needs_no_receive() && !op.untold(); // at the peer, which tells
  if (op.untold() ? p.lossless : !may_fail && ends_when_handed_over(p, op.flags)) {
    end(op, handed_over(p));
    return;
  }
  op.stage = TxStage::waiting;
  Traffic &t = *p.traffic;
  if (may_fail || (op.flags & FI_DELIVERY_COMPLETE)) {
    t.awaiting_processed.push_back(&op);
    outlet_.await_told(p);
  } else {
    t.awaiting_ack.push_back(&op);
    outlet_.await_ack(p);
  }
}

void Messenger::release(TxOp &op) {
  delete[] op.owned;
  op.owned = nullptr;
  if (op.remote)
    remotes_.give(op.remote);
  (op.serves ? serving_ : tx_).give(&op);
}

void Messenger::end(TxOp &op, int error) {
  report_send(completers_, op.flags, op.context, op.memory.len, error);
  release(op);
}

// A message behind a large operation on the peer's memory (wire/protocol.md, section 8).
static bool held_back(const Traffic &t, const TxOp &op) {
  return t.bulk != 0 && !op.needs_no_receive() && op.stage == TxStage::queued;
}

// What an operation's start gives to data that wait: its own bytes, as far as it sends them itself.
static std::uint32_t share_of(const TxOp &op) {
  constexpr std::size_t frame = 32, most = 64 * 1024;
  return static_cast<std::uint32_t>(frame + std::min(op.memory.len, most));
}

bool Messenger::push(Peer &p) {
  if (!p.traffic)
    return false;
  Traffic &t = *p.traffic;
  if (p.max_frames == 0)
    return t.to_send();
  if (!flush_control(p))
    return true;
  bool starting = true;
  for (;;) {
    TxOp *const next = starting ? t.pending.front() : nullptr;
    if (t.streaming.empty())
      t.data_share = 0;
    if (next && t.data_share < p.max_frames) {
      const std::uint32_t share = share_of(*next); // it may be gone once it has started
      starting = start(p, *next);
      t.data_share += starting ? share : 0;
    } else if (t.streaming.empty()) {
      break;
    } else if (!stream(p)) {
      return true;
    }
  }
  return !t.pending.empty() && !held_back(t, *t.pending.front());
}

// Takes the operation off `pending` once it is wholly handed over or asked for.
bool Messenger::start(Peer &p, TxOp &op) {
  Traffic &t = *p.traffic;
  if (held_back(t, op))
    return false;
  if (op.stage == TxStage::queued && (op.flags & FI_FENCE)) {
    if (p.tx_processed != p.tx_next) {
      outlet_.want_probe(p);
      return false;
    }
    // The peer tells by itself when these end.
    if (!t.requested.empty() || !t.streaming.empty() || !t.streamed.empty() || !t.ended.empty())
      return false;
  }
  if (op.remote)
    return start_remote(p, op);
  if (op.adds)
    return send_add(p, op);
  if (op.connection != wire::FrameType::pad) [[unlikely]]
    return start_connection(p, op);
  if (op.stage == TxStage::partial)
    return send_parts(p, op);

  const std::uint32_t charge = charge_of(op.memory.len);
  switch (route(p, op.memory.len, op.flags, charge)) {
  case Route::rendezvous:
    return request(p, op);
  case Route::parts:
    return send_parts(p, op);
  case Route::whole:
    break;
  }
  const SendRequest r{.iov = op.memory.iov,
                      .iov_count = op.memory.count,
                      .len = op.memory.len,
                      .tag = op.tag,
                      .data = op.data,
                      .flags = op.flags,
                      .context = op.context};
  TxOp *keep = ends_when_handed_over(p, op.flags) ? nullptr : &op;
  t.pending.erase(&op);
  if (!send_whole(p, r, keep)) {
    t.pending.push_front(&op);
    return false;
  }
  if (!keep)
    release(op);
  return true;
}

// A message in several packets: its first part opens it, segments follow.
bool Messenger::send_parts(Peer &p, TxOp &op) {
  if (op.stage == TxStage::queued) {
    wire::MessageFrame f;
    f.tagged = op.flags & FI_TAGGED;
    f.flags = frame_flags(op.flags) | wire::frame_flag::more;
    f.tag = op.tag;
    f.data = op.data;
    f.total = op.memory.len;
    f.mn = p.tx_next;
    const std::size_t head = wire::size_of(f);
    f.len = static_cast<std::uint16_t>(p.max_frames - head);
    std::byte *out = outlet_.begin(p, p.max_frames);
    if (!out)
      return false;
    commit_part(p, op, wire::encode(out, f), head, f.len);
    op.mn = f.mn;
    op.stage = TxStage::partial;
    ++p.tx_next;
    p.tx_used += charge_of(op.memory.len);
    ++counters_.sent;
  }
  if (!send_segments(p, op))
    return false;
  p.traffic->pending.erase(&op);
  sent(p, op);
  return true;
}

bool Messenger::send_segments(Peer &p, TxOp &op) {
  constexpr std::size_t head = wire::segment_frame_size;
  // A message is wanted in its turn: its parts stay with what comes before and behind them.
  const Load load = op.remote ? Load::bulk : Load::any;
  while (op.offset < op.memory.len) {
    const std::size_t part = std::min<std::size_t>(op.memory.len - op.offset, p.max_frames - head);
    std::byte *out = outlet_.begin(p, static_cast<std::uint32_t>(head + part), load);
    if (!out)
      return false;
    wire::SegmentFrame s;
    s.len = static_cast<std::uint16_t>(part);
    s.mn = op.mn;
    s.offset = static_cast<std::uint32_t>(op.offset);
    commit_part(p, op, wire::encode(out, s), head, part);
  }
  return true;
}

// The next `n` bytes of the operation, behind what stands in `head` bytes of frame.
void Messenger::commit_part(Peer &p, TxOp &op, std::byte *out, std::size_t head, std::size_t n) {
  const std::uint32_t len = static_cast<std::uint32_t>(head + n);
  if (!op.remote && lends_memory(p, op.flags, op.memory.len)) {
    op.last_pn = outlet_.commit(p, len, &op, op.offset, static_cast<std::uint32_t>(n));
  } else {
    op.memory.copy_out(op.offset, out, n);
    op.last_pn = outlet_.commit(p, len);
  }
  op.offset += n;
}

void Messenger::note(Peer &p, MessageNumber processed, std::uint32_t credit_limit) {
  if (p.tx_processed < processed && processed <= p.tx_next)
    p.tx_processed = processed;
  if (static_cast<std::int32_t>(credit_limit - p.tx_limit) > 0)
    p.tx_limit = credit_limit;
}

void Messenger::settle(Peer &p) {
  if (!p.traffic)
    return;
  Traffic &t = *p.traffic;
  settle_failed(p);
  const PacketNumber acked = outlet_.acked(p);
  while (TxOp *op = t.awaiting_ack.front()) {
    if (!(op->last_pn < acked))
      break;
    t.awaiting_ack.erase(op);
    end(*op, 0);
  }
  while (TxOp *op = t.awaiting_processed.front()) {
    if (!(op->mn < p.tx_processed))
      break;
    t.awaiting_processed.erase(op);
    end(*op, op->status);
  }
  for (TxOp *op = t.ended.front(), *next; op; op = next) {
    next = t.ended.next(op);
    if (op->last_pn < acked) {
      t.ended.erase(op);
      end(*op, op->status);
    }
  }
}

} // namespace dpdkx::op
