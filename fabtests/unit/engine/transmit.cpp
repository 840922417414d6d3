// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "lab.h"

#include <algorithm>
#include <netinet/in.h>
#include <set>

using namespace lab;

namespace {

std::size_t packets_from(const World &w, const Node &n, PacketType t) {
  return static_cast<std::size_t>(std::ranges::count_if(
      w.seen, [&](const Seen &s) { return s.type == t && s.from == n.address; }));
}

void small_messages__share_a_packet(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  w.run_for(1ms);
  w.seen.clear();
  for (unsigned i = 0; i < 9; ++i)
    a.send(1, pattern(100, i), {.flags = FI_MORE});
  assert_true(w.seen.empty()); // more is to come
  a.send(1, pattern(100, 9));
  w.run_for(1ms);
  assert_int_equal(packets_from(w, a, PacketType::data), 1);
  for (unsigned i = 0; i < 10; ++i)
    assert_true(b.receive(100).holds(pattern(100, i)));
}

// If no call comes that sends them, the next turn does.
void more__that_never_comes_holds_nothing_back(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  Call &r = b.receive(10);
  Call &s = a.send(1, pattern(10), {.flags = FI_MORE});
  assert_true(w.finish({&s, &r}, 1ms));
  assert_true(s.ok() && r.ok());
}

// A packet to another peer goes in between.
void more__to_two_peers(void **) {
  for (const On on : {On::device, On::host}) {
    World w;
    Node &a = w.start(on), &b = w.start(on), &c = w.start(on);
    w.exchange(0, 1);
    w.exchange(0, 2);
    for (unsigned i = 0; i < 6; ++i)
      a.send(1 + i % 2, pattern(10, i), {.flags = FI_MORE});
    a.send(1, pattern(10, 6));
    w.run_for(1ms);
    for (const unsigned i : {0, 2, 4, 6})
      assert_true(b.receive(10).holds(pattern(10, i)));
    for (const unsigned i : {1, 3, 5})
      assert_true(c.receive(10).holds(pattern(10, i)));
  }
}

// What is joined must be of one size: acks ride elsewhere.
void joined__full_packets_are_of_one_size(void **) {
  for (const bool joined : {false, true}) {
    World w;
    w.options.device.takes_joined = joined;
    w.start(), w.start();
    w.exchange(0, 1);
    w.seen.clear();
    for (unsigned i = 0; i < 20; ++i) // each answers the one before
      w.exchange(i % 2, 1 - i % 2, 20000);
    std::set<std::size_t> sizes;
    std::size_t largest = 0, acks = 0;
    for (const Seen &s : w.seen)
      largest = std::max(largest, s.bytes.size());
    for (const Seen &s : w.seen) {
      acks += s.type == PacketType::data && (s.flags & wire::packet_flag::ack_block) != 0;
      if (s.type == PacketType::data && s.bytes.size() + wire::AckBlock::fixed_size >= largest)
        sizes.insert(s.bytes.size());
    }
    assert_true(joined ? sizes.size() == 1 : sizes.size() > 1);
    assert_true(acks != 0);
  }
}

// Both ends must know it.
void joined__only_where_the_peers_link_takes_them(void **) {
  for (const bool one : {false, true})
    for (const bool other : {false, true}) {
      World w;
      w.options.device.takes_joined = one;
      Node &a = w.start();
      w.options.device.takes_joined = other;
      Node &b = w.start();
      w.exchange(0, 1);
      std::size_t from[2] = {}, joined[2] = {};
      w.device.set_hook([&](const Departure &d) {
        assert_true(d.from == a.address || d.from == b.address);
        const unsigned who = d.from == b.address;
        ++from[who];
        joined[who] += d.joined;
        return Verdict{};
      });
      w.exchange(0, 1, 5000);
      w.exchange(1, 0, 5000);
      // That of the peer is for the path to it.
      assert_int_equal(joined[0], other ? from[0] : 0);
      assert_int_equal(joined[1], one ? from[1] : 0);
    }
}

// Packets of data that have gone to a bulk port; `frames`: of what types they may be.
struct BulkSeen {
  std::size_t bulk = 0, data = 0, mixed = 0, large_elsewhere = 0;

  explicit BulkSeen(World &w) {
    w.device.set_hook([this](const Departure &d) {
      std::span<const std::byte> body(d.bytes);
      const auto h = wire::decode_header(body);
      if (!h || h->type != PacketType::data) {
        mixed += d.bulk; // nothing else may go there
        return Verdict{};
      }
      if (wire::AckBlock a; h->flags & wire::packet_flag::ack_block)
        wire::decode_ack(body, a);
      ++data;
      bulk += d.bulk;
      wire::Frame f;
      bool only_data = true;
      while (wire::decode_frame(body, f) == wire::FrameResult::frame)
        only_data &= f.type == wire::FrameType::rdata || f.type == wire::FrameType::segment ||
                     f.type == wire::FrameType::write;
      mixed += d.bulk && !only_data;
      large_elsewhere += !d.bulk && only_data && d.bytes.size() > 1000;
      return Verdict{};
    });
  }
};

void bulk__data_of_a_rendezvous_goes_to_the_bulk_port(void **) {
  World w;
  w.options.device.bulk_delay = 0us;
  w.start(), w.start();
  BulkSeen seen(w);
  w.exchange(0, 1, 100);
  w.exchange(0, 1, 10000); // in segments, which stay where the rest is
  assert_int_equal(seen.bulk, 0);
  seen.large_elsewhere = 0;
  for (const unsigned from : {0u, 1u}) {
    seen.bulk = 0;
    w.exchange(from, 1 - from, 200000);
    assert_true(seen.bulk >= 200000 / 1472);
  }
  assert_int_equal(seen.mixed + seen.large_elsewhere, 0);
  assert_int_equal(w.device.counters().no_receiver, 0);
}

void bulk__nothing_goes_to_a_peer_without_one(void **) {
  World w;
  w.start();
  w.options.device.bulk_delay = 0us;
  w.start();
  BulkSeen seen(w);
  w.exchange(1, 0, 200000);
  assert_int_equal(seen.bulk, 0);
  w.exchange(0, 1, 200000); // which has one
  assert_true(seen.bulk != 0);
}

// A new life has none.
void bulk__of_a_life_that_has_ended_is_forgotten(void **) {
  World w;
  w.options.device.bulk_delay = 0us;
  Node &a = w.start();
  w.start();
  w.exchange(0, 1, 200000);
  w.kill(1);
  w.options.device.bulk_delay.reset();
  w.restart(1);
  BulkSeen seen(w);
  Call &lost = a.send(1, pattern(10));
  w.finish({&lost});
  w.exchange(1, 0, 200000);
  w.exchange(0, 1, 200000);
  assert_int_equal(w.device.counters().no_receiver, 0);
}

// A firewall that lets only one port through costs time, and nothing else.
void bulk__a_port_that_nothing_reaches(void **) {
  World w;
  w.options.device.bulk_delay = 0us;
  w.start(), w.start();
  w.device.set_hook([](const Departure &d) { return Verdict{.drop = d.bulk}; });
  w.exchange(0, 1, 100000);
  w.exchange(1, 0, 100000);
  assert_true(w.device.counters().hook_dropped > 100);
}

void packets__are_no_larger_than_the_link_carries(void **) {
  for (const std::uint32_t size : {548, 1472, 8972}) {
    World w;
    w.options.device.max_datagram = size;
    w.start(), w.start();
    for (const std::size_t len : {size - 200, size - 30, size, 3 * size, 100000u})
      for (const unsigned from : {0u, 1u})
        w.exchange(from, 1 - from, len);
    std::size_t largest = 0;
    for (const Seen &s : w.seen) {
      assert_true(s.bytes.size() <= size);
      largest = std::max(largest, s.bytes.size());
    }
    assert_int_equal(largest, size); // the padded handshake
  }
}

// The smaller link's size is the session's.
void packets__are_no_larger_than_the_peers_link_carries(void **) {
  World w;
  w.options.device.max_datagram = 8972;
  Node &a = w.start();
  w.options.device.max_datagram = 1472;
  w.start();
  w.exchange(0, 1, 100000);
  w.exchange(1, 0, 100000);
  for (const Seen &s : w.seen)
    assert_true(s.bytes.size() <= 1472);
  assert_int_equal(a.queues.sends_failed(), 0);
}

// --- Loss

// Drops each packet of a few in turn; what is in it is sent again, from a copy
// or from the application's memory.
void packet__that_is_lost_is_sent_again(void **) {
  for (const std::size_t len : {std::size_t{10}, std::size_t{4000}, std::size_t{60000}})
    for (unsigned lost = 0; lost < 12; ++lost) {
      World w;
      Node &a = w.start(), &b = w.start();
      w.exchange(0, 1);
      unsigned n = 0, dropped = 0;
      w.hook = [&](const Departure &, PacketType t) {
        const bool drop = (t == PacketType::data || t == PacketType::ack) && n++ == lost;
        dropped += drop && t == PacketType::data;
        return Verdict{.drop = drop};
      };
      Call &r = b.receive(len);
      Call &s = a.send(1, pattern(len), {.pieces = 8});
      assert_true(w.finish({&s, &r}, 1s));
      assert_true(s.ok() && r.ok());
      assert_true(r.holds(pattern(len)));
      w.run_for(100ms);
      const auto resent = a.statistics().resent + b.statistics().resent;
      assert_true(resent >= dropped);
      assert_int_equal(b.statistics().messages_received, 2);
    }
}

// The memory of a send that is over may be anything by the time it is sent again.
void resend__of_an_injected_message_has_its_own_bytes(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  unsigned drops = 3;
  w.hook = [&](const Departure &, PacketType t) {
    return Verdict{.drop = t == PacketType::data && drops != 0 && drops-- != 0};
  };
  for (const std::size_t len : {std::size_t{100}, std::size_t{5000}}) {
    drops = 3;
    Call &r = b.receive(len);
    Call &s = a.send(1, pattern(len), {.flags = FI_INJECT | FI_INJECT_COMPLETE});
    std::fill(s.memory.begin(), s.memory.end(), std::byte{0xdd});
    assert_true(w.finish({&s, &r}, 1s));
    assert_int_equal(drops, 0);
    assert_true(r.holds(pattern(len)));
  }
}

// --- Acks

void acks__ride_on_data(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  w.run_for(1ms);
  w.seen.clear();
  constexpr unsigned rounds = 50;
  for (unsigned i = 0; i < rounds; ++i) {
    Call &ping = b.receive(10);
    a.send(1, pattern(10));
    assert_true(w.finish({&ping}, 1ms));
    Call &pong = a.receive(10);
    b.send(0, pattern(10));
    assert_true(w.finish({&pong}, 1ms));
  }
  assert_int_equal(packets_from(w, a, PacketType::data), rounds);
  assert_int_equal(packets_from(w, b, PacketType::data), rounds);
  assert_true(w.count(PacketType::ack) < rounds / 5);
}

// By itself, where nobody answers.
void ack__leaves_when_nothing_else_does(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  w.run_for(1ms);
  Call &s = a.send(1, pattern(10));
  assert_true(w.finish({&s}, 1ms));
  assert_true(packets_from(w, b, PacketType::ack) > 0);
  w.seen.clear();
  w.run_for(10s);
  assert_true(w.seen.empty()); // and then there is silence
}

// --- No room

void room__that_is_short_delays_and_loses_nothing(void **) {
  for (const On on : {On::device, On::host}) {
    World w;
    w.options.device.tx_ring = w.options.host.tx_ring = 4;
    w.options.device.rate = w.options.host.rate = 100'000'000;
    w.options.device.queue = 8;
    w.options.config.tx_size = 2000;
    Node &a = w.start(on), &b = w.start(on);
    std::vector<Call *> receives;
    std::deque<Call *> sends;
    constexpr std::size_t lengths[] = {1, 900, 5000, 0, 40000, 300};
    for (unsigned i = 0; i < 120; ++i) {
      receives.push_back(&b.receive(40000));
      sends.push_back(&a.send(1, pattern(lengths[i % 6], i), {.data = i}));
      if (i % 3 == 0)
        b.send(0, pattern(10)); // both ways
    }
    assert_true(w.run_until(
        [&] {
          return std::ranges::none_of(receives, &Call::open) &&
                 std::ranges::none_of(sends, &Call::open);
        },
        60s));
    for (unsigned i = 0; i < 120; ++i) {
      assert_true(receives[i]->ok() && sends[i]->ok());
      assert_int_equal(receives[i]->done[0].data, i);
      assert_true(receives[i]->starts_with(pattern(lengths[i % 6], i)));
    }
    assert_int_equal(a.statistics().messages_received, 40);
  }
}

// A ring that its reader doesn't look at.
void room__comes_back_when_the_peer_does(void **) {
  World w;
  w.options.host.tx_ring = 4;
  Node &a = w.start(On::host), &b = w.start(On::host);
  w.exchange(0, 1);
  b.computes = true;
  for (unsigned i = 0; i < 20; ++i)
    a.send(1, pattern(100, i));
  w.run_for(1s);
  assert_true(a.queues.sends_ok() < 21);
  assert_false(a.quiet()); // it has something to send
  b.computes = false;
  assert_true(w.run_until([&] { return a.queues.sends_ok() == 21; }, 1s));
  for (unsigned i = 0; i < 20; ++i) {
    Call &r = b.receive(100);
    assert_true(w.finish({&r}, 1s));
    assert_true(r.holds(pattern(100, i)));
  }
}

// --- What operations ask for

void fence__is_answered_by_a_probe(void **) {
  for (const On on : {On::device, On::host}) {
    World w;
    Node &a = w.start(on), &b = w.start(on);
    w.exchange(0, 1);
    Call &first = a.send(1, pattern(10)), &fenced = a.send(1, pattern(5), {.flags = FI_FENCE});
    assert_true(w.finish({&first, &fenced}, 10ms)); // nobody receives: buffered is processed
    assert_true(first.ok() && fenced.ok());
    Call &r = b.receive(10), &r2 = b.receive(5);
    assert_true(w.finish({&r, &r2}, 10ms));
    assert_true(r.ok() && r2.ok());
  }
}

void source_err__gives_a_socket_address(void **) {
  for (const bool v6 : {false, true}) {
    World w;
    w.options.queues.source_err = true;
    Node &b = (w.start(), w.start());
    w.book.remove(0);
    Address from = address(9, 0x1234);
    if (v6)
      from.ip[0] = 0xfe;
    Node stranger(w, from, On::device, w.options);
    Call &r = b.receive(10);
    stranger.send(1, pattern(10));
    assert_true(w.run_until(
        [&] {
          stranger.turn();
          return !r.open();
        },
        1s));
    assert_int_equal(r.error(), FI_EADDRNOTAVAIL);
    const Bytes &raw = r.done[0].err_data;
    if (v6) {
      sockaddr_in6 in6;
      assert_int_equal(raw.size(), sizeof in6);
      std::memcpy(&in6, raw.data(), sizeof in6);
      assert_int_equal(in6.sin6_family, AF_INET6);
      assert_int_equal(in6.sin6_port, htons(0x1234));
      assert_memory_equal(&in6.sin6_addr, from.ip.data(), 16);
    } else {
      sockaddr_in in;
      assert_int_equal(raw.size(), sizeof in);
      std::memcpy(&in, raw.data(), sizeof in);
      assert_int_equal(in.sin_family, AF_INET);
      assert_int_equal(in.sin_port, htons(0x1234));
      assert_int_equal(in.sin_addr.s_addr, htonl(0x0a000009));
    }
  }
}

// --- A path that swallows what is large

void black_hole__is_found_and_told(void **) {
  World w;
  const Log log;
  link::sim::Faults faults;
  faults.black_hole = 1300;
  w.device.set_faults(faults);
  w.options.device.max_datagram = 1472;
  w.start(), w.start();
  w.exchange(0, 1, 50000);
  w.exchange(1, 0, 50000);
  assert_true(log.has("swallows datagrams above 1232 bytes; set FI_DPDKX_MTU"));
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(small_messages__share_a_packet),
    cmocka_unit_test(more__that_never_comes_holds_nothing_back),
    cmocka_unit_test(more__to_two_peers),
    cmocka_unit_test(joined__full_packets_are_of_one_size),
    cmocka_unit_test(joined__only_where_the_peers_link_takes_them),
    cmocka_unit_test(bulk__data_of_a_rendezvous_goes_to_the_bulk_port),
    cmocka_unit_test(bulk__nothing_goes_to_a_peer_without_one),
    cmocka_unit_test(bulk__of_a_life_that_has_ended_is_forgotten),
    cmocka_unit_test(bulk__a_port_that_nothing_reaches),
    cmocka_unit_test(packets__are_no_larger_than_the_link_carries),
    cmocka_unit_test(packets__are_no_larger_than_the_peers_link_carries),
    cmocka_unit_test(packet__that_is_lost_is_sent_again),
    cmocka_unit_test(resend__of_an_injected_message_has_its_own_bytes),
    cmocka_unit_test(acks__ride_on_data),
    cmocka_unit_test(ack__leaves_when_nothing_else_does),
    cmocka_unit_test(room__that_is_short_delays_and_loses_nothing),
    cmocka_unit_test(room__comes_back_when_the_peer_does),
    cmocka_unit_test(fence__is_answered_by_a_probe),
    cmocka_unit_test(source_err__gives_a_socket_address),
    cmocka_unit_test(black_hole__is_found_and_told),
};
static const unit::Group group{"transmit", cases};
