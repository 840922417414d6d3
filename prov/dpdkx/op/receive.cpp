// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Messages that meet a receive, or wait for one, and how that ends. The receives
// themselves: receives.cpp.
#include "dpdkx/op/deferred.h"
#include "dpdkx/op/messenger.h"

#include <algorithm>
#include <new>

namespace dpdkx::op {

// Where in the receive's memory the next message goes, and how much of it fits.
// Takes the receive out of matching once it takes no more.
Messenger::Place Messenger::claim_place(RxOp &op, std::uint64_t total) {
  Place place{op.used, std::min<std::uint64_t>(total, op.memory.len - op.used)};
  ++op.landing;
  op.used += place.room;
  // Without a minimum a buffer is full when it is, and not never.
  const std::size_t least = std::max<std::size_t>(receives_->min_multi_recv, 1);
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
    receives_->give(u);
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
    receives_->give(u);
    return;
  }
  case UnexpectedKind::request: {
    const std::unique_ptr<wire::RtsFrame> rts = std::move(u.rts);
    const std::uint64_t flags = u.flags;
    receives_->give(u);
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

// Drops an arrived message, taken out of matching: its sender sees it received.
void Messenger::discard(Unexpected &u, int error) {
  switch (u.kind) {
  case UnexpectedKind::whole:
    give_back(u.peer, u.charge);
    break;
  case UnexpectedKind::assembling: // the rest of it still comes
    u.landing->unexpected = nullptr;
    break;
  case UnexpectedKind::request:
    send_fin(*u.peer, u.rts->sender, error);
    break;
  }
  receives_->give(u);
}

// Where it waits for a receive.
void Messenger::shelve(Peer &p, Unexpected &u) {
  if (p.deaf) [[unlikely]]
    discard(u, FI_ESHUTDOWN);
  else
    matcher(u.flags).add(u);
}

Unexpected *Messenger::take_unexpected(Peer &p, std::uint64_t flags, std::uint64_t tag,
                                       std::uint64_t data, std::uint64_t total,
                                       std::uint32_t charge) {
  Unexpected *u = receives_->take();
  // Requests (no charge) bring no payload.
  if (u && charge)
    u->payload.reset(new (std::nothrow) std::byte[total ? total : 1]);
  if (!u || (charge && !u->payload)) {
    if (u)
      receives_->give(*u);
    outlet_.out_of_memory(p);
    return nullptr;
  }
  u->kind = UnexpectedKind::whole;
  u->owner = this;
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

// --- Ending

void Messenger::report_receive(const RxOp &op, const Peer *p, fi_addr_t src, const Arrival &a,
                               int error, bool last) {
  std::byte room[32];
  std::span<const std::byte> raw;
  if (error == 0 && a.total == a.placed && completers_.source_err && src == FI_ADDR_NOTAVAIL &&
      (p || !a.raw_source.empty())) {
    error = FI_EADDRNOTAVAIL;
    raw = p ? std::span<const std::byte>(room, outlet_.raw_address(*p, room)) : a.raw_source;
  }
  dpdkx::op::report_receive(completers_, op, src, a, error, last, raw);
}

void Messenger::receive_done(RxOp &op, const Peer *p, fi_addr_t src, const Arrival &a, int error) {
  --op.landing;
  const bool last = op.spent && op.landing == 0;
  report_receive(op, p, src, a, error, last);
  if (last)
    receives_->give(op);
}

int Messenger::cancel(const void *context) {
  if (receives_ == &own_receives_ && own_receives_.cancel(context))
    return 0;
  TxOp *send = nullptr;
  tx_.for_each_taken([&](TxOp &op) {
    if (!send && op.stage == TxStage::queued && !op.owned &&
        Deferred::named(op.flags, op.context) == context)
      send = &op;
  });
  if (!send)
    return -FI_ENOENT;
  send->peer->traffic->pending.erase(send);
  end(*send, FI_ECANCELED);
  return 0;
}

} // namespace dpdkx::op
