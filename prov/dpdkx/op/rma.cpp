// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Reads, writes and atomics of ours on a peer's memory. Each takes a message
// number, and the peer executes it in that order. What it has no fault to find
// with ends with the processed position; a large write goes by rendezvous, and a
// read ends when its bytes are here.
#include "dpdkx/op/messenger.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace dpdkx::op {

TxOp *Messenger::take_remote(Peer &p, const iovec *iov, std::size_t count, std::size_t len,
                             const fi_rma_iov *targets, std::size_t target_count,
                             std::uint64_t data, std::uint64_t flags, void *context) {
  TxOp *op = take_op(p, iov, count, len, data, flags, context);
  if (!op)
    return nullptr;
  op->remote = remotes_.take();
  if (!op->remote) {
    release(*op);
    return nullptr;
  }
  wire::Targets &to = op->remote->targets;
  to.count = static_cast<std::uint8_t>(target_count);
  for (std::size_t i = 0; i < target_count; ++i)
    to.at[i] = {targets[i].addr, targets[i].len, targets[i].key};
  return op;
}

ssize_t Messenger::rma(Peer &p, const RmaRequest &r) {
  if (completers_.tx_cq && !completers_.tx_cq->room())
    return -FI_EAGAIN;
  TxOp *op = take_remote(p, r.iov, r.iov_count, r.len, r.targets, r.target_count, r.data, r.flags,
                         r.context);
  return op ? post_remote(p, *op) : no_tx();
}

ssize_t Messenger::atomic(Peer &p, const AtomicRequest &r) {
  if (completers_.tx_cq && !completers_.tx_cq->room())
    return -FI_EAGAIN;
  TxOp *op = take_remote(p, r.operand, r.operand_count, r.len, r.targets, r.target_count, r.data,
                         r.flags, r.context);
  if (!op)
    return no_tx();
  FarMemory &remote = *op->remote;
  remote.op = static_cast<std::uint8_t>(r.op);
  remote.datatype = static_cast<std::uint8_t>(r.datatype);
  remote.kind = !(r.flags & FI_READ) ? AtomicKind::plain
                : r.compare_count    ? AtomicKind::compare
                                     : AtomicKind::fetch;
  remote.compare.set(r.compare, r.compare_count, r.compare_count ? r.len : 0);
  remote.result.set(r.result, r.result_count, r.result_count ? r.len : 0);
  return post_remote(p, *op);
}

ssize_t Messenger::post_remote(Peer &p, TxOp &op) {
  Traffic &t = *p.traffic;
  const bool inject = op.flags & FI_INJECT;
  // One that leaves at once, whole, needs no copy of its memory.
  const bool at_once = p.max_frames != 0 && t.pending.empty() &&
                       op.memory.len + wire::max_write_frame_size <= p.max_frames;
  if (inject && !at_once && !own_memory(op)) {
    release(op);
    return -FI_ENOMEM;
  }
  t.pending.push_back(&op);
  if (t.pending.front() == &op && p.max_frames != 0)
    push(p);
  if (inject && at_once && t.pending.back() == &op && !own_memory(op)) {
    t.pending.erase(&op);
    release(op);
    return -FI_ENOMEM;
  }
  if (t.to_send())
    outlet_.want_push(p);
  return 0;
}

// Takes the operation off `pending` once it is wholly handed over or asked for.
bool Messenger::start_remote(Peer &p, TxOp &op) {
  if (!p.rma) {
    p.traffic->pending.erase(&op);
    end(op, FI_EOPNOTSUPP);
    return true;
  }
  if (op.flags & FI_ATOMIC)
    return send_atomic(p, op);
  if (op.flags & FI_READ)
    return request_read(p, op);
  if (op.stage == TxStage::partial)
    return write_parts(p, op);
  wire::WriteFrame f;
  f.flags = frame_flags(op.flags);
  f.targets.count = op.remote->targets.count;
  if (op.memory.len + wire::size_of(f) <= p.max_frames)
    return write_whole(p, op);
  const std::size_t limit = rendezvous_above(p);
  return op.memory.len <= limit ? write_parts(p, op) : request_write(p, op);
}

bool Messenger::write_whole(Peer &p, TxOp &op) {
  wire::WriteFrame f;
  f.flags = frame_flags(op.flags);
  f.len = static_cast<std::uint16_t>(op.memory.len);
  f.mn = p.tx_next;
  f.data = op.data;
  f.targets = op.remote->targets;
  const std::uint32_t len = static_cast<std::uint32_t>(wire::size_of(f) + op.memory.len);
  std::byte *out = outlet_.begin(p, len);
  if (!out)
    return false;
  commit_part(p, op, wire::encode(out, f), len - op.memory.len, op.memory.len);
  op.mn = f.mn;
  ++p.tx_next;
  p.traffic->pending.erase(&op);
  sent(p, op);
  return true;
}

bool Messenger::write_parts(Peer &p, TxOp &op) {
  if (op.stage == TxStage::queued) {
    wire::WriteFrame f;
    f.flags = frame_flags(op.flags) | wire::frame_flag::more;
    f.mn = p.tx_next;
    f.data = op.data;
    f.targets = op.remote->targets;
    const std::size_t head = wire::size_of(f);
    f.len = static_cast<std::uint16_t>(p.max_frames - head);
    std::byte *out = outlet_.begin(p, p.max_frames, Load::bulk);
    if (!out)
      return false;
    commit_part(p, op, wire::encode(out, f), head, f.len);
    op.mn = f.mn;
    op.stage = TxStage::partial;
    ++p.tx_next;
  }
  if (!send_segments(p, op))
    return false;
  p.traffic->pending.erase(&op);
  sent(p, op);
  return true;
}

bool Messenger::request_write(Peer &p, TxOp &op) {
  wire::WriteRequestFrame f;
  f.flags = frame_flags(op.flags) & wire::frame_flag::cq_data;
  f.mn = p.tx_next;
  f.sender = static_cast<wire::OpId>(Slab<TxOp>::name(&op));
  f.data = op.data;
  f.targets = op.remote->targets;
  if (p.lossless && p.can_pull && limits_.pull) {
    f.flags |= wire::frame_flag::pull;
    f.regions = op.memory.regions(f.region);
  }
  if (!ask(p, op, f))
    return false;
  hold_messages(op);
  ++counters_.rendezvous;
  return true;
}

bool Messenger::request_read(Peer &p, TxOp &op) {
  wire::ReadFrame f;
  f.mn = p.tx_next;
  f.reader = reader_name(Slab<TxOp>::name(&op));
  f.targets = op.remote->targets;
  if (!ask(p, op, f))
    return false;
  if (op.memory.len + wire::rdata_frame_size > p.max_frames)
    hold_messages(op);
  return true;
}

// Whoever gets a message may count on what was posted before it: the write is there, the memory
// that was read may be used again.
void Messenger::hold_messages(TxOp &op) {
  op.bulk = true;
  ++op.peer->traffic->bulk;
}

void Messenger::let_messages_go(TxOp &op) {
  if (!std::exchange(op.bulk, false))
    return;
  Traffic &t = *op.peer->traffic;
  if (--t.bulk == 0 && !t.pending.empty())
    outlet_.want_push(*op.peer);
}

// In as many frames as it takes: each element is atomic by itself.
bool Messenger::send_atomic(Peer &p, TxOp &op) {
  const FarMemory &remote = *op.remote;
  const std::size_t copies = remote.kind == AtomicKind::compare ? 2 : 1;
  const std::size_t size = atomic_size(static_cast<fi_datatype>(remote.datatype));
  const bool answers = remote.kind != AtomicKind::plain;
  do {
    wire::AtomicFrame f;
    f.flags = frame_flags(op.flags);
    f.mn = p.tx_next;
    f.data = op.data;
    f.op = remote.op;
    f.datatype = remote.datatype;
    f.kind = static_cast<std::uint8_t>(remote.kind);
    f.offset = static_cast<std::uint32_t>(op.offset);
    f.targets.count = remote.targets.count;
    const std::size_t room = (p.max_frames - wire::size_of(f)) / copies / size * size;
    const std::size_t part = std::min<std::size_t>(op.memory.len - op.offset, room);
    if (op.offset + part < op.memory.len) // told once, with the last
      f.flags &= static_cast<std::uint8_t>(~wire::frame_flag::cq_data);
    f.len = static_cast<std::uint16_t>(part * copies);
    f.targets = slice(remote.targets, op.offset, part);
    if (answers)
      f.reader = reader_name(Slab<TxOp>::name(&op));
    const std::uint32_t len = static_cast<std::uint32_t>(wire::size_of(f) + f.len);
    std::byte *out = outlet_.begin(p, len);
    if (!out)
      return false;
    out = wire::encode(out, f);
    if (op.memory.copy_out(op.offset, out, part) < part) // FI_ATOMIC_READ has none
      std::memset(out, 0, part);
    remote.compare.copy_out(op.offset, out + part, part);
    op.last_pn = outlet_.commit(p, len);
    op.stage = TxStage::partial;
    op.mn = f.mn;
    op.offset += part;
    ++p.tx_next;
  } while (op.offset < op.memory.len);
  p.traffic->pending.erase(&op);
  if (answers) {
    op.stage = TxStage::requested;
    p.traffic->requested.push_back(&op);
  } else {
    sent(p, op);
  }
  return true;
}

// What was there comes back, in whatever order, each byte once.
bool Messenger::on_read_data(Peer &p, TxOp &op, const wire::RdataFrame &f) {
  const std::size_t len = op.memory.len;
  if (!(op.flags & FI_READ) || f.len == 0 || f.offset > len || f.len > len - f.offset ||
      f.len > len - op.wanted)
    return false;
  const Memory &to = op.flags & FI_ATOMIC ? op.remote->result : op.memory;
  to.copy_in(f.offset, f.payload, f.len);
  op.wanted += f.len;
  if (op.wanted == len && op.stage == TxStage::requested) {
    p.traffic->requested.erase(&op);
    let_messages_go(op);
    end(op, op.status);
  }
  return true;
}

bool Messenger::on_status(Peer &p, const wire::StatusFrame &f) {
  if (!p.traffic)
    return false;
  Traffic &t = *p.traffic;
  TxOp *op = t.awaiting_processed.front();
  while (op && op->mn < f.mn)
    op = t.awaiting_processed.next(op);
  if (!op)
    op = t.pending.front(); // the one that parts of have gone
  // An atomic in several frames has the number of its last.
  if (!op || !op->needs_no_receive() || op->stage == TxStage::queued)
    return false;
  if (op->status == 0)
    op->status = f.status;
  return true;
}

} // namespace dpdkx::op
