// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How a session is set up, how two sides that open at once meet, and how a
// session finds out whether its peer is still the one it knew.
//
// Three rules keep old packets from doing harm:
// - An answer counts only in the attempt that it answers.
// - Of two lives of a peer the later one is known by its challenge's time.
// - A confirm shows that the peer was there some time in the last seconds, not
//   that it is there now. Until its first packet with our token comes in, the
//   session sends nothing and gives way to any other life ("unproven").
#include "dpdkx/session/session.h"

#include "dpdkx/session/handshake.h"
#include "dpdkx/session/window.h"

#include <algorithm>
#include <cerrno>
#include <new>

namespace dpdkx::session {

namespace {

constexpr std::uint32_t handshake_size =
    static_cast<std::uint32_t>(wire::packet_header_size + wire::hello_size);

std::uint32_t padding_for(std::uint32_t datagram) {
  const std::uint32_t padding = datagram > handshake_size ? datagram - handshake_size : 0;
  return padding < wire::extension_head_size ? 0 : padding;
}

} // namespace

MessageNumber Session::first_mn() const {
  return MessageNumber{gate_.first_number(local_token_, 1)};
}

bool Session::same_life(const wire::Hello &h) const {
  return h.incarnation == peer_incarnation_ && h.token == peer_token_;
}

wire::Incarnation Session::met() const {
  return handshake_ != nullptr ? handshake_->peer() : wire::Incarnation::none;
}

Duration Session::asked_for(Time now) const {
  return asking() ? now - handshake_->started_at() : Duration::zero();
}

bool Session::asking() const {
  return handshake_ != nullptr && handshake_->step() != Handshake::Step::resting;
}

Handshake *Session::handshake() {
  if (handshake_ == nullptr)
    handshake_.reset(new (std::nothrow) Handshake);
  return handshake_.get();
}

// Starts an attempt of our own.
void Session::ask(Time now) {
  Handshake *const h = handshake();
  if (h == nullptr)
    return fail(-ENOMEM);
  h->ask(static_cast<std::uint32_t>(gate_.draw()), now, gate_.params().initial_rto);
  h->ask_at(never);
  if (state_ != State::established)
    state_ = State::hello_sent;
}

// Our own asking is over; a welcome may still be owed.
void Session::end_handshake() {
  if (handshake_ == nullptr)
    return;
  if (!handshake_->welcome_owed())
    return handshake_.reset();
  handshake_->rest();
  handshake_->ask_at(never);
}

void Session::open(Time now) {
  if (state_ != State::idle)
    return;
  ask(now);
}

void Session::on_challenge(const wire::Challenge &c, Time now) {
  if (!asking() || c.attempt != handshake_->attempt() || c.peer_token != local_token_ ||
      c.peer_incarnation != gate_.incarnation())
    return;
  if (const int why = gate_.acceptable(c); why != 0)
    return fail(why);
  const Duration rtt = handshake_->on_challenge(c, link_max_datagram_, !lossless_, now);
  if (rtt != Duration::zero() && !rtt_.measured())
    rtt_.add(rtt, now);
  if (state_ != State::established)
    state_ = State::confirming;
}

void Session::adopt(const wire::Hello &h, Time known_at) {
  peer_incarnation_ = h.incarnation;
  peer_token_ = h.token;
  peer_known_at_ = known_at;
  peer_first_mn_ = h.first_mn;
  peer_first_credit_ = h.credit_limit;
  static_assert(wire::feature::known < 1 << 4, "peer_features_ has four bits");
  peer_features_ = h.features & wire::feature::known; // others mean nothing here
  next_rx_ = h.first_pn;
  max_datagram_ = std::min(link_max_datagram_, h.max_datagram);
  path_limited_ = false;
  state_ = State::established;
  limit_datagram(h);
}

// A padded packet shows what the path carries. Never more than before: a
// delayed one may have been sent before the path was found to carry less. Nor does anybody try
// less than all paths carry: frames might not fit.
void Session::limit_datagram(const wire::Hello &h) {
  const std::uint32_t carried = handshake_size + h.padding;
  if (h.padding == 0 || carried >= max_datagram_ || carried < wire::min_datagram)
    return;
  max_datagram_ = carried;
  path_limited_ = true;
  // What is under way can't be cut into smaller packets: it may have arrived.
  if (window_ != nullptr && window_->tx.largest(next_pn_) > carried)
    fail(-EMSGSIZE);
}

void Session::answer(const wire::Hello &confirm) {
  if (Handshake *const h = handshake()) // else: the peer asks again
    h->owe_welcome(confirm);
}

void Session::on_confirm(const wire::Hello &h, Time now) {
  if (state_ == State::dead || h.token == wire::Token::none)
    return;
  const Time known_at = Gate::issued_at(h.cookie);
  const bool known = state_ == State::established && same_life(h);
  if (known) {
    limit_datagram(h);
    if (state_ == State::dead)
      return;
    if (!unproven_)
      end_handshake(); // whatever we asked: the peer knows this session
  } else if (known_at <= peer_known_at_) {
    return; // of an earlier life, delayed
  } else if (state_ == State::established && !unproven_) {
    return fail(-ECONNRESET);
  } else {
    adopt(h, known_at);
    unproven_ = true;
  }
  answer(h);
  if (unproven_ && !asking() && handshake_ != nullptr)
    handshake_->ask_at(now + 4 * gate_.params().initial_rto);
}

void Session::on_welcome(const wire::Hello &h, Time now) {
  if (!asking() || handshake_->step() != Handshake::Step::confirm ||
      h.attempt != handshake_->attempt() || h.incarnation != handshake_->peer() ||
      h.peer_incarnation != gate_.incarnation() || h.token == wire::Token::none)
    return;
  if (const Duration rtt = handshake_->sample(now); rtt != Duration::zero() && !rtt_.measured())
    rtt_.add(rtt, now);
  if (state_ != State::established || (unproven_ && !same_life(h)))
    adopt(h, handshake_->challenged_at());
  else if (!same_life(h))
    return fail(-ECONNRESET);
  else
    limit_datagram(h);
  if (state_ == State::dead)
    return;
  heard(now);
  request_ack(); // shows the peer that its welcome came in
  end_handshake();
}

void Session::on_reset(const wire::Reset &r, Time now) {
  if (state_ == State::established && r.token == peer_token_ && !asking())
    ask(now);
}

Control Session::control(wire::PacketType type) const {
  const Params &p = gate_.params();
  Control c{type, wire::Token::none, {}};
  wire::Hello &h = c.hello;
  h.incarnation = gate_.incarnation();
  h.token = local_token_;
  h.attempt = handshake_->attempt();
  h.features = wire::feature::known;
  if (p.takes_joined && !lossless_)
    h.features |= wire::feature::joined;
  h.address = gate_.self();
  h.max_datagram = link_max_datagram_;
  h.credit_limit = p.first_credit;
  h.first_pn = PacketNumber{gate_.first_number(local_token_, 0)};
  h.first_mn = first_mn();
  h.key = p.key;
  h.bulk_port = lossless_ ? 0 : p.bulk_port;
  if (type == wire::PacketType::confirm) {
    h.peer_incarnation = handshake_->peer();
    h.cookie = handshake_->cookie();
    h.padding = padding_for(handshake_->size());
  } else if (type == wire::PacketType::welcome) {
    c.token = peer_token_;
    h.peer_incarnation = peer_incarnation_;
    h.attempt = handshake_->welcome_attempt();
    h.padding = std::min(handshake_->welcome_padding(), padding_for(link_max_datagram_));
  }
  return c;
}

std::optional<Control> Session::next_control(Time now) {
  if (handshake_ == nullptr)
    return std::nullopt;
  if (handshake_->welcome_owed()) {
    const Control c = control(wire::PacketType::welcome);
    handshake_->welcome_sent();
    if (!unproven_ && !asking())
      handshake_.reset();
    return c;
  }
  if (handshake_->ask_at() <= now)
    ask(now);
  if (now < handshake_->due_at())
    return std::nullopt;
  const Params &p = gate_.params();
  if (handshake_->exhausted(now, std::min(p.handshake_round, p.peer_timeout / 16)))
    ask(now);
  const bool hello = handshake_->step() == Handshake::Step::hello;
  const Control c = control(hello ? wire::PacketType::hello : wire::PacketType::confirm);
  // On a lossless link only a peer that doesn't look is not answering.
  handshake_->sent(now, lossless_ ? p.peer_timeout : p.max_rto);
  return c;
}

void Session::fail(int negative_errno) {
  if (state_ == State::dead)
    return;
  state_ = State::dead;
  error_ = static_cast<std::uint8_t>(-negative_errno);
  unproven_ = false;
  handshake_.reset();
}

} // namespace dpdkx::session
