// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The loop: what has come in, timers, what may go out, acks, off they go.
#include "dpdkx/engine/impl.h"

#include <algorithm>

namespace dpdkx::engine {

namespace {
// With local peers only, nothing is timed closely: the clock is read rarely.
constexpr std::uint32_t turns_per_clock = 32;
// What is overdue waits so long for a link that refuses everything, and tells when it doesn't.
constexpr Duration while_blocked = std::chrono::milliseconds(10);
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
  if (!listeners_.empty())
    work += listen();
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
  return work + !doomed_.empty(); // what is left to bury, the next turn does
}

void Endpoint::Impl::poll_paths(Attachment &a) {
  while (const unsigned n = a.port->poll_events(events_.data(), events_.size(), now_))
    [[unlikely]] for (unsigned i = 0; i < n; ++i) on_path_event(a, events_[i]);
}

unsigned Endpoint::Impl::poll(Attachment &a) {
  poll_paths(a);
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
  while (Conn *const c = timers_.due(now_)) {
    timers_.remove(*c);
    ++work;
    on_time(*c);
  }
  if (timers_.missed(now_)) [[unlikely]]
    conns_.for_each([&](Conn &c) {
      if (!c.doomed && due(c) <= now_) {
        ++work;
        on_time(c);
      } else {
        look_again(c);
      }
    });
  return work;
}

void Endpoint::Impl::on_time(Conn &c) {
  if ((c.partner && connecting_->give_up_at <= now_) || done_with_at(c) <= now_) {
    hang_up(c, ETIMEDOUT);
    return;
  }
  if (c.dialling && dialling_[&c].retry_at <= now_) {
    redial(c);
    return;
  }
  c.session.on_time(now_);
  if (c.session.state() == session::State::dead) {
    doom(c, -c.session.error());
    return;
  }
  if (c.path_up)
    send_control(c);
  if (config_.check && !c.opened) [[unlikely]]
    inquire(c);
  resend(c);
  if (c.session.probe_due(now_)) {
    c.probe = true;
    send_ack(c);
  } else if (c.session.ack_due(now_)) {
    send_ack(c);
  }
  look_again(c);
}

Time Endpoint::Impl::due(const Conn &c) const {
  const Time give_up_at = c.partner ? connecting_->give_up_at : never;
  if (c.lossless && c.opened)
    return give_up_at; // death is the link's to tell, and nothing else is timed
  return std::min({c.session.deadline(), c.dialling ? dialling_.at(&c).retry_at : never, give_up_at,
                   done_with_at(c), inquiry_due(c)});
}

// Sessions whose operations found no room, or have become ready.
unsigned Endpoint::Impl::run_pushes() {
  unsigned work = 0;
  round_.swap(pushes_);
  round_.drain(conns_, [&](Conn &c) {
    if (!c.in_push)
      return;
    c.in_push = false;
    if (c.doomed)
      return;
    const MessageNumber before = c.tx_next;
    if (messenger_.push(c))
      want_push(c);
    work += c.tx_next != before;
    messenger_.tidy(c);
    look_again(c);
  });
  return work;
}

void Endpoint::Impl::run_acks() {
  close_open(); // its ack may ride there
  round_.swap(acks_);
  round_.drain(conns_, [this](Conn &c) {
    c.ack_listed = false;
    if (!c.opened)
      c.in_ack = false;
    if (!c.in_ack || c.doomed)
      return;
    send_ack(c);
    if (c.in_ack) // no room
      list_ack(c);
  });
}

bool Endpoint::Impl::can_send() const {
  const auto may_leave = [](const Conn &c) {
    return (c.in_push || c.ack_listed) && !c.port->blocked();
  };
  return pushes_.any(conns_, may_leave) || acks_.any(conns_, may_leave);
}

// A session's next deadline has changed, or the session has come to its end.
void Endpoint::Impl::look_again(Conn &c) {
  if (c.doomed)
    return;
  if (c.session.state() == session::State::dead) {
    doom(c, -c.session.error());
    return;
  }
  if (!c.lossless)
    c.session.set_waiting((c.traffic && c.traffic->waits()) || c.partner, now_);
  else if (c.opened && !c.partner) {
    timers_.remove(c);
    return;
  }
  Time next = due(c);
  // Never at once: what is overdue now is so for want of room, in the next turn too.
  if (next <= now_) [[unlikely]]
    next = now_ + (c.port->blocked() ? while_blocked : Duration(1));
  timers_.at_latest(c, next);
}

// What has been processed, for who shares memory with us.
void Endpoint::Impl::run_tellings() {
  tellings_.drain(conns_, [this](Conn &c) {
    const bool due = c.in_tell && !c.doomed && c.path != link::PathId::none;
    c.in_tell = false;
    if (!due)
      return;
    c.port->tell(c.path, telling(c.session.peer_token(), c.processed()));
    attachment(c).dirty = true;
  });
}

// Those that have answered, and are waited for no longer, go.
unsigned Endpoint::Impl::listen() {
  unsigned work = 0;
  listeners_.keep_if(conns_, [&](Conn &c) {
    if (!c.listens || c.doomed)
      return false;
    work += hear(c);
    c.listens = c.traffic && !c.traffic->awaiting_processed.empty();
    return c.listens;
  });
  return work;
}

void Endpoint::Impl::finish() {
  if (!tellings_.empty())
    run_tellings();
  close_open();
  host_.flush();
  device_.flush();
  if (!serving_ && !doomed_.empty()) [[unlikely]]
    bury_doomed();
}

void Endpoint::Impl::bury_doomed() {
  if (!closed_)
    run_backlog(); // first what they have said
  WorkList later;
  while (!doomed_.empty()) { // burying one may doom another
    WorkList dying;
    dying.swap(doomed_);
    dying.drain(conns_, [&](Conn &c) {
      if (c.doomed && c.partner && lives_on())
        later.add(c);
      else if (c.doomed)
        bury(c);
    });
  }
  doomed_.swap(later);
}

} // namespace dpdkx::engine
