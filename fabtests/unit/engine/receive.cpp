// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "lab.h"

#include <algorithm>
#include <random>

using namespace lab;

namespace {

Seen first_of(const World &w, PacketType t) { return *std::ranges::find(w.seen, t, &Seen::type); }

// Datagrams from where a peer is, of all lengths, with nothing in them that makes sense.
void datagram__that_is_no_packet_is_counted(void **) {
  const std::uint64_t seed = std::random_device{}();
  print_message("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  World w;
  Node &b = (w.start(), w.start());
  w.exchange(0, 1);
  w.run_for(1ms);
  constexpr unsigned count = 2000;
  const auto before = b.statistics();
  for (unsigned i = 0; i < count; ++i) {
    Bytes junk(random() % 200);
    for (std::byte &x : junk)
      x = static_cast<std::byte>(random());
    if (junk.size() > 2 && i % 2) { // past the first checks
      junk[0] = std::byte{wire::protocol_version};
      junk[1] = static_cast<std::byte>(random() % 8 + 1);
      junk[2] &= std::byte{wire::packet_flag::known};
    }
    w.device.inject(address(1), b.address, junk, Duration(1000 * i));
  }
  w.seen.clear();
  w.run_for(100ms);
  const auto after = b.statistics();
  assert_int_equal(after.rx_packets - before.rx_packets, count);
  assert_int_equal(after.malformed + after.bad_checksum - before.malformed - before.bad_checksum,
                   count);
  assert_true(w.seen.empty()); // and nobody answers it
  w.exchange(0, 1);
}

// Whichever bit of a packet is wrong, it isn't taken.
void packet__with_a_wrong_bit_is_dropped(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  Call &r = b.receive(40);
  Call &s = a.send(1, pattern(40), {.tag = 1});
  assert_true(w.finish({&s}, 1s));
  w.run_for(1ms);
  assert_true(r.open());
  for (const PacketType t : {PacketType::hello, PacketType::challenge, PacketType::confirm,
                             PacketType::welcome, PacketType::data, PacketType::ack}) {
    const Seen original = first_of(w, t);
    Node &to = original.to == a.address ? a : b;
    const std::size_t bits = std::min<std::size_t>(original.bytes.size(), 200) * 8;
    const auto before = to.statistics();
    w.records = false;
    for (std::size_t bit = 0; bit < bits; ++bit) {
      Seen wrong = original;
      wrong.bytes[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      w.replay(wrong, Duration(2000 * bit)); // no faster than the cable
    }
    w.run_for(10ms);
    w.records = true;
    const auto after = to.statistics();
    assert_int_equal(after.malformed + after.bad_checksum - before.malformed - before.bad_checksum,
                     bits);
    assert_int_equal(after.messages_received, before.messages_received);
    assert_int_equal(after.duplicates, before.duplicates);
  }
  w.exchange(0, 1);
  w.exchange(1, 0);
}

// A packet can't switch its checksum off where the link needs one.
void checksum__is_not_for_the_sender_to_decide(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.hook = [](const Departure &d, PacketType t) {
    if (t == PacketType::data)
      d.bytes[2] &= ~std::byte{wire::packet_flag::checksummed};
    return Verdict{};
  };
  Call &r = b.receive(10);
  Call &s = a.send(1, pattern(10));
  w.run_for(100ms);
  assert_true(r.open() && s.open());
  assert_true(b.statistics().bad_checksum > 0);
  w.hook = {};
  assert_true(w.finish({&s, &r}, 2s));
  assert_true(s.ok() && r.ok());
}

void checksum__may_be_switched_off_but_for_handshakes(void **) {
  World w;
  w.options.config.checksum = false;
  w.start();
  Node &b = w.start();
  w.exchange(0, 1);
  w.exchange(1, 0, 50000);
  for (const Seen &s : w.seen)
    assert_int_equal(s.flags & wire::packet_flag::checksummed ? 1 : 0,
                     s.type != PacketType::data && s.type != PacketType::ack);
  const Seen hello = first_of(w, PacketType::hello);
  Seen bare = hello;
  bare.bytes[2] &= ~std::byte{wire::packet_flag::checksummed};
  const auto before = b.statistics().bad_checksum;
  const std::size_t challenges = w.count(PacketType::challenge);
  w.replay(bare);
  w.run_for(1ms);
  assert_int_equal(b.statistics().bad_checksum, before + 1);
  assert_int_equal(w.count(PacketType::challenge), challenges);
}

// --- Packets of a session that are not as they should be

// Changes the first data packet that leaves once the world knows `what`.
template <class F> void spoil_one(World &w, F &&what) {
  w.hook = [what, done = false](const Departure &d, PacketType t) mutable {
    if (t == PacketType::data && !done) {
      done = true;
      what(d.bytes);
      wire::seal(d.bytes);
    }
    return Verdict{};
  };
}

void frame__of_unknown_type_is_counted(void **) {
  World w;
  Node &a = w.start(), &b = (w.start(), w.start());
  w.exchange(0, 2);
  w.exchange(1, 2);
  spoil_one(w, [](std::span<std::byte> d) { frames_of(d)[0] = std::byte{42}; });
  Call &s = a.send(2, pattern(10));
  assert_true(w.finish({&s}, 1s)); // the packet has arrived
  assert_int_equal(b.statistics().malformed, 1);
  assert_int_equal(b.statistics().messages_received, 2);
  w.exchange(1, 2); // of others nothing is wrong
}

// What is in front of it counts.
void frame__behind_a_good_one_may_be_malformed(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  Call &r = b.receive(10);
  spoil_one(w, [](std::span<std::byte> d) { frames_of(d)[8 + 10] = std::byte{42}; });
  a.send(1, pattern(10), {.flags = FI_MORE});
  a.send(1, pattern(10));
  assert_true(w.finish({&r}, 1s));
  assert_true(r.ok());
  assert_int_equal(b.statistics().malformed, 1);
}

void ack_block__that_is_too_long_is_counted(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  w.hook = [done = false](const Departure &d, PacketType t) mutable {
    if (t == PacketType::ack && !done) {
      done = true;
      d.bytes[wire::packet_header_size + 14] = std::byte{17}; // words
      wire::seal(d.bytes);
    }
    return Verdict{};
  };
  Call &r = b.receive(10);
  Call &s = a.send(1, pattern(10));
  assert_true(w.finish({&s, &r}, 1s));
  assert_true(s.ok() && r.ok()); // another ack does
  assert_int_equal(a.statistics().malformed, 1);
}

// The peer can't be believed any more: all with it ends, here and there.
void message__beyond_its_credit_ends_the_session(void **) {
  World w;
  const Log log;
  Node &a = w.start(), &b = w.start();
  w.start();
  w.exchange(0, 1);
  Call &back = b.send(0, pattern(100000)), &other = b.send(2, pattern(100000));
  w.run_for(1ms);
  spoil_one(w, [](std::span<std::byte> d) { // total, of a message without tag
    frames_of(d)[8 + 6] = std::byte{1};
  });
  Call &s = a.send(1, pattern(5000), {.flags = FI_DELIVERY_COMPLETE});
  Call &waits = a.receive(10, {.tag = 1, .src = 1});
  assert_true(w.finish({&s, &back}, 5s));
  assert_int_equal(back.error(), EPROTO);
  assert_int_equal(s.error(), ECONNRESET);
  assert_true(waits.open() && other.open());
  assert_true(log.has("10.0.0.1:4000 breaks the protocol: message beyond its credit"));
  w.hook = {};
  w.exchange(0, 1); // by a new session
}

// --- Doubled packets

void packets__that_come_twice_count_once(void **) {
  link::sim::Faults faults;
  faults.duplicate = 1;
  faults.reorder = 0.3;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    World w({}, seed);
    Node &b = (w.start(), w.start());
    w.device.set_faults(faults);
    for (const std::size_t len : {0, 10, 3000, 50000})
      w.exchange(0, 1, len);
    w.run_for(1s);
    assert_int_equal(b.statistics().messages_received, 4);
    assert_true(b.statistics().duplicates > 0);
  }
}

// --- Strangers

void stranger__gets_its_name_later(void **) {
  World w;
  w.start();
  Node &b = w.start();
  w.book.remove(1);
  w.book.remove(0);
  const fi_addr_t to_first = w.book.add(address(1));
  w.book.remove(to_first);
  const fi_addr_t b_at_2 = w.book.add(address(2));
  Node &a = w.node(0);
  Call &s = a.send(b_at_2, pattern(10)), &s2 = a.send(b_at_2, pattern(20));
  assert_true(w.finish({&s, &s2}, 1s));
  Call &any = b.receive(10);
  assert_true(any.ok());
  assert_int_equal(any.done[0].src, FI_ADDR_NOTAVAIL);
  const fi_addr_t name = w.book.add(address(1));
  Call &named = b.receive(20, {.src = name});
  assert_true(named.open());
  b.calls.emplace_back(); // its completion context outlives the receive
  {
    const std::lock_guard lock(b.endpoint->mutex());
    assert_int_equal(b.endpoint->cancel(&named), 0);
    b.endpoint->address_added(name, address(1));
  }
  b.queues.reap();
  Call &again = b.receive(20, {.src = name});
  assert_true(again.ok());
  // Then it is a peer like any other: the same session serves.
  const std::size_t hellos = w.count(PacketType::hello);
  Call &back = b.send(name, pattern(5));
  a.receive(5);
  assert_true(w.finish({&back}, 1s));
  assert_true(back.ok());
  assert_int_equal(w.count(PacketType::hello), hellos);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(datagram__that_is_no_packet_is_counted),
    cmocka_unit_test(packet__with_a_wrong_bit_is_dropped),
    cmocka_unit_test(checksum__is_not_for_the_sender_to_decide),
    cmocka_unit_test(checksum__may_be_switched_off_but_for_handshakes),
    cmocka_unit_test(frame__of_unknown_type_is_counted),
    cmocka_unit_test(frame__behind_a_good_one_may_be_malformed),
    cmocka_unit_test(ack_block__that_is_too_long_is_counted),
    cmocka_unit_test(message__beyond_its_credit_ends_the_session),
    cmocka_unit_test(packets__that_come_twice_count_once),
    cmocka_unit_test(stranger__gets_its_name_later),
};
static const unit::Group group{"receive", cases};
