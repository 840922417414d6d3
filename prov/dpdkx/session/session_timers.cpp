// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What happens when nothing comes: resends, acks that are due, and a peer that
// has fallen silent.
#include "dpdkx/session/session.h"

#include "dpdkx/session/handshake.h"
#include "dpdkx/session/window.h"

#include <algorithm>
#include <cerrno>

namespace dpdkx::session {

namespace {
constexpr int probes_before_death = 8; // counted in four bits
}

// Silence counts only while something is expected of the peer. On a lossless
// link the link itself tells when the peer has gone.
bool Session::waits() const { return waiting_ || in_flight(); }

// When a packet that doesn't get through, although the peer answers, is to be
// looked into: the path may have come to swallow packets of that size.
Time Session::stuck_at() const {
  const TxPacket *const first = window_ != nullptr ? window_->tx.first() : nullptr;
  if (first == nullptr || asking())
    return never;
  return std::max(first->first_sent_at, window_->asked_at) + gate_.params().peer_timeout / 4;
}

Time Session::silent_since() const { return std::max(heard_at_, waits_since_); }

void Session::set_waiting(bool waiting, Time now) {
  if (waiting && !waits())
    waits_since_ = now;
  waiting_ = waiting;
}

// Once in a spell of silence the time in which this side stood still doesn't count: where a whole
// job is stopped for a while, each side comes back to find the others silent.
void Session::excuse_silence() {
  const bool silent = waits() && gate_.stood_still(silent_since());
  const bool unanswered = asking() && gate_.stood_still(handshake_->started_at());
  if (excused_ || !(silent || unanswered))
    return;
  excused_ = true;
  waits_since_ = gate_.resumed_at();
  probes_ = 0;
  if (asking())
    handshake_->started_at(gate_.resumed_at());
}

bool Session::probe_due(Time now) {
  if (lossless_ || !waiting_ || in_flight() || state_ != State::established || unproven_)
    return false;
  const Duration step = gate_.params().peer_timeout / probes_before_death;
  if (now < silent_since() + step * (probes_ + 1))
    return false;
  probes_ = static_cast<std::uint8_t>(
      std::min<std::int64_t>((now - silent_since()) / step, probes_before_death));
  return true;
}

Time Session::deadline() const {
  if (state_ == State::dead)
    return never;
  Time t = never;
  if (handshake_ != nullptr) {
    t = handshake_->welcome_owed() ? Time::min()
                                   : std::min(handshake_->due_at(), handshake_->ask_at());
    if (!lossless_ && asking())
      t = std::min(t, handshake_->started_at() + gate_.params().peer_timeout);
  }
  if (state_ != State::established)
    return t;
  if (ack_requested_)
    return Time::min();
  if (lossless_)
    return t;
  const Params &p = gate_.params();
  if (window_ != nullptr) {
    if (window_->ack.packets != 0)
      t = std::min(t, window_->ack.due_at);
    if (window_->tx.next_resend(congestion_.window()) != nullptr)
      return Time::min();
    t = std::min({t, window_->tx.deadline(rtt_, p), stuck_at()});
  }
  if (waits()) {
    const bool probes = !in_flight() && !unproven_; // as probe_due() says
    const Duration step = p.peer_timeout / probes_before_death;
    t = std::min(t, silent_since() + (probes ? step * (probes_ + 1) : p.peer_timeout));
  }
  return t;
}

void Session::on_time(Time now) {
  if (state_ == State::dead || lossless_)
    return;
  const Params &p = gate_.params();
  gate_.timers_run(now);
  excuse_silence();
  if (asking() && now >= handshake_->started_at() + p.peer_timeout) {
    // Packets with our token are as good an answer to "do you know me?" as a welcome.
    if (state_ != State::established || unproven_ || heard_at_ < handshake_->started_at())
      return fail(-ETIMEDOUT);
    end_handshake();
  }
  if (state_ != State::established)
    return;
  if (waits() && now >= silent_since() + p.peer_timeout)
    return fail(-ETIMEDOUT);
  if (now >= stuck_at()) {
    window_->asked_at = now;
    ask(now);
  }
  if (window_ != nullptr && window_->tx.on_time(rtt_, p, window_->round, now))
    congestion_.on_timeout(p, window_->round, now);
}

} // namespace dpdkx::session
