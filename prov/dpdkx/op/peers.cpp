// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Peers that come, go, and are forgotten.
#include "dpdkx/op/messenger.h"

#include <algorithm>
#include <new>

namespace dpdkx::op {

Messenger::Messenger(const Limits &limits, const Completers &completers, Outlet &outlet)
    : limits_(limits), completers_(completers), outlet_(outlet), own_receives_(limits.rx_size),
      tx_(limits.tx_size), landings_(SIZE_MAX), remotes_(SIZE_MAX), serving_(SIZE_MAX),
      adds_(SIZE_MAX) {
  own_receives_.join(completers);
}

Messenger::~Messenger() {
  receives_->leave(*this, completers_);
  for (Slab<TxOp> *slab : {&tx_, &serving_})
    slab->for_each_taken([](TxOp &op) { delete[] op.owned; });
}

void Messenger::share(Receives &receives) {
  receives_ = &receives;
  receives.join(completers_);
}

Traffic *Messenger::traffic(Peer &p) {
  if (p.traffic)
    return p.traffic.get();
  if (spare_traffic_)
    p.traffic = std::move(spare_traffic_);
  else
    p.traffic.reset(new (std::nothrow) Traffic);
  return p.traffic.get();
}

void Messenger::opened(Peer &p, const Opening &o) {
  p.tx_next = p.tx_processed = o.tx_first;
  p.rx_next = o.rx_first;
  p.tx_used = 0;
  p.tx_limit = o.tx_credit;
  p.rx_used = p.rx_released = 0;
  p.rx_window = p.rx_told = first_window_ = o.rx_credit;
  p.max_frames = o.max_frames;
  p.lossless = o.lossless;
  p.can_pull = o.can_pull;
  p.rma = o.rma;
  p.connects = o.connects;
  p.counts = o.counts;
  if (p.traffic && p.traffic->to_send())
    outlet_.want_push(p);
}

void Messenger::tidy(Peer &p) {
  if (!p.traffic || !p.traffic->idle())
    return;
  if (!spare_traffic_) {
    *p.traffic = {};
    spare_traffic_ = std::move(p.traffic);
  }
  p.traffic.reset();
}

void Messenger::source_known(Peer &p) {
  for (util_ext::Matcher *m : {&receives_->tagged, &receives_->untagged})
    m->for_each_unexpected([&](util_ext::UnexpectedMessage &message) {
      if (static_cast<Unexpected &>(message).peer == &p)
        m->set_source(message, p.addr);
    });
  for (Unexpected *u : receives_->claimed)
    if (u->peer == &p)
      u->src = p.addr;
}

void Messenger::hand_over(Peer &from, Peer &to) {
  if (!from.traffic || from.traffic->pending.empty())
    return;
  Traffic *const there = traffic(to);
  auto &pending = from.traffic->pending;
  for (TxOp *op = pending.front(), *next; op; op = next) {
    next = pending.next(op);
    if (op->stage != TxStage::queued)
      continue; // parts of it have gone by the old session: it ends with that
    pending.erase(op);
    op->peer = &to;
    if (there)
      there->pending.push_back(op);
    else
      end(*op, FI_ENOMEM);
  }
  if (there && there->to_send())
    outlet_.want_push(to);
}

std::size_t Messenger::promised() {
  std::size_t n = 0;
  tx_.for_each_taken([&](const TxOp &op) { n += !(op.flags & FI_COMPLETION); });
  return n;
}

bool Messenger::ends_connections() {
  bool any = false;
  serving_.for_each_taken([&](const TxOp &op) {
    any |= op.connection == wire::FrameType::shutdown || op.connection == wire::FrameType::reject;
  });
  return any;
}

template <class L> void Messenger::end_all(L &list, int error) {
  while (TxOp *op = list.pop_front()) {
    if (error && !op->serves)
      end(*op, error);
    else
      release(*op);
  }
}

// Messages half come in: their receives end.
void Messenger::fail_landings(Peer &p, int error) {
  Traffic &t = *p.traffic;
  t.receiving.splice_back(t.assemblies);
  while (Landing *l = t.receiving.pop_front()) {
    if (l->pulling)
      pulls_.erase(l);
    if (l->unexpected)
      l->unexpected->landing = nullptr; // fail_unexpected() takes it
    RxOp *op = l->op;
    if (l->remote) {
      give_write(*l);
      continue;
    }
    const std::uint64_t placed = std::min(l->received, l->wanted);
    const Arrival a{placed, placed, l->flags, l->tag, l->data, l->base};
    landings_.give(l);
    if (op && error)
      receive_done(*op, &p, p.addr, a, error);
    else if (op && --op->landing == 0 && op->spent)
      receives_->give(*op);
  }
}

// What has come whole stays; what can't be completed any more goes.
void Messenger::fail_unexpected(Peer &p) {
  const auto gone = [&](Unexpected &u) {
    if (u.peer != &p)
      return false;
    u.peer = nullptr;
    return u.kind != UnexpectedKind::whole;
  };
  for (util_ext::Matcher *m : {&receives_->tagged, &receives_->untagged})
    m->for_each_unexpected([&](util_ext::UnexpectedMessage &message) {
      auto &u = static_cast<Unexpected &>(message);
      if (!gone(u))
        return;
      m->remove(message);
      receives_->give(u);
    });
  std::erase_if(receives_->claimed, [&](Unexpected *u) {
    if (!gone(*u))
      return false;
    receives_->give(*u);
    return true;
  });
}

void Messenger::fail(Peer &p, int error) {
  release_window(p);
  p.max_frames = 0;
  if (p.traffic) {
    fail_landings(p, error);
    end_all(p.traffic->awaiting_ack, error);
    end_all(p.traffic->awaiting_processed, error);
    end_all(p.traffic->ended, error);
    end_all(p.traffic->streamed, error);
    end_all(p.traffic->streaming, error);
    end_all(p.traffic->requested, error);
    end_all(p.traffic->pending, error);
    while (ControlFrame *c = p.traffic->control.pop_front())
      delete c;
    while (HeldFrame *h = p.traffic->held.pop_front())
      delete h;
    while (WaitingAdd *a = p.traffic->adds.pop_front()) // what it was to follow has not come
      adds_.give(a);
    p.traffic.reset();
  }
  fail_unexpected(p);
}

void Messenger::abandon(Peer &p) { fail(p, 0); }

} // namespace dpdkx::op
