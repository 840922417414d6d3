// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/session/window.h"
#include "unit/session/side.h"

#include <cstdlib>
#include <new>
#include <set>

#include "unit/unit.h"

namespace {
unsigned long allocations = 0;
}

// GCC takes the inlined free() for one that doesn't fit the new before it.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

// Counted, to show that traffic makes none.
void *operator new(std::size_t n) {
  ++allocations;
  if (void *p = std::malloc(n))
    return p;
  throw std::bad_alloc();
}
void *operator new(std::size_t n, const std::nothrow_t &) noexcept {
  ++allocations;
  return std::malloc(n);
}
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }
void operator delete(void *p, const std::nothrow_t &) noexcept { std::free(p); }

using namespace dpdkx;
using namespace dpdkx::session;
using namespace side;
using namespace std::chrono_literals;

namespace {

const Time start(1000s);

struct Sink final : AckSink {
  void acked(TxPacket *p) override { packets.push_back(p); }
  std::vector<TxPacket *> packets;
};

// Two sides with an established session, at a packet number just before the wrap.
struct Pair {
  explicit Pair(bool lossless = false, bool takes_joined = false)
      : a(1, 1, numbers(takes_joined), 1472, lossless), b(2, 2, numbers(), 1472, lossless) {
    connect(a, b, now);
    b.session->ack_sent(now);
    packets.resize(4096);
  }
  static Params numbers(bool takes_joined = false) {
    Params p;
    p.takes_joined = takes_joined;
    p.first_number = 0xfffffffc;
    return p;
  }
  PacketNumber send() {
    const PacketNumber pn = a.session->next_pn();
    a.session->sent(&packets[sent++], 100, now);
    return pn;
  }
  wire::AckBlock ack() {
    wire::AckBlock block{};
    b.session->fill(block, now);
    b.session->ack_sent(now);
    return block;
  }
  Side a, b;
  Time now = start;
  std::vector<TxPacket> packets;
  std::size_t sent = 0;
  Sink sink;
};

void accept__knows_fresh_duplicate_and_outside(void **) {
  Pair p;
  Session &s = *p.b.session;
  const PacketNumber first = p.a.session->next_pn();
  assert_true(s.accept(first, 0, p.now) == Accept::fresh);
  assert_true(s.accept(first, 0, p.now) == Accept::duplicate);
  assert_true(s.accept(first - 1, 0, p.now) == Accept::duplicate);
  assert_true(s.accept(first - 100000, 0, p.now) == Accept::duplicate);
  assert_true(s.accept(first + 2, 0, p.now) == Accept::fresh);
  assert_true(s.accept(first + 2, 0, p.now) == Accept::duplicate);
  assert_true(s.accept(first + 1024, 0, p.now) == Accept::fresh); // the window's last
  assert_true(s.accept(first + 1025, 0, p.now) == Accept::outside);
  assert_true(s.accept(first + 1, 0, p.now) == Accept::fresh);
  wire::AckBlock block{};
  s.fill(block, p.now);
  assert_true(block.cumulative == first + 3);
}

void accept__is_outside_before_there_is_a_session(void **) {
  Side a(1, 1);
  assert_true(a.session->accept({0}, 0, start) == Accept::outside);
  a.session->open(start);
  assert_true(a.session->accept({0}, 0, start) == Accept::outside);
}

void lossless__checks_only_the_order(void **) {
  Pair p(true);
  Session &a = *p.a.session, &b = *p.b.session;
  for (int i = 0; i < 10; ++i) {
    const PacketNumber pn = a.next_pn();
    assert_true(a.room() != 0);
    a.sent(nullptr, 100, p.now);
    assert_true(b.accept(pn, 0, p.now) == Accept::fresh);
  }
  assert_true(a.next_pn().value == 6); // wrapped
  assert_true(a.acked() == a.next_pn());
  assert_true(b.accept(a.next_pn() - 1, 0, p.now) == Accept::duplicate);
  assert_true(b.accept(a.next_pn() + 1, 0, p.now) == Accept::outside);
  assert_false(a.in_flight() || b.ack_wanted() || b.ack_due(p.now + 1h));
  assert_true(a.deadline() == never && b.deadline() == never);
  b.request_ack();
  assert_true(b.ack_wanted() && b.ack_due(p.now));
  b.ack_sent(p.now);
  assert_false(b.ack_wanted());
}

void ack__of_one_packet_is_due_after_a_while(void **) {
  Pair p;
  Session &b = *p.b.session;
  assert_false(b.ack_wanted());
  b.accept(p.send(), 0, p.now);
  assert_true(b.ack_wanted());
  assert_false(b.ack_due(p.now));
  const Time due = b.deadline();
  assert_true(due > p.now && due <= p.now + Params{}.max_ack_delay);
  assert_false(b.ack_due(due - 1ns));
  assert_true(b.ack_due(due));
  const wire::AckBlock block = p.ack();
  assert_true(block.cumulative == p.a.session->next_pn() && block.sack_words == 0);
  assert_false(b.ack_wanted() || b.ack_due(due));
  assert_true(b.deadline() == never);
}

void ack__is_due_soon_when_an_operation_waits(void **) {
  Pair p;
  Session &b = *p.b.session;
  b.accept(p.send(), 0, p.now);
  const Time late = b.deadline();
  b.accept(p.send(), wire::packet_flag::ack_soon, p.now);
  assert_false(b.ack_due(p.now));
  const Time due = b.deadline();
  assert_true(due > p.now && due < late);
  p.now += 1us;
  b.accept(p.send(), 0, p.now); // later ones don't put it off
  assert_true(b.deadline() == due && b.ack_due(due));
}

void ack__is_due_at_once_after_a_few_packets(void **) {
  Pair p;
  int n = 0;
  while (!p.b.session->ack_due(p.now) && n < 100) {
    p.b.session->accept(p.send(), 0, p.now);
    ++n;
  }
  assert_in_range(n, 8, 32);
}

void ack__is_due_at_once_when_asked_for_or_when_something_is_odd(void **) {
  const auto due_after = [](auto what) {
    Pair p;
    what(p, *p.b.session);
    return p.b.session->ack_due(p.now);
  };
  assert_true(due_after(
      [](Pair &p, Session &b) { b.accept(p.send(), wire::packet_flag::ack_now, p.now); }));
  assert_true(due_after([](Pair &, Session &b) { b.request_ack(); }));
  assert_true(due_after([](Pair &p, Session &b) { // a gap
    p.send();
    b.accept(p.send(), 0, p.now);
  }));
  assert_true(due_after([](Pair &p, Session &b) { // a duplicate
    const PacketNumber pn = p.send();
    b.accept(pn, 0, p.now);
    b.ack_sent(p.now);
    b.accept(pn, 0, p.now);
  }));
  assert_true(due_after([](Pair &p, Session &b) { // a gap that closes
    const PacketNumber pn = p.send();
    p.send(), b.accept(p.send(), 0, p.now);
    b.accept(pn + 1, 0, p.now);
    b.ack_sent(p.now);
    b.accept(pn, 0, p.now);
  }));
  assert_false(due_after([](Pair &p, Session &b) { b.accept(p.send(), 0, p.now); }));
}

void ack__tells_how_long_it_was_held_back(void **) {
  Pair p;
  p.b.session->accept(p.send(), 0, p.now);
  p.now += 37us;
  wire::AckBlock block = p.ack();
  assert_int_equal(block.delay_us, 37);
  block = p.ack(); // nothing new
  assert_int_equal(block.delay_us, wire::AckBlock::delay_unknown);
  p.b.session->accept(p.send(), 0, p.now);
  p.now += 10s;
  assert_int_equal(p.ack().delay_us, wire::AckBlock::delay_unknown);
}

void rtt__is_without_the_peers_delay(void **) {
  Pair p;
  for (int i = 0; i < 100; ++i) {
    const PacketNumber pn = p.send();
    p.now += 30us;
    p.b.session->accept(pn, 0, p.now);
    p.now += 40us; // held back
    const wire::AckBlock block = p.ack();
    p.now += 30us;
    p.a.session->on_ack(block, false, p.now, p.sink);
  }
  assert_true(p.a.session->srtt() > 58us && p.a.session->srtt() < 62us);
  assert_int_equal(p.sink.packets.size(), 100);
}

void acked__is_the_first_number_that_is_not(void **) {
  Pair p;
  const PacketNumber first = p.a.session->next_pn();
  assert_true(p.a.session->acked() == first);
  for (int i = 0; i < 4; ++i)
    p.send();
  assert_true(p.a.session->acked() == first);
  p.b.session->accept(first, 0, p.now);
  p.b.session->accept(first + 2, 0, p.now);
  p.a.session->on_ack(p.ack(), false, p.now, p.sink);
  assert_true(p.a.session->acked() == first + 1);
  p.b.session->accept(first + 1, 0, p.now);
  p.b.session->accept(first + 3, 0, p.now);
  p.a.session->on_ack(p.ack(), false, p.now, p.sink);
  assert_true(p.a.session->acked() == first + 4 && !p.a.session->in_flight());
}

void room__is_the_congestion_window_less_what_is_under_way(void **) {
  Pair p;
  const std::uint32_t all = p.a.session->room();
  assert_int_equal(all, Params{}.initial_window);
  for (std::uint32_t left = all; left > 0; --left) {
    assert_int_equal(p.a.session->room(), left);
    assert_int_equal(p.a.session->ask_for_ack(), left == 1         ? wire::packet_flag::ack_now
                                                 : left == all / 2 ? wire::packet_flag::ack_soon
                                                                   : 0);
    p.b.session->accept(p.send(), 0, p.now);
  }
  assert_int_equal(p.a.session->room(), 0);
  p.now += 40us;
  p.a.session->on_ack(p.ack(), false, p.now, p.sink);
  assert_true(p.a.session->room() >= all);
}

// Where frames are joined: else acks of a few packets would let a few out.
void room__comes_back_for_a_joined_frame(void **) {
  for (const bool joined : {false, true}) {
    Pair p(false, joined);
    Session &a = *p.a.session;
    std::vector<PacketNumber> sent;
    while (a.room() != 0)
      sent.push_back(p.send());
    assert_int_equal(sent.size(), Params{}.initial_window);
    unsigned acked = 0;
    while (a.room() == 0) {
      p.b.session->accept(sent[acked++], 0, p.now);
      p.now += 1us;
      a.on_ack(p.ack(), false, p.now, p.sink);
    }
    assert_true(joined ? a.room() >= sent.size() / 2 : acked == 1);
    while (a.room() != 0)
      p.send();
    const std::uint32_t under_way = static_cast<std::uint32_t>(p.sent) - acked;
    assert_true(under_way >= sent.size()); // all of the window
    p.b.session->accept(sent[acked], 0, p.now);
    a.on_ack(p.ack(), false, p.now, p.sink);
    assert_true((a.room() == 0) == joined);
  }
}

void room__of_a_window_that_was_not_full_is_what_is_free(void **) {
  Pair p(false, true);
  Session &a = *p.a.session;
  for (std::uint32_t left = a.room(); left > 1; --left) {
    assert_int_equal(a.room(), left);
    p.send();
  }
}

// However much the congestion window allows, not beyond what a SACK bitmap can name.
void room__ends_where_the_oldest_hole_is_a_window_back(void **) {
  Pair p;
  Session &a = *p.a.session, &b = *p.b.session;
  const PacketNumber first = p.send(); // never arrives
  unsigned sent = 1;
  for (int turn = 0; turn < 2000; ++turn) {
    while (a.room() != 0 && sent < 3000) {
      assert_true(b.accept(p.send(), 0, p.now) == Accept::fresh);
      ++sent;
    }
    p.now += 10us;
    a.on_ack(p.ack(), false, p.now, p.sink);
    a.on_time(p.now);
    while (TxPacket *t = a.next_resend(p.now))
      a.resent(t, p.now);
    p.now += 10us;
  }
  assert_int_equal(sent, 1024);
  assert_int_equal(p.sink.packets.size(), 1023);
  assert_true(b.accept(first, 0, p.now) == Accept::fresh);
  a.on_ack(p.ack(), false, p.now, p.sink);
  assert_false(a.in_flight());
  assert_true(a.room() != 0);
}

void ecn__is_echoed_until_an_ack_has_left(void **) {
  Pair p;
  assert_false(p.b.session->ecn_echo());
  p.b.session->accept(p.send(), 0, p.now);
  p.b.session->note_ecn();
  assert_true(p.b.session->ecn_echo());
  p.b.session->ack_sent(p.now);
  assert_false(p.b.session->ecn_echo());
}

void take_all__gives_back_what_is_kept_in_order(void **) {
  Pair p;
  for (int i = 0; i < 10; ++i)
    p.send();
  p.b.session->accept(p.packets[4].pn, 0, p.now);
  p.now += 50us;
  p.a.session->on_ack(p.ack(), false, p.now, p.sink);
  p.a.session->on_time(p.now + 1ms); // some are lost, some not
  p.a.session->fail(-EIO);
  unsigned n = 0;
  PacketNumber before = p.packets[0].pn - 1;
  for (TxPacket *t = p.a.session->take_all(); t != nullptr; t = t->next, ++n) {
    assert_true(t->pn > before && t != &p.packets[4]);
    before = t->pn;
  }
  assert_int_equal(n, 9);
  assert_null(p.a.session->take_all());
}

// --- memory

void idle_session__holds_no_window(void **) {
  Pair p;
  assert_true(sizeof(Session) <= 128);
  std::set<WindowState *> first;
  // Whatever windows there are go round: taken on traffic, back when it is over.
  for (int i = 0; i < 3; ++i) {
    p.b.session->accept(p.send(), 0, p.now);
    p.a.session->on_ack(p.ack(), false, p.now, p.sink);
    for (Side *s : {&p.a, &p.b}) {
      WindowState *const w = s->gate.windows().take();
      first.insert(w);
      s->gate.windows().give_back(w);
    }
  }
  assert_int_equal(first.size(), 2); // one a gate: none is held elsewhere
}

void traffic__allocates_nothing(void **) {
  Pair p;
  struct Counter final : AckSink {
    void acked(TxPacket *) override { ++n; }
    unsigned n = 0;
  } sink;
  const auto exchange = [&](int times) {
    for (int i = 0; i < times; ++i) {
      const PacketNumber pn = p.a.session->next_pn();
      p.a.session->sent(&p.packets[0], 100, p.now);
      p.now += 1us;
      p.b.session->accept(pn, 0, p.now);
      wire::AckBlock block{};
      p.b.session->fill(block, p.now);
      p.b.session->ack_sent(p.now);
      p.a.session->on_ack(block, false, p.now, sink);
    }
  };
  exchange(10);
  const unsigned long before = allocations;
  exchange(10000);
  assert_int_equal(allocations, before);
  assert_int_equal(sink.n, 10010);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(accept__knows_fresh_duplicate_and_outside),
    cmocka_unit_test(accept__is_outside_before_there_is_a_session),
    cmocka_unit_test(lossless__checks_only_the_order),
    cmocka_unit_test(ack__of_one_packet_is_due_after_a_while),
    cmocka_unit_test(ack__is_due_soon_when_an_operation_waits),
    cmocka_unit_test(ack__is_due_at_once_after_a_few_packets),
    cmocka_unit_test(ack__is_due_at_once_when_asked_for_or_when_something_is_odd),
    cmocka_unit_test(ack__tells_how_long_it_was_held_back),
    cmocka_unit_test(rtt__is_without_the_peers_delay),
    cmocka_unit_test(acked__is_the_first_number_that_is_not),
    cmocka_unit_test(room__is_the_congestion_window_less_what_is_under_way),
    cmocka_unit_test(room__comes_back_for_a_joined_frame),
    cmocka_unit_test(room__of_a_window_that_was_not_full_is_what_is_free),
    cmocka_unit_test(room__ends_where_the_oldest_hole_is_a_window_back),
    cmocka_unit_test(ecn__is_echoed_until_an_ack_has_left),
    cmocka_unit_test(take_all__gives_back_what_is_kept_in_order),
    cmocka_unit_test(idle_session__holds_no_window),
    cmocka_unit_test(traffic__allocates_nothing),
};
const unit::Group group{"session", cases};

} // namespace
