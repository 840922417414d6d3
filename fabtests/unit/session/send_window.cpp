// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/session/send_window.h"

#include <bitset>
#include <vector>

#include "unit/property.h"
#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::session;
using namespace std::chrono_literals;

namespace {

const Params params;
constexpr Duration trip = 40us;

struct Sender final : AckSink {
  explicit Sender(std::uint32_t start) : first{start}, next{start}, packets(2048) {
    for (int i = 0; i < 50; ++i)
      rtt.add(trip, now);
  }
  void acked(TxPacket *p) override { acks.push_back(p->pn); }
  TxPacket &packet(PacketNumber pn) { return packets[static_cast<std::size_t>(pn - first)]; }
  void send(unsigned n = 1, bool bulk = false) {
    for (; n > 0; --n, ++next) {
      packet(next).bulk = bulk;
      w.sent(&packet(next), next, now);
    }
  }
  // An ack of everything before `first + cumulative`, and of those listed behind.
  bool ack(std::uint32_t cumulative, std::vector<std::uint32_t> more = {}) {
    wire::AckBlock a{};
    a.cumulative = first + cumulative;
    for (const std::uint32_t i : more) {
      const std::uint32_t bit = i - cumulative - 1;
      a.sack[bit / 64] |= std::uint64_t{1} << bit % 64;
      a.sack_words = std::max<std::uint8_t>(a.sack_words, static_cast<std::uint8_t>(bit / 64 + 1));
    }
    event = {};
    return w.on_ack(a, next, rtt, params, now, *this, round, event);
  }
  // Lets the reordering allowance pass.
  void wait() {
    now += rtt.reordering(params);
    w.on_time(rtt, params, round, now);
  }
  std::vector<std::uint32_t> resend_all() {
    std::vector<std::uint32_t> numbers;
    while (TxPacket *p = w.next_resend(1000)) {
      numbers.push_back(static_cast<std::uint32_t>(p->pn - first));
      w.resent(p, now);
    }
    return numbers;
  }

  Time now{1s};
  PacketNumber first, next;
  std::vector<TxPacket> packets;
  std::vector<PacketNumber> acks;
  SendWindow w;
  RttEstimator rtt;
  Round round;
  AckEvent event;
};

using Numbers = std::vector<std::uint32_t>;

// It is missed, and sent again.
void lose_the_first_of_four(Sender &s) {
  s.send(4);
  s.now += trip;
  s.ack(0, {1, 2, 3});
  s.wait();
  assert_true(s.resend_all() == Numbers{0});
}

void window__gives_each_packet_back_once(void **) {
  assert_true(unit::holds("window gives each packet back once", [] {
    Sender s(static_cast<std::uint32_t>(*rc::gen::inRange(-600, 600)));
    std::bitset<2048> arrived;
    std::uint32_t cumulative = 0, sent = 0;
    for (int turn = 0; turn < 60; ++turn) {
      const auto n = *rc::gen::inRange<std::uint32_t>(0, 40);
      for (std::uint32_t i = 0; i < n && sent < 2000 && sent - cumulative < 1000; ++i, ++sent)
        s.send(1, *rc::gen::arbitrary<bool>());
      for (std::uint32_t i = 0; sent != cumulative && i < n / 2; ++i)
        arrived[cumulative + *rc::gen::inRange<std::uint32_t>(0, sent - cumulative)] = true;
      while (arrived[cumulative])
        ++cumulative;
      wire::AckBlock a{};
      a.cumulative = s.first + cumulative;
      for (std::uint32_t i = cumulative + 1; i < sent; ++i)
        if (arrived[i]) {
          const std::uint32_t bit = i - cumulative - 1;
          a.sack[bit / 64] |= std::uint64_t{1} << bit % 64;
          a.sack_words = static_cast<std::uint8_t>(bit / 64 + 1);
        }
      s.now += 10us;
      s.event = {};
      s.w.on_ack(a, s.next, s.rtt, params, s.now, s, s.round, s.event);
      RC_ASSERT(s.acks.size() == arrived.count());
      RC_ASSERT(s.w.in_network() + s.w.lost() == sent - arrived.count());
      RC_ASSERT(s.w.empty() == (arrived.count() == sent));
      if (!s.w.empty())
        RC_ASSERT(s.w.span(s.next) == sent - cumulative);
    }
    std::bitset<2048> given;
    for (const PacketNumber pn : s.acks) {
      RC_ASSERT(!given[static_cast<std::size_t>(pn - s.first)]);
      given[static_cast<std::size_t>(pn - s.first)] = true;
    }
    RC_ASSERT(given == arrived);
    // What is left comes back in order.
    std::uint32_t left = 0;
    PacketNumber before = s.first - 1;
    for (TxPacket *p = s.w.take_all(s.next); p != nullptr; p = p->next, ++left) {
      RC_ASSERT(p->pn > before);
      RC_ASSERT(!arrived[static_cast<std::size_t>(p->pn - s.first)]);
      before = p->pn;
    }
    RC_ASSERT(left == sent - arrived.count());
    RC_ASSERT(s.w.empty());
  }));
}

void ack__of_what_was_not_sent_is_ignored(void **) {
  Sender s(0xfffffffe);
  s.send(4);
  assert_false(s.ack(5));
  assert_true(s.acks.empty());
  assert_true(s.ack(2, {3, 4, 100}));
  assert_int_equal(s.acks.size(), 3); // 0, 1, 3
}

// The number to come shares its place in the ring with the oldest packet when the ring is full.
void ack__of_the_number_to_come_takes_no_other(void **) {
  Sender s(0);
  s.send(64);
  assert_true(s.ack(0, {64}));
  assert_true(s.acks.empty());
  assert_int_equal(s.w.in_network(), 64);
}

void ack__of_old_changes_nothing(void **) {
  Sender s(0);
  s.send(10);
  assert_true(s.ack(6));
  assert_false(s.ack(3, {8}));
  assert_int_equal(s.acks.size(), 6);
  assert_true(s.ack(6)); // the same again: valid, nothing new
  assert_int_equal(s.event.acked, 0);
}

void sample__is_taken_of_single_transmissions_only(void **) {
  Sender s(0);
  s.send(3);
  s.now += trip;
  s.ack(1);
  assert_true(s.event.rtt == trip);
  s.now += 10 * trip;
  s.w.on_time(s.rtt, params, s.round, s.now);
  s.resend_all(); // packet 1, as a probe
  s.now += trip;
  s.ack(2);
  assert_int_equal(s.event.acked, 1);
  assert_true(s.event.rtt == 0ns);
}

void gap__is_lost_after_the_allowance_and_not_before(void **) {
  Sender s(0xffffff00);
  s.send(8);
  s.now += trip;
  s.ack(2, {3, 4, 5, 6, 7});
  assert_true(s.resend_all().empty()); // it may be late
  const Time due = s.w.deadline(s.rtt, params);
  assert_true(due == s.now + trip / 4);
  s.w.on_time(s.rtt, params, s.round, due - 1ns);
  assert_true(s.resend_all().empty());
  s.now = due;
  assert_false(s.w.on_time(s.rtt, params, s.round, s.now));
  assert_true(s.resend_all() == Numbers{2});
  assert_int_equal(s.round.lost, 1);
}

void gap__that_is_late_is_not_lost(void **) {
  Sender s(0);
  for (int i = 0; i < 8; ++i, s.now += 1us)
    s.send();
  s.now += trip;
  s.ack(2, {3, 4, 5});
  s.now += 2us;
  s.ack(6);
  assert_true(s.resend_all().empty());
  assert_int_equal(s.round.lost, 0);
}

// Later packets that were sent long after make it lost at once.
void gap__is_lost_by_packets_sent_later(void **) {
  Sender s(0);
  s.send();
  s.now += trip / 2;
  s.send(2);
  s.now += trip;
  s.ack(0, {1, 2});
  assert_true(s.resend_all() == Numbers{0});
}

void resend__that_is_lost_is_found_like_any_other(void **) {
  Sender s(0);
  lose_the_first_of_four(s);
  s.now += 15us;
  s.send(2); // 4, 5: after the resend
  s.now += trip;
  s.ack(0, {1, 2, 3, 4, 5});
  assert_true(s.resend_all() == Numbers{0});
  assert_int_equal(s.packet(s.first).tries, 3);
}

void needless_resend__widens_the_allowance(void **) {
  Sender s(0);
  lose_the_first_of_four(s);
  const Duration before = s.rtt.reordering(params);
  s.now += 5us; // sooner than the resend can have been answered
  s.ack(4);
  assert_true(s.rtt.reordering(params) == 2 * before);
  assert_int_equal(s.round.lost, 0); // taken back
}

void lost__leaves_within_the_window_only(void **) {
  Sender s(0);
  s.send(10);
  s.now += trip;
  s.ack(0, {9});
  s.wait();
  assert_int_equal(s.w.lost(), 9);
  assert_int_equal(s.w.in_network(), 0);
  for (int i = 0; i < 3; ++i)
    s.w.resent(s.w.next_resend(3), s.now);
  assert_null(s.w.next_resend(3));
  assert_non_null(s.w.next_resend(4));
}

void lost__that_is_acked_after_all_is_not_sent_again(void **) {
  Sender s(0);
  s.send(10);
  s.now += trip;
  s.ack(0, {9});
  s.wait();
  s.ack(5, {9});
  assert_true(s.resend_all() == (Numbers{5, 6, 7, 8}));
}

void silence__sends_the_oldest_as_a_probe_and_backs_off(void **) {
  Sender s(0);
  s.send(5);
  Duration waited{};
  for (int i = 0; i < 5; ++i) {
    const Time due = s.w.deadline(s.rtt, params);
    assert_true(due - s.now > waited); // longer each time
    waited = due - s.now;
    s.now = due;
    // The second in a row means that nothing is known any more.
    assert_int_equal(s.w.on_time(s.rtt, params, s.round, s.now), i == 1);
    assert_non_null(s.w.next_resend(0)); // whatever the window says
    assert_int_equal(s.resend_all().size(), 1);
  }
  assert_true(waited > 20 * trip);
}

// The tail of a burst is lost: one probe finds out about all of it.
void probe__tells_about_the_rest(void **) {
  Sender s(0);
  s.send(5);
  s.now = s.w.deadline(s.rtt, params);
  s.w.on_time(s.rtt, params, s.round, s.now);
  assert_true(s.resend_all() == Numbers{0});
  s.now += trip;
  s.ack(1); // of the probe, long after the others were sent
  assert_true(s.resend_all() == (Numbers{1, 2, 3, 4}));
}

// To two ports, of which one has the longer queue.
void gap__of_packets_to_another_port_may_last(void **) {
  for (const bool bulk : {false, true}) {
    Sender s(0);
    s.send(2, bulk);
    s.send(3, !bulk);
    s.now += trip;
    s.ack(0, {2, 3, 4});
    assert_true(s.w.deadline(s.rtt, params) == s.now + s.rtt.widest_reordering(params));
    s.wait();
    assert_true(s.resend_all().empty());
    s.ack(0, {1, 2, 3, 4}); // to its own port
    s.wait();
    assert_true(s.resend_all() == Numbers{0});
  }
}

void gap__of_packets_to_another_port_does_not_last_for_ever(void **) {
  for (const bool bulk : {false, true}) {
    Sender s(0);
    s.send(2, bulk);
    s.send(3, !bulk);
    s.now += trip;
    s.ack(0, {2, 3, 4});
    s.now += s.rtt.widest_reordering(params);
    assert_false(s.w.on_time(s.rtt, params, s.round, s.now));
    assert_true(s.resend_all() == (Numbers{0, 1}));
  }
}

// If nothing gets through to a bulk port, other ways are tried, and one probe tells about the rest.
void bulk__is_sent_again_to_the_other_port(void **) {
  Sender s(0);
  s.send(5, true);
  s.now = s.w.deadline(s.rtt, params);
  s.w.on_time(s.rtt, params, s.round, s.now);
  assert_true(s.resend_all() == Numbers{0});
  assert_false(s.packet(s.first).bulk);
  s.now += trip;
  s.ack(1);
  assert_true(s.resend_all() == (Numbers{1, 2, 3, 4}));
  assert_int_equal(s.w.in_network(), 4);
  s.now += trip;
  s.ack(5);
  assert_true(s.w.empty());
}

void probe__is_the_oldest_whatever_its_port(void **) {
  for (const bool bulk : {false, true}) {
    Sender s(0);
    s.send(1, bulk);
    s.now += 1us;
    s.send(3, !bulk);
    s.now = s.w.deadline(s.rtt, params);
    s.w.on_time(s.rtt, params, s.round, s.now);
    assert_true(s.resend_all() == Numbers{0});
  }
}

void window__forgets_what_it_is_told_to(void **) {
  Sender s(5);
  s.send(100);
  s.now += trip;
  s.ack(1, {50});
  s.w.restart();
  assert_true(s.w.empty());
  assert_true(s.w.deadline(s.rtt, params) == never);
  assert_null(s.w.next_resend(1000));
  s.send(3);
  assert_int_equal(s.w.in_network(), 3);
  assert_int_equal(s.w.span(s.next), 3);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(window__gives_each_packet_back_once),
    cmocka_unit_test(ack__of_what_was_not_sent_is_ignored),
    cmocka_unit_test(ack__of_the_number_to_come_takes_no_other),
    cmocka_unit_test(ack__of_old_changes_nothing),
    cmocka_unit_test(sample__is_taken_of_single_transmissions_only),
    cmocka_unit_test(gap__is_lost_after_the_allowance_and_not_before),
    cmocka_unit_test(gap__that_is_late_is_not_lost),
    cmocka_unit_test(gap__is_lost_by_packets_sent_later),
    cmocka_unit_test(resend__that_is_lost_is_found_like_any_other),
    cmocka_unit_test(needless_resend__widens_the_allowance),
    cmocka_unit_test(lost__leaves_within_the_window_only),
    cmocka_unit_test(lost__that_is_acked_after_all_is_not_sent_again),
    cmocka_unit_test(silence__sends_the_oldest_as_a_probe_and_backs_off),
    cmocka_unit_test(probe__tells_about_the_rest),
    cmocka_unit_test(gap__of_packets_to_another_port_may_last),
    cmocka_unit_test(gap__of_packets_to_another_port_does_not_last_for_ever),
    cmocka_unit_test(bulk__is_sent_again_to_the_other_port),
    cmocka_unit_test(probe__is_the_oldest_whatever_its_port),
    cmocka_unit_test(window__forgets_what_it_is_told_to),
};
const unit::Group group{"send_window", cases};

} // namespace
