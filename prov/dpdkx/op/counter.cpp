// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Additions to counters of peers, and theirs to counters here. Each takes a
// message number, and is applied in that order once all data before it are in
// place: it tells that they are.
#include "dpdkx/op/messenger.h"

namespace dpdkx::op {

// --- Ours

ssize_t Messenger::count(Peer &p, const CounterRequest &r) {
  if (completers_.tx_cq && !completers_.tx_cq->room())
    return -FI_EAGAIN;
  TxOp *op = take_op(p, nullptr, 0, 0, r.value, r.flags, r.context);
  if (!op)
    return no_tx();
  op->adds = true;
  op->tag = r.key;
  return post_remote(p, *op);
}

bool Messenger::send_add(Peer &p, TxOp &op) {
  if (!p.counts) {
    p.traffic->pending.erase(&op);
    end(op, FI_EOPNOTSUPP);
    return true;
  }
  wire::AddFrame f;
  f.flags = op.untold() ? wire::frame_flag::untold : frame_flags(op.flags);
  f.mn = p.tx_next;
  f.key = op.tag;
  f.value = op.data;
  std::byte *out = outlet_.begin(p, wire::add_frame_size);
  if (!out)
    return false;
  wire::encode(out, f);
  op.last_pn = outlet_.commit(p, wire::add_frame_size);
  op.mn = f.mn;
  ++p.tx_next;
  p.traffic->pending.erase(&op);
  sent(p, op);
  return true;
}

// --- Theirs

bool Messenger::execute(Peer &p, const wire::AddFrame &f) {
  const bool untold = (f.flags & wire::frame_flag::untold) != 0;
  if (!untold)
    owe_processed(p, f.flags);
  if (!p.traffic || (p.traffic->adds.empty() && !p.traffic->data_before(f.mn))) [[likely]] {
    add(p, f.mn, f.key, f.value, untold);
    return true;
  }
  WaitingAdd *a = adds_.take();
  if (!a) {
    outlet_.out_of_memory(p);
    return true;
  }
  a->mn = f.mn;
  a->key = f.key;
  a->value = f.value;
  a->untold = untold;
  p.traffic->adds.push_back(a);
  return true;
}

void Messenger::add(Peer &p, MessageNumber mn, std::uint64_t key, std::uint64_t value,
                    bool untold) {
  int error = FI_ENOKEY;
  if (!(completers_.remote_rights & FI_REMOTE_WRITE))
    error = FI_EACCES;
  else if (completers_.exported)
    error = -completers_.exported->add(key, value);
  if (error && !untold) [[unlikely]]
    tell_failed(p, mn, error);
}

// Data have landed, or left: those that have waited for it.
void Messenger::settle_adds(Peer &p) {
  Traffic *const t = p.traffic.get();
  if (!t || t->adds.empty()) [[likely]]
    return;
  while (WaitingAdd *a = t->adds.front()) {
    if (t->data_before(a->mn))
      return;
    t->adds.pop_front();
    const WaitingAdd due = *a;
    adds_.give(a);
    add(p, due.mn, due.key, due.value, due.untold);
    if (!due.untold)
      outlet_.want_told(p);
  }
}

} // namespace dpdkx::op
