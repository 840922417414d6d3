// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// One side of a handshake by hand: what an engine does with handshake packets,
// with the messages held by the test.
#pragma once

#include "dpdkx/session/session.h"

#include <memory>
#include <vector>

namespace side {

using namespace dpdkx;
using session::Session;
using wire::PacketType;

struct Message {
  PacketType type;
  wire::Token token = wire::Token::none; // of the header
  wire::Hello hello;
  wire::Challenge challenge;
};

struct Side {
  Side(std::uint16_t port, std::uint64_t seed, const session::Params &p = {},
       std::uint32_t max_datagram_ = 1472, bool lossless_ = false)
      : address(Address::v4(0x0a000001, port)), gate(p, address, seed), max_datagram(max_datagram_),
        lossless(lossless_) {
    renew();
  }
  void renew() {
    session = std::make_unique<Session>(gate, gate.draw_token(tokens++), lossless, max_datagram);
  }

  std::vector<Message> say(Time now) {
    std::vector<Message> out;
    while (const auto c = session->next_control(now))
      out.push_back({c->type, c->token, c->hello, {}});
    return out;
  }

  // What it answers. `from`: the other side.
  std::vector<Message> hear(const Message &m, const Side &from, Time now) {
    std::vector<Message> out;
    switch (m.type) {
    case PacketType::hello:
      out.push_back({PacketType::challenge,
                     wire::Token::none,
                     {},
                     gate.challenge(m.hello, from.address, max_datagram, now)});
      break;
    case PacketType::challenge:
      session->on_challenge(m.challenge, now);
      break;
    case PacketType::confirm:
      if (!gate.cookie_fits(m.hello, from.address, now) || gate.acceptable(m.hello) != 0)
        break;
      session->on_confirm(m.hello, now);
      if (session->state() == session::State::dead) {
        ++resets;
        renew();
        session->on_confirm(m.hello, now);
      }
      break;
    case PacketType::welcome:
      if (m.token == session->local_token())
        session->on_welcome(m.hello, now);
      break;
    default:
      break;
    }
    for (const Message &next : say(now))
      out.push_back(next);
    return out;
  }

  Address address;
  session::Gate gate;
  std::uint32_t max_datagram;
  bool lossless;
  std::uint32_t tokens = 0;
  unsigned resets = 0; // sessions that died of a confirm
  std::unique_ptr<Session> session;
};

// Delivers everything that `a` and `b` say, in order, until they are silent.
inline void talk(Side &a, Side &b, Time now, std::vector<Message> from_a = {},
                 std::vector<Message> from_b = {}) {
  for (const Message &m : a.say(now))
    from_a.push_back(m);
  for (const Message &m : b.say(now))
    from_b.push_back(m);
  while (!from_a.empty() || !from_b.empty()) {
    std::vector<Message> to_a, to_b;
    for (const Message &m : from_a)
      for (const Message &r : b.hear(m, a, now))
        to_a.push_back(r);
    for (const Message &m : from_b)
      for (const Message &r : a.hear(m, b, now))
        to_b.push_back(r);
    from_a = to_b, from_b = to_a;
  }
}

// `a` says hello, `b` challenges it: what `a` answers.
inline Message confirm_of(Side &a, Side &b, Time now) {
  a.session->open(now);
  const std::vector<Message> hello = a.say(now);
  return a.hear(b.hear(hello.at(0), a, now).at(0), b, now).at(0);
}

// `a` and `b` talk until they have a session, and `b` hears that `a` has it.
inline void talk_and_prove(Side &a, Side &b, Time now) {
  talk(a, b, now);
  b.session->heard(now);
}

// Somebody at the address of `a`'s peer, who may be `by`, doesn't know its token.
inline void reset_by(const Side &by, Side &a, Time now) {
  a.session->on_reset({a.session->peer_token(), by.gate.incarnation()}, now);
}

// A session of each, both knowing that the other is there.
inline void connect(Side &a, Side &b, Time now) {
  a.session->open(now);
  talk(a, b, now);
  a.session->ack_sent(now); // the ack that shows it
  b.session->heard(now);
}

// They have the same session, or the test is over.
inline bool paired(const Side &a, const Side &b) {
  return a.session->established() && b.session->established() &&
         a.session->peer_token() == b.session->local_token() &&
         b.session->peer_token() == a.session->local_token() &&
         a.session->peer_incarnation() == b.gate.incarnation() &&
         b.session->peer_incarnation() == a.gate.incarnation();
}

} // namespace side
