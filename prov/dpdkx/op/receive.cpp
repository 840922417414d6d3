// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Receives: posted, matched with what has already come, peeked at, claimed,
// cancelled; and how they end.
#include "dpdkx/base/room.h"
#include "dpdkx/op/messenger.h"

#include <algorithm>
#include <new>

namespace dpdkx::op {

// --- Posting

ssize_t Messenger::no_rx() const { return rx_.taken() < rx_.limit() ? -FI_ENOMEM : -FI_EAGAIN; }

RxOp *Messenger::take_rx(const ReceiveRequest &r) {
  RxOp *op = rx_.take();
  if (!op)
    return nullptr;
  op->tag = r.flags & FI_TAGGED ? r.tag : 0;
  op->ignore = r.flags & FI_TAGGED ? r.ignore : 0;
  op->src = r.src;
  op->memory.set(r.iov, r.iov_count, r.len);
  op->flags = r.flags;
  op->context = r.context;
  op->posted = op->spent = false;
  op->used = 0;
  op->landing = 0;
  return op;
}

ssize_t Messenger::receive(const ReceiveRequest &r) {
  if (completers_.rx_cq && !completers_.rx_cq->room())
    return -FI_EAGAIN;
  if (r.flags & (FI_PEEK | FI_CLAIM | FI_DISCARD)) [[unlikely]]
    return receive_special(r);
  RxOp *op = take_rx(r);
  if (!op)
    return no_rx();
  util_ext::Matcher &m = matcher(r.flags);
  while (!op->spent && m.unexpected_count()) {
    auto *u = static_cast<Unexpected *>(m.find_unexpected(op->tag, op->ignore, op->src));
    if (!u)
      break;
    m.remove(*u);
    const bool last = !(r.flags & FI_MULTI_RECV);
    attach(*op, *u);
    if (last)
      return 0;
  }
  if (op->spent) // a multi-receive that has been filled at once
    return 0;
  m.post(*op);
  op->posted = true;
  return 0;
}

// Where in the receive's memory the next message goes, and how much of it fits.
// Takes the receive out of matching once it takes no more.
Messenger::Place Messenger::claim_place(RxOp &op, std::uint64_t total) {
  Place place{op.used, std::min<std::uint64_t>(total, op.memory.len - op.used)};
  ++op.landing;
  op.used += place.room;
  // Without a minimum a buffer is full when it is, and not never.
  const std::size_t least = std::max<std::size_t>(min_multi_recv, 1);
  op.spent = !(op.flags & FI_MULTI_RECV) || op.memory.len - op.used < least;
  if (op.spent && op.posted) {
    matcher(op.flags).remove(op);
    op.posted = false;
  }
  return place;
}

// Gives an arrived message, taken out of matching, to a receive.
void Messenger::attach(RxOp &op, Unexpected &u) {
  const Place place = claim_place(op, u.total);
  Peer *peer = u.peer;
  switch (u.kind) {
  case UnexpectedKind::whole: {
    op.memory.copy_in(place.base, u.payload.get(), place.room);
    const Arrival a{u.total, place.room, u.flags, u.UnexpectedMessage::tag, u.data, place.base};
    const fi_addr_t src = u.src;
    give_back(peer, u.charge);
    give_unexpected(u);
    receive_done(op, peer, src, a, 0);
    return;
  }
  case UnexpectedKind::assembling: {
    // What has not come yet is overwritten when it comes.
    op.memory.copy_in(place.base, u.payload.get(), place.room);
    Landing &l = *u.landing;
    l.op = &op;
    l.unexpected = nullptr;
    l.base = place.base;
    l.wanted = place.room;
    give_unexpected(u);
    return;
  }
  case UnexpectedKind::request: {
    const std::unique_ptr<wire::RtsFrame> rts = std::move(u.rts);
    const std::uint64_t flags = u.flags;
    give_unexpected(u);
    land_request(op, *peer, *rts, flags, place);
    return;
  }
  }
}

// A receive meets a request to send.
void Messenger::land_request(RxOp &op, Peer &p, const wire::RtsFrame &f, std::uint64_t flags,
                             const Place &place) {
  Landing *l = traffic(p) ? landings_.take() : nullptr;
  if (!l) {
    send_fin(p, f.sender, FI_ENOMEM);
    receive_done(op, &p, p.addr, {f.total, 0, flags, f.tag, f.data, place.base}, FI_ENOMEM);
    return;
  }
  l->peer = &p;
  l->op = &op;
  l->unexpected = nullptr;
  l->pulling = false;
  l->base = place.base;
  l->mn = f.mn;
  l->total = f.total;
  l->wanted = place.room;
  l->received = 0;
  l->flags = flags;
  l->tag = f.tag;
  l->data = f.data;
  l->charge = 0;
  l->sender = f.sender;
  l->regions = f.flags & wire::frame_flag::pull ? f.regions : 0;
  std::copy_n(f.region, l->regions, l->region);
  l->remote = nullptr;
  l->status = 0;
  begin_rendezvous(*l);
}

// --- Peek, claim, discard

ssize_t Messenger::receive_special(const ReceiveRequest &r) {
  if (r.flags & FI_PEEK)
    return peek(r);
  return r.flags & FI_CLAIM ? receive_claimed(r) : -FI_EINVAL;
}

ssize_t Messenger::peek(const ReceiveRequest &r) {
  util_ext::Matcher &m = matcher(r.flags);
  const std::uint64_t kind = FI_RECV | (r.flags & (FI_MSG | FI_TAGGED));
  const bool tagged = r.flags & FI_TAGGED;
  auto *u = static_cast<Unexpected *>(
      m.find_unexpected(tagged ? r.tag : 0, tagged ? r.ignore : 0, r.src));
  util_ext::Cq *cq = completers_.rx_cq; // without one nobody is told, and yet it is done
  if (!u) {
    if (cq)
      cq->write_error({.entry = {.op_context = r.context, .flags = kind, .tag = r.tag},
                       .err = FI_ENOMSG,
                       .prov_errno = FI_ENOMSG});
    return 0;
  }
  if ((r.flags & FI_CLAIM) && !make_room(claimed_, claimed_.size() + 1))
    return -FI_ENOMEM;
  if (cq)
    cq->write({.op_context = r.context,
               .flags = FI_RECV | u->flags,
               .len = u->total,
               .data = u->data,
               .tag = u->tag,
               .src = completers_.name_of(u->src)});
  if (r.flags & FI_DISCARD) {
    m.remove(*u);
    discard(*u);
  } else if (r.flags & FI_CLAIM) {
    m.remove(*u);
    u->claimant = r.context;
    claimed_.push_back(u);
  }
  return 0;
}

ssize_t Messenger::receive_claimed(const ReceiveRequest &r) {
  const auto at = std::find_if(claimed_.begin(), claimed_.end(), [&](const Unexpected *u) {
    return u->claimant == r.context && ((u->flags ^ r.flags) & FI_TAGGED) == 0;
  });
  if (at == claimed_.end())
    return -FI_EINVAL;
  Unexpected *u = *at;
  if (r.flags & FI_DISCARD) {
    claimed_.erase(at);
    if ((r.flags & FI_COMPLETION) && completers_.rx_cq)
      completers_.rx_cq->write({.op_context = r.context,
                                .flags = FI_RECV | u->flags,
                                .data = u->data,
                                .tag = u->tag,
                                .src = completers_.name_of(u->src)});
    discard(*u);
    return 0;
  }
  RxOp *op = take_rx(r);
  if (!op)
    return no_rx();
  op->flags &= ~FI_MULTI_RECV;
  claimed_.erase(at);
  attach(*op, *u);
  return 0;
}

// Drops an arrived message, taken out of matching: its sender sees it received.
void Messenger::discard(Unexpected &u) {
  switch (u.kind) {
  case UnexpectedKind::whole:
    give_back(u.peer, u.charge);
    break;
  case UnexpectedKind::assembling: // the rest of it still comes
    u.landing->unexpected = nullptr;
    break;
  case UnexpectedKind::request:
    send_fin(*u.peer, u.rts->sender, 0);
    break;
  }
  give_unexpected(u);
}

Unexpected *Messenger::take_unexpected(Peer &p, std::uint64_t flags, std::uint64_t tag,
                                       std::uint64_t data, std::uint64_t total,
                                       std::uint32_t charge) {
  Unexpected *u = free_unexpected_;
  if (u)
    free_unexpected_ = u->free_next;
  else
    u = new (std::nothrow) Unexpected;
  // Requests (no charge) bring no payload.
  if (u && charge)
    u->payload.reset(new (std::nothrow) std::byte[total ? total : 1]);
  if (!u || (charge && !u->payload)) {
    delete u;
    outlet_.out_of_memory(p);
    return nullptr;
  }
  u->kind = UnexpectedKind::whole;
  u->peer = &p;
  u->src = p.addr;
  u->flags = flags;
  u->tag = tag;
  u->data = data;
  u->total = total;
  u->charge = charge;
  u->landing = nullptr;
  u->claimant = nullptr;
  ++counters_.unexpected;
  return u;
}

void Messenger::give_unexpected(Unexpected &u) {
  u.payload.reset();
  u.rts.reset();
  u.free_next = free_unexpected_;
  free_unexpected_ = &u;
}

// --- Ending

void Messenger::report_receive(const RxOp &op, const Peer *p, fi_addr_t src, const Arrival &a,
                               int error, bool last) {
  util_ext::Completion entry{.op_context = op.context,
                             .flags = FI_RECV | a.flags,
                             .len = a.placed,
                             .buf = nullptr,
                             .data = a.data,
                             .tag = a.tag,
                             .src = completers_.name_of(src)};
  if (op.flags & FI_MULTI_RECV) {
    entry.buf = static_cast<std::byte *>(op.memory.iov[0].iov_base) + a.base;
    if (last)
      entry.flags |= FI_MULTI_RECV;
  } else if (op.memory.count) {
    entry.buf = op.memory.iov[0].iov_base;
  }
  const std::size_t over = a.total - a.placed;
  if (error == 0 && over)
    error = FI_ETRUNC;
  std::byte room[32];
  std::span<const std::byte> raw = a.raw_source;
  if (error == 0 && completers_.source_err && src == FI_ADDR_NOTAVAIL && (p || !raw.empty())) {
    error = FI_EADDRNOTAVAIL;
    if (p)
      raw = {room, outlet_.raw_address(*p, room)};
  } else {
    raw = {};
  }
  util_ext::Cntr *cntr = completers_.rx_cntr;
  if (error == 0) {
    // That a multi-receive buffer is free again is told even if nothing else is.
    if (((op.flags & FI_COMPLETION) || (entry.flags & FI_MULTI_RECV)) && completers_.rx_cq)
      completers_.rx_cq->write(entry);
    if (cntr)
      cntr->add(1);
    return;
  }
  if (completers_.rx_cq)
    completers_.rx_cq->write_error({.entry = entry,
                                    .olen = error == FI_ETRUNC ? over : 0,
                                    .err = error,
                                    .prov_errno = error,
                                    .err_data = raw.empty() ? nullptr : raw.data(),
                                    .err_data_size = raw.size()});
  if (cntr)
    cntr->add_error(1);
}

void Messenger::receive_done(RxOp &op, const Peer *p, fi_addr_t src, const Arrival &a, int error) {
  --op.landing;
  const bool last = op.spent && op.landing == 0;
  report_receive(op, p, src, a, error, last);
  if (last)
    rx_.give(&op);
}

int Messenger::cancel(const void *context) {
  RxOp *found = nullptr;
  for (util_ext::Matcher *m : {&tagged_, &untagged_})
    m->for_each_posted([&](util_ext::PostedReceive &r) {
      auto &op = static_cast<RxOp &>(r);
      if (!found && op.context == context)
        found = &op;
    });
  if (found) {
    matcher(found->flags).remove(*found);
    found->posted = false;
    found->spent = true;
    if (found->landing == 0) { // else the last message on its way in releases it
      report_receive(*found, nullptr, FI_ADDR_NOTAVAIL,
                     {0, 0, found->flags & (FI_MSG | FI_TAGGED), 0, 0, 0}, FI_ECANCELED, true);
      rx_.give(found);
    }
    return 0;
  }
  TxOp *send = nullptr;
  tx_.for_each_taken([&](TxOp &op) {
    if (!send && op.stage == TxStage::queued && op.context == context && !op.owned)
      send = &op;
  });
  if (!send)
    return -FI_ENOENT;
  send->peer->traffic->pending.erase(send);
  end(*send, FI_ECANCELED);
  return 0;
}

} // namespace dpdkx::op
