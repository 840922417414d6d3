// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The loop: what has come in, timers, what may go out, acks, off they go.
#include "dpdkx/engine/impl.h"

#include <algorithm>

namespace dpdkx::engine {

namespace {
// With local peers only, nothing is timed closely: the clock is read rarely.
constexpr std::uint32_t turns_per_clock = 32;
} // namespace

void Endpoint::Impl::refresh_clock() {
  if (lossy_conns_ == 0 && timers_.next() == never && ++turns_since_clock_ < turns_per_clock)
    return;
  read_clock();
}

void Endpoint::Impl::read_clock() {
  turns_since_clock_ = 0;
  now_ = std::max(now_, clock_.now());
}

unsigned Endpoint::Impl::turn() {
  refresh_clock();
  last_turn_ = now_;
  ++statistics_.turns;
  unsigned work = 0;
  if (!backlog_.empty() || !settle_later_.empty()) [[unlikely]]
    run_backlog();
  if (host_.port)
    work += poll(host_);
  if (device_.port)
    work += poll(device_);
  if (timers_.next() <= now_) [[unlikely]]
    work += run_timers();
  if (messenger_.stepping()) [[unlikely]]
    work += messenger_.step();
  if (!pushes_.empty())
    work += run_pushes();
  if (!acks_.empty())
    run_acks();
  finish();
  return work;
}

unsigned Endpoint::Impl::poll(Attachment &a) {
  while (const unsigned n = a.port->poll_events(events_.data(), events_.size(), now_))
    [[unlikely]] for (unsigned i = 0; i < n; ++i) on_path_event(a, events_[i]);

  const unsigned n = a.port->poll(burst_.data(), burst_.size());
  if (n == 0)
    return 0;
  for (unsigned i = 0; i < n; ++i)
    on_datagram(a, burst_[i]);
  a.port->release(burst_.data(), n);
  statistics_.rx_packets += n;
  return n;
}

unsigned Endpoint::Impl::run_timers() {
  unsigned work = 0;
  while (timers_.next() <= now_) {
    Conn &c = *timers_.first();
    timers_.remove(c);
    ++work;
    if (c.dialling && dialling_[&c].retry_at <= now_) {
      redial(c);
      continue;
    }
    c.session.on_time(now_);
    if (c.session.state() == session::State::dead) {
      doom(c, -c.session.error());
      continue;
    }
    if (c.path_up)
      send_control(c);
    resend(c);
    if (c.session.probe_due(now_)) {
      c.probe = true;
      send_ack(c);
    } else if (c.session.ack_due(now_)) {
      send_ack(c);
    }
    look_again(c);
  }
  return work;
}

// Sessions whose operations found no room, or have become ready.
unsigned Endpoint::Impl::run_pushes() {
  unsigned work = 0;
  round_.swap(pushes_);
  for (Conn *c : round_) {
    c->in_push = false;
    if (c->doomed)
      continue;
    const MessageNumber before = c->tx_next;
    if (messenger_.push(*c))
      want_push(*c);
    work += c->tx_next != before;
    op::Messenger::tidy(*c);
    look_again(*c);
  }
  round_.clear();
  return work;
}

void Endpoint::Impl::run_acks() {
  close_open(); // its ack may ride there
  for (Conn *c : acks_) {
    if (!c->opened)
      c->in_ack = false;
    if (c->in_ack && !c->doomed)
      send_ack(*c);
  }
  std::erase_if(acks_, [](const Conn *c) { return !c->in_ack; });
}

// A session's next deadline has changed.
void Endpoint::Impl::look_again(Conn &c) {
  if (c.doomed)
    return;
  if (!c.lossless)
    c.session.set_waiting(c.traffic && c.traffic->waits(), now_);
  else if (c.opened) {
    timers_.remove(c); // death is the link's to tell, and nothing else is timed
    return;
  }
  // Never at once: what is overdue now is so for want of room, in the next turn too.
  const Time retry = c.dialling ? dialling_[&c].retry_at : never;
  const Time due = std::min(c.session.deadline(), retry);
  timers_.at_latest(c, std::max(due, now_ + Duration(1)));
}

void Endpoint::Impl::finish() {
  close_open();
  for (Attachment *a : {&host_, &device_})
    if (a->dirty) {
      a->dirty = false;
      a->port->flush();
    }
  if (serving_)
    return;
  if (!doomed_.empty() && !closed_)
    run_backlog();           // first what they have said
  while (!doomed_.empty()) { // burying one may doom another
    Conn *c = doomed_.back();
    doomed_.pop_back();
    bury(*c);
  }
}

} // namespace dpdkx::engine
