// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Two live sessions, and an input that decides what they do, what becomes of
// each packet between them, and what else is put on the line. Checksums are
// repaired, so that rewritten packets are looked at.
//
// Whatever happens, every packet that a session keeps comes back from it once.
// While nothing has been forged, nothing is accepted twice, and what has been
// acknowledged has been accepted.
#include "dpdkx/session/session.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <set>
#include <vector>

using namespace dpdkx;
using namespace dpdkx::wire;
using session::Session;
using Bytes = std::vector<std::byte>;

namespace {

void require(bool holds) {
  if (!holds)
    std::abort();
}

struct Input {
  const std::uint8_t *data;
  std::size_t size;
  bool empty() const { return size == 0; }
  std::uint8_t byte() {
    if (size == 0)
      return 0;
    --size;
    return *data++;
  }
};

struct Kept : session::TxPacket {
  bool held = false; // by a session
  std::uint64_t number = 0;
};

struct Side final : session::AckSink {
  Side(std::uint16_t port, std::uint64_t seed, const session::Params &p, bool lossless_)
      : address(Address::v4(0x0a000001, port)), gate(p, address, seed), lossless(lossless_) {
    renew();
  }
  void renew() {
    session = std::make_unique<Session>(gate, gate.draw_token(tokens++), lossless, 1472);
    ++life;
  }
  void acked(session::TxPacket *p) override {
    Kept *const k = static_cast<Kept *>(p);
    require(k->held);
    k->held = false;
    acknowledged.push_back(k->number);
    free.push_back(k);
  }
  void bury() {
    require(session->error() < 0);
    for (session::TxPacket *p = session->take_all(); p != nullptr;) {
      Kept *const k = static_cast<Kept *>(p);
      p = p->next;
      require(k->held);
      k->held = false;
      free.push_back(k);
    }
    for (const auto &k : packets)
      require(!k->held); // it has given all of them back
    renew();
  }

  Address address;
  session::Gate gate;
  bool lossless;
  std::uint32_t tokens = 0;
  unsigned life = 0;
  std::unique_ptr<Session> session;
  std::vector<std::unique_ptr<Kept>> packets;
  std::vector<Kept *> free;
  std::vector<std::uint64_t> acknowledged;
  std::set<std::uint64_t> accepted;
};

struct World {
  World(const session::Params &p, bool lossless_)
      : a(1, 1, p, lossless_), b(2, 2, p, lossless_), lossless(lossless_) {}

  Side &other(Side &s) { return &s == &a ? b : a; }
  std::deque<Bytes> &line(Side &to) { return &to == &a ? to_a : to_b; }
  void put(Side &from, Bytes d) {
    if (line(other(from)).size() < 64)
      line(other(from)).push_back(std::move(d));
  }

  template <class T> void send(Side &from, PacketHeader h, const T &body, std::size_t size) {
    Bytes d(packet_header_size + size);
    encode(encode(d.data(), h), body);
    seal(d);
    put(from, std::move(d));
  }
  void send_data(Side &from, const Kept &k) {
    PacketHeader h;
    h.pn = k.pn;
    h.flags = from.session->ask_for_ack();
    send_numbered(from, h, &k.number);
  }
  void send_ack(Side &from, bool probe) {
    PacketHeader h;
    h.type = PacketType::ack;
    h.flags = probe ? packet_flag::ack_now : 0;
    send_numbered(from, h, nullptr);
  }
  void send_numbered(Side &from, PacketHeader h, const std::uint64_t *number) {
    Session &s = *from.session;
    h.token = s.peer_token();
    AckBlock block{};
    Bytes d(packet_header_size);
    if (s.ack_wanted() || h.type == PacketType::ack) {
      s.fill(block, now);
      h.flags |= packet_flag::ack_block | (s.ecn_echo() ? packet_flag::ecn_echo : 0);
      s.ack_sent(now);
      d.resize(packet_header_size + block.wire_size());
      encode(d.data() + packet_header_size, block);
    }
    encode(d.data(), h);
    if (number != nullptr) {
      const std::size_t at = d.size();
      d.resize(at + 8);
      std::memcpy(d.data() + at, number, 8);
    }
    seal(d);
    put(from, std::move(d));
  }

  void emit(Side &s) {
    if (s.session->state() == session::State::dead)
      s.bury();
    for (int i = 0; i < 4; ++i) { // as long as it wants, but no fuzzing of endless loops
      const auto c = s.session->next_control(now);
      if (!c)
        break;
      require(i < 3);
      PacketHeader h;
      h.type = c->type;
      h.token = c->token;
      send(s, h, c->hello, hello_size + c->hello.padding);
    }
    while (session::TxPacket *p = s.session->next_resend(now)) {
      send_data(s, *static_cast<Kept *>(p));
      s.session->resent(p, now);
    }
    const bool due = s.session->ack_due(now);
    if (due || s.session->probe_due(now))
      send_ack(s, !due);
  }

  void send_new(Side &s) {
    if (s.session->room() == 0)
      return;
    if (s.free.empty()) {
      s.packets.push_back(std::make_unique<Kept>());
      s.free.push_back(s.packets.back().get());
    }
    Kept *const k = s.free.back();
    s.free.pop_back();
    k->number = next_number++;
    if (lossless) {
      k->pn = s.session->next_pn();
      s.session->sent(nullptr, 8, now);
      s.free.push_back(k);
    } else {
      k->held = true;
      s.session->sent(k, 8, now);
    }
    send_data(s, *k);
  }

  void hear(Side &s, const Bytes &d) {
    std::span<const std::byte> in(d);
    const auto h = decode_header(in);
    if (!h || !verify(d))
      return;
    Side &from = other(s);
    Hello hello;
    Challenge challenge;
    Reset reset;
    switch (h->type) {
    case PacketType::hello:
      if (decode(in, hello)) {
        PacketHeader answer;
        answer.type = PacketType::challenge;
        send(s, answer, s.gate.challenge(hello, from.address, 1472, now), challenge_size);
      }
      break;
    case PacketType::challenge:
      if (decode(in, challenge))
        s.session->on_challenge(challenge, now);
      break;
    case PacketType::confirm:
      if (decode(in, hello) && s.gate.acceptable(hello) == 0 &&
          s.gate.cookie_fits(hello, from.address, now)) {
        s.session->on_confirm(hello, now);
        if (s.session->state() == session::State::dead) {
          s.bury();
          s.session->on_confirm(hello, now);
        }
      }
      break;
    case PacketType::welcome:
      if (h->token == s.session->local_token() && decode(in, hello))
        s.session->on_welcome(hello, now);
      break;
    case PacketType::reset:
      if (decode(in, reset))
        s.session->on_reset(reset, now);
      break;
    default:
      if (h->token == s.session->local_token())
        on_session_packet(s, *h, in);
      else {
        PacketHeader answer;
        answer.type = PacketType::reset;
        send(s, answer, Reset{h->token, s.gate.incarnation()}, reset_size);
      }
    }
    emit(s);
  }

  void on_session_packet(Side &s, const PacketHeader &h, std::span<const std::byte> in) {
    s.session->heard(now);
    AckBlock block{};
    if (h.flags & packet_flag::ack_block) {
      if (!decode_ack(in, block))
        return;
      s.session->on_ack(block, h.flags & packet_flag::ecn_echo, now, s);
      if (!forged)
        for (const std::uint64_t n : s.acknowledged)
          require(other(s).accepted.count(n) == 1);
      require(s.session->acked() <= s.session->next_pn());
      s.acknowledged.clear();
    }
    if (h.type == PacketType::bye)
      return s.session->fail(-ECONNRESET);
    if (h.type == PacketType::ack && (h.flags & packet_flag::ack_now) != 0)
      s.session->request_ack();
    if (h.type != PacketType::data)
      return;
    const auto got = s.session->accept(h.pn, h.flags, now);
    if (got != session::Accept::fresh || in.size() < 8)
      return;
    std::uint64_t number;
    std::memcpy(&number, in.data(), 8);
    require(forged || s.accepted.insert(number).second);
  }

  // What the input does to a packet on its way.
  void deliver(Side &to, Input &in, std::uint8_t how) {
    std::deque<Bytes> &l = line(to);
    if (l.empty())
      return;
    const std::size_t which = how & 8 ? in.byte() % l.size() : 0;
    Bytes d = l[which];
    if ((how & 16) == 0)
      l.erase(l.begin() + static_cast<std::ptrdiff_t>(which)); // else it comes again
    if (how & 32)
      return; // lost
    if (how & 64) {
      forged = true;
      for (unsigned n = in.byte() % 8 + 1u; n > 0; --n)
        d[(in.byte() * 256u + in.byte()) % d.size()] = std::byte(in.byte());
      if (d.size() >= packet_header_size)
        seal(d);
    }
    hear(to, d);
  }

  void forge(Side &to, Input &in) {
    forged = true;
    Bytes d(packet_header_size + in.byte());
    PacketHeader h;
    h.type = static_cast<PacketType>(1 + in.byte() % 8);
    h.flags = in.byte() & packet_flag::known;
    h.token = in.byte() & 1 ? to.session->local_token() : Token{in.byte()};
    h.pn = to.session->next_pn() + in.byte() - 128;
    encode(d.data(), h);
    for (std::size_t i = packet_header_size; i < d.size(); ++i)
      d[i] = std::byte(in.byte());
    seal(d);
    hear(to, d);
  }

  void wait(Input &in) {
    const std::uint8_t b = in.byte();
    now += Duration(std::int64_t{1} << (b % 34)) + Duration(in.byte());
    for (Side *s : {&a, &b_side()}) {
      if (s->session->deadline() <= now)
        s->session->on_time(now);
      emit(*s);
    }
  }
  Side &b_side() { return b; }

  void step(Input &in) {
    const std::uint8_t what = in.byte();
    Side &s = what & 1 ? a : b;
    switch (what >> 1 & 7) {
    case 0:
      s.session->open(now);
      emit(s);
      break;
    case 1:
      for (unsigned n = in.byte() % 16 + 1u; n > 0; --n)
        send_new(s);
      emit(s);
      break;
    case 2:
    case 3:
      for (unsigned n = in.byte() % 8 + 1u; n > 0; --n)
        deliver(s, in, 0);
      break;
    case 4:
      deliver(s, in, in.byte());
      break;
    case 5:
      wait(in);
      break;
    case 6:
      forge(s, in);
      break;
    default:
      rare(s, in);
    }
  }

  void rare(Side &s, Input &in) {
    switch (in.byte() % 6) {
    case 0:
      s.session->set_waiting(in.byte() & 1, now);
      break;
    case 1:
      s.session->request_ack();
      emit(s);
      break;
    case 2:
      s.session->note_ecn();
      break;
    case 3:
      s.session->on_reset({s.session->peer_token(), other(s).gate.incarnation()}, now);
      emit(s);
      break;
    case 4:
      if (s.life < 8) {
        (s.session->fail)(-EIO);
        s.bury();
      }
      break;
    default:
      if (!lossless) // a lossless line isn't cut
        line(s).clear();
    }
  }

  Side a, b;
  bool lossless, forged = false;
  Time now{std::chrono::seconds(1)};
  std::deque<Bytes> to_a, to_b;
  std::uint64_t next_number = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Input in{data, size};
  const std::uint8_t how = in.byte();
  session::Params p;
  const std::uint32_t start = in.byte();
  if (how & 8)
    p.first_number = 0xffffff00 + start; // near the wrap
  p.window = how & 2 ? 64 : 1024;
  World w(p, how & 1);
  w.a.session->open(w.now);
  w.emit(w.a);
  if (how & 4) { // begin with a session
    for (int i = 0; i < 4; ++i) {
      Input none{nullptr, 0};
      w.deliver(w.b, none, 0);
      w.deliver(w.a, none, 0);
    }
    require(w.a.session->established() && w.b.session->established());
  }
  for (int steps = 0; !in.empty() && steps < 400; ++steps)
    w.step(in);
  return 0;
}
