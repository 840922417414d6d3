// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// An established session's traffic. The handshake is in session_handshake.cpp,
// timers and liveness in session_timers.cpp.
#include "dpdkx/session/session.h"

#include "dpdkx/session/handshake.h"
#include "dpdkx/session/window.h"

#include <algorithm>

namespace dpdkx::session {

namespace {

// Acks are packets too: on a slow device a few of them cost as much as the data. A sender whose
// window is smaller asks for them.
constexpr std::uint32_t worth_joining = 16; // more gain little
// Time for the application to answer: the ack rides then.
constexpr Duration soon = std::chrono::microseconds(5);

// OwedAck::newest_at is not known for an ack that repeats an earlier one.
constexpr std::uint16_t delay_unknown = wire::AckBlock::delay_unknown;

std::uint16_t delay_field(Duration d) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(d).count();
  return static_cast<std::uint16_t>(std::clamp<std::int64_t>(us, 0, delay_unknown));
}

} // namespace

Session::Session(Gate &gate, wire::Token local, bool lossless, std::uint32_t max_datagram)
    : gate_(gate), local_token_(local), link_max_datagram_(max_datagram),
      max_datagram_(max_datagram), next_pn_{gate.first_number(local, 0)},
      congestion_(gate.params()), lossless_(lossless) {}

Session::~Session() {
  if (window_ != nullptr)
    gate_.windows().give_back(window_);
}

WindowState *Session::window() {
  if (window_ == nullptr)
    window_ = gate_.windows().take();
  return window_;
}

void Session::release_if_idle() {
  if (window_ != nullptr && window_->idle()) {
    gate_.windows().give_back(window_);
    window_ = nullptr;
  }
}

std::uint32_t Session::room() const {
  if (state_ != State::established || unproven_)
    return 0;
  const Params &p = gate_.params();
  if (lossless_)
    return p.window;
  const std::uint32_t allowed = std::min(congestion_.window(), p.window);
  if (window_ == nullptr)
    return allowed;
  const std::uint32_t used = window_->tx.in_network() + window_->tx.lost();
  const std::uint32_t span = window_->tx.span(next_pn_);
  if (used >= allowed || span >= p.window || (window_->filled && used > resumes_at(allowed)))
    return 0;
  return std::min(allowed - used, p.window - span);
}

// A window that has been full is filled again when so much of it is free that it is worth a joined
// frame; else acks would bring packets out as they have come in, by ones and twos.
std::uint32_t Session::resumes_at(std::uint32_t allowed) {
  return allowed - std::min(allowed / 2, worth_joining);
}

std::uint8_t Session::ask_for_ack() const {
  const std::uint32_t left = room();
  if (lossless_)
    return 0;
  return left == 1                          ? wire::packet_flag::ack_now
         : left == congestion_.window() / 2 ? wire::packet_flag::ack_soon
                                            : 0;
}

bool Session::in_flight() const { return window_ != nullptr && !window_->tx.empty(); }

PacketNumber Session::acked() const { return in_flight() ? window_->tx.oldest() : next_pn_; }

bool Session::sent(TxPacket *p, std::uint32_t bytes, Time now) {
  const PacketNumber pn = next_pn_++;
  if (lossless_)
    return true;
  if (!waits())
    waits_since_ = now;
  WindowState *const w = window();
  p->bytes = bytes;
  if (w == nullptr || !w->tx.sent(p, pn, now))
    return false;
  w->round.limited |= w->tx.in_network() >= congestion_.window();
  w->filled |= gate_.params().takes_joined && room() == 0;
  return true;
}

TxPacket *Session::next_resend(Time) {
  if (window_ == nullptr || state_ != State::established)
    return nullptr;
  return window_->tx.next_resend(congestion_.window());
}

void Session::resent(TxPacket *p, Time now) {
  window_->tx.resent(p, now);
  window_->round.limited |= window_->tx.in_network() >= congestion_.window();
  ++resends_;
}

TxPacket *Session::take_all() {
  if (window_ == nullptr)
    return nullptr;
  TxPacket *const all = window_->tx.take_all(next_pn_);
  release_if_idle();
  return all;
}

void Session::heard(Time now) {
  heard_at_ = now;
  probes_ = 0;
  excused_ = false;
  if (unproven_) {
    unproven_ = false;
    end_handshake();
  }
}

Accept Session::accept(PacketNumber pn, std::uint8_t flags, Time now) {
  if (state_ != State::established)
    return Accept::outside;
  heard(now);
  const std::int32_t ahead = pn - next_rx_;
  const bool ack_now = flags & wire::packet_flag::ack_now;
  if (lossless_) {
    ack_requested_ |= ack_now;
    if (ahead != 0)
      return ahead < 0 ? Accept::duplicate : Accept::outside;
    ++next_rx_;
    return Accept::fresh;
  }
  if (ahead < 0) {
    ack_requested_ = true; // the ack was lost, or is late
    return Accept::duplicate;
  }
  WindowState *const w = window();
  if (ahead >= static_cast<std::int32_t>(ReceiveWindow::size) || w == nullptr) {
    release_if_idle();
    return Accept::outside;
  }
  if (ahead != 0 && !w->rx.insert(next_rx_, pn)) {
    ack_requested_ = true;
    return Accept::duplicate;
  }
  // A hole that opens, is still open, or is being filled: the peer is to know at once.
  ack_requested_ |= ack_now || ahead != 0 || !w->rx.empty();
  if (ahead == 0)
    next_rx_ = w->rx.empty() ? pn + 1 : w->rx.advance(pn);
  w->ack.newest_at = now;
  if (w->ack.packets++ == 0)
    w->ack.due_at = now + rtt_.ack_delay(gate_.params());
  if (flags & wire::packet_flag::ack_soon)
    want_ack_soon(now);
  return Accept::fresh;
}

bool Session::want_ack_soon(Time now) {
  if (window_ == nullptr || window_->ack.packets == 0)
    return false;
  window_->ack.due_at = std::min(window_->ack.due_at, now + soon);
  return true;
}

void Session::on_ack(const wire::AckBlock &a, bool ecn_echo, Time now, AckSink &sink) {
  if (state_ != State::established)
    return;
  heard(now);
  if (window_ == nullptr)
    return;
  AckEvent event;
  event.ecn_echo = ecn_echo;
  const Params &p = gate_.params();
  if (!window_->tx.on_ack(a, next_pn_, rtt_, p, now, sink, window_->round, event) ||
      event.acked == 0)
    return;
  if (a.delay_us == delay_unknown)
    event.rtt = Duration::zero();
  if (event.rtt != Duration::zero()) {
    event.rtt = std::max(event.rtt - std::chrono::microseconds(a.delay_us), Duration(1));
    rtt_.add(event.rtt, now);
  }
  congestion_.on_ack(event, rtt_.base(), p, window_->round, now);
  if (window_->tx.in_network() + window_->tx.lost() <=
      resumes_at(std::min(congestion_.window(), p.window)))
    window_->filled = false;
  release_if_idle();
}

bool Session::ack_wanted() const {
  return ack_requested_ || (window_ != nullptr && window_->ack.packets != 0);
}

bool Session::ack_due(Time now) const {
  if (state_ != State::established)
    return false;
  return ack_requested_ ||
         (window_ != nullptr &&
          (window_->ack.packets >= gate_.params().packets_an_ack || window_->ack.due_at <= now));
}

void Session::fill(wire::AckBlock &out, Time now) const {
  out.cumulative = next_rx_;
  out.sack_words = 0;
  out.delay_us = delay_unknown;
  if (window_ == nullptr)
    return;
  window_->rx.fill(next_rx_, out);
  if (window_->ack.packets != 0)
    out.delay_us = delay_field(now - window_->ack.newest_at);
}

void Session::ack_sent(Time) {
  ack_requested_ = false;
  ecn_ = false;
  if (window_ == nullptr)
    return;
  window_->ack.packets = 0;
  window_->ack.due_at = never;
  release_if_idle();
}

} // namespace dpdkx::session
