// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Another life at the same address, and resets.
#include "lab.h"

#include <algorithm>

using namespace lab;

namespace {

void restart__ends_what_was_under_way(void **) {
  for (const On on : {On::device, On::host}) {
    World w;
    w.options.is_own_address = all_own;
    Node &a = w.start(on);
    w.start(on);
    w.exchange(0, 1);
    Call &waits = a.send(1, pattern(100000)), &r = a.receive(10, {.src = 1});
    w.run_for(1ms);
    w.kill(1);
    Node &b = w.restart(1, on);
    Call &hello = b.send(0, pattern(10)); // the new life calls
    assert_true(w.finish({&waits, &hello, &r}, 5s));
    assert_int_equal(waits.error(), ECONNRESET);
    assert_true(hello.ok() && r.ok());
    w.exchange(0, 1);
    w.exchange(1, 0);
  }
}

// Its confirm comes twice in one burst.
void restart__of_a_peer_that_says_all_twice(void **) {
  link::sim::Faults faults;
  faults.duplicate = 1;
  faults.reorder_delay = {};
  World w;
  w.device.set_faults(faults);
  Node &a = w.start();
  w.start();
  w.exchange(0, 1);
  w.kill(1);
  Node &b = w.restart(1);
  Call &r = a.receive(10, {.src = 1});
  Call &s = b.send(0, pattern(10));
  assert_true(w.finish({&s, &r}, 1s));
  assert_true(s.ok() && r.ok());
  w.exchange(0, 1);
  w.exchange(1, 0);
  w.run_for(1s);
  assert_int_equal(b.statistics().unknown_token, 0);
  assert_int_equal(a.queues.sends_failed() + b.queues.sends_failed(), 0);
}

// The one that stayed calls: its packets name a session that nobody knows.
void restart__is_found_out_by_a_reset(void **) {
  World w;
  Node &a = w.start();
  w.start();
  w.exchange(0, 1);
  w.kill(1);
  Node &b = w.restart(1);
  Call &s = a.send(1, pattern(10));
  assert_true(w.finish({&s}, 1s));
  assert_int_equal(s.error(), ECONNRESET);
  assert_true(b.statistics().unknown_token > 0);
  assert_int_equal(b.statistics().messages_received, 0);
  assert_true(w.count(PacketType::reset) > 0);
  w.exchange(0, 1);
}

// Every packet that was ever for the old life, long under way.
void restart__never_sees_old_packets(void **) {
  for (const bool connected : {false, true}) {
    World w;
    w.start(), w.start();
    for (int i = 0; i < 5; ++i)
      w.exchange(0, 1, 3000);
    w.exchange(1, 0);
    const auto old = w.seen;
    w.kill(1);
    Node &b = w.restart(1);
    Call &r = b.receive(10000);
    if (connected) {
      Call &s = w.node(0).send(1, pattern(1));
      assert_true(w.finish({&s}, 5s));
      w.exchange(0, 1);
    }
    const auto before = b.statistics();
    for (const Seen &s : old)
      w.replay(s, Duration(1000));
    w.run_for(1s);
    assert_int_equal(b.statistics().messages_received, before.messages_received);
    assert_true(b.statistics().unknown_token > before.unknown_token);
    assert_true(r.open());
    assert_int_equal(w.node(0).queues.receives_failed(), 0);
  }
}

// --- Resets

void reset__leaves_at_a_bounded_rate(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  Seen data = *std::ranges::find(w.seen, PacketType::data, &Seen::type);
  data.bytes[15] ^= std::byte{1}; // a token that nobody has
  wire::seal(data.bytes);
  const auto before = b.statistics().unknown_token;
  for (int i = 0; i < 40; ++i)
    w.replay(data);
  w.run_for(500us);
  assert_int_equal(b.statistics().unknown_token - before, 40);
  assert_int_equal(w.count(PacketType::reset), 16);
  for (int i = 0; i < 40; ++i)
    w.replay(data, 2ms);
  w.run_for(3ms);
  assert_int_equal(w.count(PacketType::reset), 32);
  assert_int_equal(a.statistics().resets, 0); // of a token that it doesn't use
}

// It is asked, not believed.
void reset__that_is_forged_does_no_harm(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  const Seen data = *std::ranges::find(w.seen, PacketType::data, &Seen::type);
  std::span<const std::byte> in = data.bytes;
  const auto h = wire::decode_header(in);
  Bytes forged(wire::packet_header_size + wire::reset_size);
  wire::PacketHeader r;
  r.type = PacketType::reset;
  r.flags = wire::packet_flag::checksummed;
  wire::encode(wire::encode(forged.data(), r), wire::Reset{h->token, wire::Incarnation{0x1234567}});
  wire::seal(forged);
  w.device.inject(b.address, a.address, forged, {});
  Call &s = a.send(1, pattern(10));
  Call &recv = b.receive(10);
  assert_true(w.finish({&s, &recv}, 1s));
  assert_true(s.ok() && recv.ok());
  assert_int_equal(a.statistics().resets, 1);
  w.exchange(1, 0);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(restart__ends_what_was_under_way),
    cmocka_unit_test(restart__of_a_peer_that_says_all_twice),
    cmocka_unit_test(restart__is_found_out_by_a_reset),
    cmocka_unit_test(restart__never_sees_old_packets),
    cmocka_unit_test(reset__leaves_at_a_bounded_rate),
    cmocka_unit_test(reset__that_is_forged_does_no_harm),
};
static const unit::Group group{"restart", cases};
