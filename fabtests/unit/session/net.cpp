// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/session/net.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace net {

using namespace dpdkx::wire;

Address address_of(std::uint16_t port) { return Address::v4(0x0a000001, port); }

// --- Network

Network::Network(const Profile &p, std::uint64_t seed) : profile(p), random_(seed) {}

void Network::at(Time t, std::function<void()> what) {
  events_.push({std::max(t, now_), order_++, std::move(what)});
}

bool Network::run(Duration limit, const std::function<bool()> &done) {
  const Time end = now_ + limit;
  while (!done()) {
    if (events_.empty() || events_.top().at > end)
      return now_ = end, false;
    const auto what = std::move(const_cast<Event &>(events_.top()).what);
    now_ = events_.top().at;
    events_.pop();
    what();
  }
  return true;
}

void Network::through(PortQueue &q, std::size_t bytes, bool &marked, std::function<void()> then) {
  if (q.waiting >= profile.queue) {
    ++dropped;
    return;
  }
  marked |= q.waiting >= profile.mark_from;
  ++q.waiting;
  longest_queue = std::max(longest_queue, q.waiting);
  const auto takes =
      Duration(static_cast<std::int64_t>(static_cast<double>(bytes) * 8 / profile.gbit));
  q.free_at = std::max(q.free_at, now_) + takes;
  at(q.free_at, [&q, then = std::move(then)] {
    --q.waiting;
    then();
  });
}

void Network::send(std::uint16_t from, std::uint16_t to, Bytes bytes) {
  constexpr std::size_t below = 66; // preamble, gap, Ethernet, IP, UDP
  const std::size_t size = bytes.size() + below;
  auto marked = std::make_shared<bool>(false);
  through(out_[from], size, *marked,
          [this, to, from, size, marked, bytes = std::move(bytes)]() mutable {
            if ((drop && drop(bytes)) || chance(profile.loss) || bytes.size() > profile.mtu) {
              ++dropped;
              return;
            }
            Duration delay = profile.one_way;
            if (chance(profile.reorder))
              delay += profile.reorder_by;
            const int copies = chance(profile.duplicate) ? 2 : 1;
            if (chance(profile.corrupt)) {
              ++corrupted;
              bytes[random_() % bytes.size()] ^= std::byte{1} << random_() % 8;
            }
            for (int i = 0; i < copies; ++i)
              at(now_ + delay * (i + 1), [this, to, from, size, marked, bytes] {
                through(in_[to], size, *marked, [this, to, from, marked, bytes] {
                  ++delivered;
                  if (const auto n = nodes.find(to); n != nodes.end())
                    n->second->receive(from, bytes, *marked);
                });
              });
          });
}

// --- Node

Node::Node(Network &n, std::uint16_t port, const session::Params &p, std::uint64_t seed,
           std::uint32_t max_datagram, bool lossless)
    : gate(p, address_of(port), seed), net_(n), port_(port), max_datagram_(max_datagram),
      lossless_(lossless) {
  payload = std::min<std::uint32_t>(payload, max_datagram - 72);
  net_.nodes[port] = this;
}

Node::~Node() {
  if (const auto n = net_.nodes.find(port_); n != net_.nodes.end() && n->second == this)
    net_.nodes.erase(n);
}

void Node::renew(Peer &p) {
  p.session = std::make_unique<session::Session>(gate, gate.draw_token(tokens_++), lossless_,
                                                 max_datagram_);
}

Peer &Node::peer(std::uint16_t port) {
  Peer &p = peers_[port];
  if (p.session == nullptr) {
    p.port = port;
    renew(p);
  }
  return p;
}

void Node::send(std::uint16_t port, std::uint64_t payloads) {
  Peer &p = peer(port);
  p.to_send += payloads;
  p.session->open(net_.now());
  turn();
}

void Node::acked(session::TxPacket *packet) {
  ++acking_->acked;
  free_.push_back(static_cast<Kept *>(packet));
}

Peer *Node::by_token(Token t) {
  for (auto &[port, p] : peers_)
    if (p.session->local_token() == t)
      return &p;
  return nullptr;
}

void Node::put_body(std::uint16_t to, PacketType type, Token token, const Bytes &body) {
  Bytes d(packet_header_size);
  PacketHeader h;
  h.type = type;
  h.token = token;
  encode(d.data(), h);
  d.insert(d.end(), body.begin(), body.end());
  seal(d);
  net_.send(port_, to, std::move(d));
}

void Node::receive(std::uint16_t from, const Bytes &d, bool marked) {
  if (!answers)
    return;
  std::span<const std::byte> in(d);
  const auto h = decode_header(in);
  if (!h || !verify(d)) {
    ++malformed;
    return;
  }
  Hello hello;
  Challenge challenge;
  Reset reset;
  const Time now = net_.now();
  switch (h->type) {
  case PacketType::hello:
    if (!decode(in, hello))
      ++malformed;
    else {
      Bytes body(challenge_size);
      encode(body.data(), gate.challenge(hello, address_of(from), max_datagram_, now));
      put_body(from, PacketType::challenge, Token::none, body);
    }
    break;
  case PacketType::challenge:
    if (decode(in, challenge))
      if (Peer *p = by_token(challenge.peer_token))
        p->session->on_challenge(challenge, now);
    break;
  case PacketType::confirm:
    if (decode(in, hello) && gate.cookie_fits(hello, address_of(from), now) &&
        gate.acceptable(hello) == 0)
      on_confirm(from, hello);
    break;
  case PacketType::welcome:
    if (Peer *p = by_token(h->token); p && decode(in, hello))
      p->session->on_welcome(hello, now);
    break;
  case PacketType::reset:
    if (decode(in, reset))
      if (const auto p = peers_.find(from); p != peers_.end())
        p->second.session->on_reset(reset, now);
    break;
  default:
    if (Peer *p = by_token(h->token))
      on_packet(*p, *h, in, marked);
    else {
      ++unknown;
      Bytes body(reset_size);
      encode(body.data(), Reset{h->token, gate.incarnation()});
      put_body(from, PacketType::reset, Token::none, body);
    }
  }
  turn();
}

void Node::on_confirm(std::uint16_t from, const Hello &hello) {
  Peer &p = peer(from);
  p.session->on_confirm(hello, net_.now());
  if (p.session->state() == session::State::dead) {
    bury(p);
    p.session->on_confirm(hello, net_.now());
  }
}

void Node::on_packet(Peer &p, const PacketHeader &h, std::span<const std::byte> in, bool marked) {
  const Time now = net_.now();
  p.session->heard(now);
  if (marked)
    p.session->note_ecn();
  AckBlock a;
  if (h.flags & packet_flag::ack_block) {
    if (!decode_ack(in, a)) {
      ++malformed;
      return;
    }
    acking_ = &p;
    p.session->on_ack(a, h.flags & packet_flag::ecn_echo, now, *this);
  }
  if (h.type == PacketType::ack && h.flags & packet_flag::ack_now)
    p.session->request_ack();
  if (h.type != PacketType::data)
    return;
  const session::Accept got = p.session->accept(h.pn, h.flags, now);
  duplicates += got == session::Accept::duplicate;
  outside += got == session::Accept::outside;
  if (got != session::Accept::fresh)
    return;
  Frame f;
  while (decode_frame(in, f) == FrameResult::frame) {
    std::uint64_t number;
    std::memcpy(&number, f.message.payload, 8);
    if (number >= p.received.size())
      p.received.resize(number + 1);
    ++p.received[number];
    ++p.arrived;
  }
}

void Node::put(Peer &p, PacketHeader h, const Bytes *frames) {
  session::Session &s = *p.session;
  h.token = s.peer_token();
  Bytes d(packet_header_size + AckBlock::fixed_size + 8 * AckBlock::max_sack_words);
  std::byte *end = d.data() + packet_header_size;
  if (s.ack_wanted() || h.type == PacketType::ack) {
    AckBlock a{};
    s.fill(a, net_.now());
    if (frames != nullptr)
      a.sack_words = std::min<std::uint8_t>(a.sack_words, 4);
    if (s.ecn_echo())
      h.flags |= packet_flag::ecn_echo;
    s.ack_sent(net_.now());
    h.flags |= packet_flag::ack_block;
    end = encode(end, a);
  }
  encode(d.data(), h);
  d.resize(static_cast<std::size_t>(end - d.data()));
  if (frames != nullptr)
    d.insert(d.end(), frames->begin(), frames->end());
  seal(d);
  net_.send(port_, p.port, std::move(d));
}

void Node::bury(Peer &p) {
  p.died_of = p.session->error();
  for (session::TxPacket *t = p.session->take_all(); t != nullptr;) {
    session::TxPacket *const next = t->next;
    free_.push_back(static_cast<Kept *>(t));
    t = next;
  }
  renew(p);
  p.to_send = 0;
}

void Node::emit(Peer &p) {
  session::Session &s = *p.session;
  const Time now = net_.now();
  while (const auto c = s.next_control(now)) {
    Bytes body(hello_size + c->hello.padding);
    encode(body.data(), c->hello);
    put_body(p.port, c->type, c->token, body);
  }
  while (session::TxPacket *t = s.next_resend(now)) {
    PacketHeader h;
    h.pn = t->pn;
    put(p, h, &static_cast<Kept *>(t)->frames);
    s.resent(t, now);
  }
  while (p.to_send != 0 && s.room() != 0) {
    if (free_.empty()) {
      packets_.push_back(std::make_unique<Kept>());
      free_.push_back(packets_.back().get());
    }
    Kept *const k = free_.back();
    free_.pop_back();
    const std::uint32_t most = s.max_datagram() - packet_header_size - 48 - 16;
    MessageFrame f;
    f.len = static_cast<std::uint16_t>(std::min(payload, most));
    k->frames.resize(size_of(f) + f.len);
    std::memcpy(encode(k->frames.data(), f), &p.next_payload, 8);
    ++p.next_payload;
    --p.to_send;
    PacketHeader h;
    h.pn = s.next_pn();
    h.flags |= s.ask_for_ack();
    s.sent(k, static_cast<std::uint32_t>(k->frames.size()), now);
    put(p, h, &k->frames);
  }
  if (s.ack_due(now) || s.probe_due(now)) {
    PacketHeader h;
    h.type = PacketType::ack;
    h.flags = s.ack_due(now) ? 0 : packet_flag::ack_now;
    put(p, h, nullptr);
  }
}

void Node::turn() {
  const Time now = net_.now();
  Time next = never;
  for (auto &[port, p] : peers_) {
    if (p.session->deadline() <= now)
      p.session->on_time(now);
    if (p.session->state() == session::State::dead)
      bury(p);
    emit(p);
    next = std::min(next, std::max(p.session->deadline(), now + Duration(100)));
  }
  wake_at(next);
}

void Node::wake_at(Time t) {
  if (t == never || (wake_ > net_.now() && wake_ <= t))
    return;
  wake_ = t;
  net_.at(t, [&net = net_, port = port_, this, t] {
    const auto n = net.nodes.find(port);
    if (n != net.nodes.end() && n->second == this && wake_ == t) {
      wake_ = never;
      turn();
    }
  });
}

} // namespace net
