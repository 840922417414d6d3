// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Frames that have come in: messages in the order of their numbers, whatever
// order the packets came in; parts and data to their place.
#include "dpdkx/op/messenger.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace dpdkx::op {

bool Messenger::on_frame(Peer &p, const wire::Frame &f) {
  switch (f.type) {
  case wire::FrameType::message:
  case wire::FrameType::tagged:
    return in_turn(p, f.message.mn, f);
  case wire::FrameType::segment:
    return on_segment(p, f);
  case wire::FrameType::rts:
    return in_turn(p, f.rts.mn, f);
  case wire::FrameType::write:
    return in_turn(p, f.write.mn, f);
  case wire::FrameType::write_request:
    return in_turn(p, f.write_request.mn, f);
  case wire::FrameType::read:
    return in_turn(p, f.read.mn, f);
  case wire::FrameType::atomic:
    return in_turn(p, f.atomic.mn, f);
  case wire::FrameType::add:
    return in_turn(p, f.add.mn, f);
  case wire::FrameType::connect:
  case wire::FrameType::accept:
  case wire::FrameType::ready:
  case wire::FrameType::reject:
  case wire::FrameType::shutdown:
    return in_turn(p, f.connection.mn, f);
  case wire::FrameType::status:
    return on_status(p, f.status);
  case wire::FrameType::cts:
    return on_cts(p, f.cts);
  case wire::FrameType::rdata:
    return on_rdata(p, f.rdata);
  case wire::FrameType::fin:
    return on_fin(p, f.fin);
  case wire::FrameType::pad:
    return true;
  }
  return false;
}

// A message is not handed on before a write that was posted before it is whole, nor before an add
// that waits for parts.
static bool too_early(const Peer &p, wire::FrameType type) {
  if (!p.traffic || (p.traffic->arriving == 0 && p.traffic->adds.empty())) [[likely]]
    return false;
  const bool message = type == wire::FrameType::message || type == wire::FrameType::tagged ||
                       type == wire::FrameType::rts;
  return message && (p.traffic->arriving != 0 || p.traffic->adds_await_parts());
}

bool Messenger::in_turn(Peer &p, MessageNumber mn, const wire::Frame &f) {
  if (mn != p.rx_next || too_early(p, f.type)) [[unlikely]]
    return hold(p, mn, f);
  const bool good = execute(p, f);
  if (p.traffic && !p.traffic->held.empty()) [[unlikely]]
    drain_held(p);
  return good;
}

// Its turn has come. A frame that makes no sense has had it, too: what comes behind it goes on.
bool Messenger::execute(Peer &p, const wire::Frame &f) {
  if (p.stranger && !admit(p, f)) [[unlikely]]
    return false;
  if (f.type == wire::FrameType::message || f.type == wire::FrameType::tagged) [[likely]] {
    if (!affordable(p, f.message.total)) [[unlikely]] {
      outlet_.violation(p, "message beyond its credit");
      return false;
    }
    ++p.rx_next;
    execute(p, f.message);
    return true;
  }
  ++p.rx_next;
  switch (f.type) {
  case wire::FrameType::rts:
    execute(p, f.rts);
    return true;
  case wire::FrameType::write:
    return execute(p, f.write);
  case wire::FrameType::write_request:
    return execute(p, f.write_request);
  case wire::FrameType::read:
    return execute(p, f.read);
  case wire::FrameType::atomic:
    return execute(p, f.atomic);
  case wire::FrameType::add:
    return execute(p, f.add);
  case wire::FrameType::connect:
  case wire::FrameType::accept:
  case wire::FrameType::ready:
  case wire::FrameType::reject:
  case wire::FrameType::shutdown:
    outlet_.on_connection(p, f.connection);
    return true;
  default:
    return false;
  }
}

bool Messenger::on_segment(Peer &p, const wire::Frame &f) {
  Landing *const l = assembly(p, f.segment.mn);
  if (!l)
    return hold(p, f.segment.mn, f);
  const bool good = assemble(*l, f.segment.offset, f.segment.payload, f.segment.len);
  if (!p.traffic->held.empty()) [[unlikely]]
    drain_held(p);
  return good;
}

Landing *Messenger::assembly(Peer &p, MessageNumber mn) {
  if (!p.traffic)
    return nullptr;
  for (Landing *l = p.traffic->assemblies.front(); l; l = p.traffic->assemblies.next(l))
    if (l->mn == mn)
      return l;
  return nullptr;
}

// --- Messages in their turn

void Messenger::execute(Peer &p, const wire::MessageFrame &f) {
  util_ext::Matcher &m = f.tagged ? receives_->tagged : receives_->untagged;
  RxOp *op = p.deaf ? nullptr : static_cast<RxOp *>(m.find_posted(f.tag, p.addr));
  ++counters_.received;
  if (f.flags & wire::frame_flag::more)
    execute_parts(p, f, op);
  else
    execute_whole(p, f, op);
}

namespace {
std::uint64_t completion_flags(bool tagged, std::uint8_t frame_flags) {
  return (tagged ? FI_TAGGED : FI_MSG) |
         (frame_flags & wire::frame_flag::cq_data ? FI_REMOTE_CQ_DATA : 0);
}
} // namespace

void Messenger::execute_whole(Peer &p, const wire::MessageFrame &f, RxOp *op) {
  const std::uint32_t charge = charge_of(f.len);
  const std::uint64_t flags = completion_flags(f.tagged, f.flags);
  spend(p, charge);
  if (f.flags & wire::frame_flag::want_processed) {
    p.owes_processed = true;
    outlet_.want_told(p);
  }
  if (op) {
    const Place place = claim_place(*op, f.len);
    op->memory.copy_in(place.base, f.payload, place.room);
    give_back(&p, charge);
    receive_done(*op, &p, p.addr, {f.len, place.room, flags, f.tag, f.data, place.base}, 0);
    return;
  }
  Unexpected *u = take_unexpected(p, flags, f.tag, f.data, f.len, charge);
  if (!u)
    return;
  std::memcpy(u->payload.get(), f.payload, f.len);
  shelve(p, *u);
}

void Messenger::execute_parts(Peer &p, const wire::MessageFrame &f, RxOp *op) {
  const std::uint32_t charge = charge_of(f.total);
  const std::uint64_t flags = completion_flags(f.tagged, f.flags);
  spend(p, charge);
  Landing *l = traffic(p) ? landings_.take() : nullptr;
  if (!l) {
    outlet_.out_of_memory(p);
    return;
  }
  l->peer = &p;
  l->op = op;
  l->unexpected = nullptr;
  l->pulling = false;
  l->base = 0;
  l->mn = f.mn;
  l->total = l->wanted = f.total;
  l->received = 0;
  l->flags = flags;
  l->tag = f.tag;
  l->data = f.data;
  l->charge = charge;
  l->sender = wire::OpId::none;
  l->regions = 0;
  l->remote = nullptr;
  l->status = 0;
  if (op) {
    const Place place = claim_place(*op, f.total);
    l->base = place.base;
    l->wanted = place.room;
  } else {
    l->unexpected = take_unexpected(p, flags, f.tag, f.data, f.total, charge);
    if (!l->unexpected) {
      landings_.give(l);
      return;
    }
    l->unexpected->kind = UnexpectedKind::assembling;
    l->unexpected->landing = l;
    shelve(p, *l->unexpected);
  }
  if (f.flags & wire::frame_flag::want_processed)
    p.owes_processed = true;
  p.traffic->assemblies.push_back(l);
  assemble(*l, 0, f.payload, f.len);
}

bool Messenger::assemble(Landing &l, std::uint64_t offset, const std::byte *from, std::size_t n) {
  if (offset > l.total || n > l.total - offset || l.received + n > l.total)
    return false;
  place(l, offset, from, n);
  l.received += n;
  if (l.received == l.total)
    assembled(l);
  return true;
}

void Messenger::place(Landing &l, std::uint64_t offset, const std::byte *from, std::size_t n) {
  if (l.unexpected)
    std::memcpy(l.unexpected->payload.get() + offset, from, n);
  else if (l.op && offset < l.wanted)
    l.op->memory.copy_in(l.base + offset, from, std::min<std::uint64_t>(n, l.wanted - offset));
  else if (l.remote && l.status == 0)
    l.status = put(*l.remote, offset, from, n);
}

void Messenger::assembled(Landing &l) {
  Peer &p = *l.peer;
  if (l.remote) {
    --p.traffic->arriving;
    written(l);
    if (l.status != 0) {
      tell_failed(l); // it stays until the peer knows
      settle_adds(p);
      return;
    }
  }
  p.traffic->assemblies.erase(&l);
  if (l.unexpected) {
    l.unexpected->kind = UnexpectedKind::whole;
    l.unexpected->landing = nullptr;
    landings_.give(&l);
  } else if (l.remote) {
    give_write(l);
  } else {
    give_back(&p, l.charge);
    RxOp *op = l.op; // null: discarded
    const Arrival a{l.total, l.wanted, l.flags, l.tag, l.data, l.base};
    landings_.give(&l);
    if (op)
      receive_done(*op, &p, p.addr, a, 0);
  }
  settle_adds(p);
  if (p.owes_processed) {
    outlet_.want_told(p);
    p.owes_processed = !p.traffic->assemblies.empty() || !p.traffic->adds.empty();
  }
}

void Messenger::execute(Peer &p, const wire::RtsFrame &f) {
  const bool tagged = f.flags & wire::frame_flag::tagged;
  const std::uint64_t flags = completion_flags(tagged, f.flags);
  util_ext::Matcher &m = tagged ? receives_->tagged : receives_->untagged;
  ++counters_.received;
  // It may be one that would have been sent at once, had there been credit.
  if (f.total <= rendezvous_above(p))
    grow_window(p);
  auto *const op = p.deaf ? nullptr : static_cast<RxOp *>(m.find_posted(f.tag, p.addr));
  if (op) {
    land_request(*op, p, f, flags, claim_place(*op, f.total));
    return;
  }
  Unexpected *u = take_unexpected(p, flags, f.tag, f.data, f.total, 0);
  if (!u)
    return;
  u->kind = UnexpectedKind::request;
  u->rts.reset(new (std::nothrow) wire::RtsFrame(f));
  if (!u->rts) {
    receives_->give(*u);
    outlet_.out_of_memory(p);
    return;
  }
  shelve(p, *u);
}

// --- Frames before their turn

namespace {
struct Payload {
  const std::byte **payload = nullptr; // null: the frame has none
  std::size_t len = 0;
};
Payload payload_of(wire::Frame &f) {
  switch (f.type) {
  case wire::FrameType::segment:
    return {&f.segment.payload, f.segment.len};
  case wire::FrameType::message:
  case wire::FrameType::tagged:
    return {&f.message.payload, f.message.len};
  case wire::FrameType::write:
    return {&f.write.payload, f.write.len};
  case wire::FrameType::atomic:
    return {&f.atomic.payload, f.atomic.len};
  case wire::FrameType::connect:
  case wire::FrameType::accept:
  case wire::FrameType::reject:
    return {&f.connection.payload, f.connection.len};
  default:
    return {nullptr, 0};
  }
}
} // namespace

// Keeps a copy. The session's window bounds how many there can be. On a link
// that keeps order there is no such frame.
bool Messenger::hold(Peer &p, MessageNumber mn, const wire::Frame &f) {
  if (mn < p.rx_next || p.lossless)
    return false;
  const bool segment = f.type == wire::FrameType::segment;
  Traffic *const t = traffic(p);
  std::unique_ptr<HeldFrame> h(t ? new (std::nothrow) HeldFrame{{}, mn, f, nullptr} : nullptr);
  const Payload of = h ? payload_of(h->frame) : Payload{};
  if (h)
    h->payload.reset(new (std::nothrow) std::byte[of.len]);
  if (!h || !h->payload) {
    outlet_.out_of_memory(p);
    return true;
  }
  if (of.payload) {
    std::memcpy(h->payload.get(), *of.payload, of.len);
    *of.payload = h->payload.get();
  }
  // In order of number; what opens a message before its segments.
  auto &held = t->held;
  HeldFrame *at = held.front();
  while (at && (at->mn < mn || (at->mn == mn && segment)))
    at = held.next(at);
  held.insert_before(at, h.release());
  return true;
}

void Messenger::drain_held(Peer &p) {
  auto &held = p.traffic->held;
  while (HeldFrame *h = held.front()) {
    const bool segment = h->frame.type == wire::FrameType::segment;
    if (segment ? h->mn >= p.rx_next : h->mn > p.rx_next || too_early(p, h->frame.type))
      return;
    held.erase(h);
    const std::unique_ptr<HeldFrame> owner(h);
    if (segment) {
      if (Landing *l = assembly(p, h->mn))
        assemble(*l, h->frame.segment.offset, h->frame.segment.payload, h->frame.segment.len);
    } else if (h->mn != p.rx_next) {
      // A number that the peer has used twice.
    } else if (!execute(p, h->frame) && h->mn == p.rx_next) {
      return; // a violation
    }
  }
}

} // namespace dpdkx::op
