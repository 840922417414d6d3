// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "lab.h"

#include <algorithm>

using namespace lab;

namespace {

constexpr Duration tick = 100ms;

// The application of `n` computes; its service thread ticks.
void compute(World &w, Node &n, Duration d) {
  n.computes = true;
  for (const Time end = w.now() + d; w.now() < end;) {
    w.run_for(tick);
    n.service();
  }
  n.queues.reap();
}

void service__acknowledges_and_keeps_for_the_next_turn(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  Call &r = b.receive(10);
  Call &s = a.send(1, pattern(10)), &d = a.send(1, pattern(5), {.flags = FI_DELIVERY_COMPLETE});
  compute(w, b, 1s);
  assert_true(s.ok());   // received
  assert_true(d.open()); // but not processed
  assert_true(r.open());
  assert_true(r.holds(Bytes(10)));
  assert_int_equal(b.statistics().messages_received, 1);
  b.computes = false;
  assert_true(w.finish({&r, &d}, 10ms));
  assert_true(r.holds(pattern(10)) && d.ok());
  assert_true(b.receive(5).holds(pattern(5)));
}

// What has been acknowledged arrives, although its sender has gone meanwhile; and so does what it
// has acknowledged.
void service__keeps_what_came_before_a_bye(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  b.computes = true;
  Call &back = b.send(0, pattern(10));
  a.receive(10);
  Call &s = a.send(1, pattern(20)), &large = a.send(1, pattern(4000));
  compute(w, b, 1s);
  assert_true(s.ok() && large.ok());
  w.close(0);
  compute(w, b, 1s);
  b.computes = false;
  Call &r = b.receive(20), &r2 = b.receive(4000); // which ends a turn, too
  assert_true(w.finish({&r, &r2, &back}, 10ms));
  assert_true(r.holds(pattern(20)) && r2.holds(pattern(4000)));
  assert_true(back.ok());
}

// A peer goes and comes back while the application computes: what waited for the one is not for the
// other.
void service__gives_a_new_life_nothing_of_the_last(void **) {
  World w;
  Node &a = w.start();
  w.start();
  w.exchange(0, 1);
  w.hook = [&](const Departure &d, PacketType t) {
    return Verdict{.drop = t == PacketType::data && d.from == a.address};
  };
  Call &lost = a.send(1, pattern(10)), &waits = a.send(1, pattern(10), {.flags = FI_FENCE});
  a.computes = true;
  w.close(1);
  compute(w, a, 300ms);
  w.hook = {};
  Node &b = w.restart(1);
  Call &hello = b.send(0, pattern(20)), &none = b.receive(10);
  compute(w, a, 1s);
  a.computes = false;
  Call &r = a.receive(20);
  assert_true(w.finish({&lost, &waits, &hello, &r}, 1s));
  assert_int_equal(lost.error(), ECONNRESET);
  assert_int_equal(waits.error(), ECONNRESET);
  assert_true(hello.ok() && r.holds(pattern(20)));
  w.run_for(100ms);
  assert_true(none.open());
}

void service__sets_sessions_up(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  Call &s = a.send(1, pattern(10));
  compute(w, b, 2s);
  assert_true(s.ok());
  b.computes = false;
  Call &r = b.receive(10);
  assert_true(w.finish({&r}, 10ms));
  assert_true(r.ok());
}

// Even its own operations: a completion that comes from nowhere is a surprise.
void service__completes_nothing(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  Call &r = a.receive(10);
  b.computes = true;
  Call &s = b.send(0, pattern(10));
  compute(w, b, 1s);
  assert_true(r.ok());
  assert_true(s.open());
  b.computes = false;
  assert_true(w.finish({&s}, 1ms));
  assert_true(s.ok());
}

void peer__that_computes_for_a_minute_lives(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  Call &s = a.send(1, pattern(100000));
  compute(w, b, 60s);
  assert_true(s.open());
  b.computes = false;
  Call &r = b.receive(100000);
  assert_true(w.finish({&s, &r}, 1s));
  assert_true(s.ok() && r.ok());
}

void peer__that_computes_without_service_is_dead(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  b.computes = true;
  Call &s = a.send(1, pattern(100000));
  assert_true(w.finish({&s}, 15s));
  assert_int_equal(s.error(), ETIMEDOUT);
}

// Beyond that many bytes packets are as good as lost; nothing is.
void backlog__is_bounded(void **) {
  constexpr unsigned count = 300;
  World w;
  w.options.config.session.first_credit = 64 * 1024;
  w.options.config.backlog = 20000;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  for (unsigned i = 0; i < count; ++i)
    a.send(1, pattern(1000, i));
  compute(w, b, 5s);
  const std::uint64_t acked = a.queues.sends_ok() - 1;
  assert_true(acked >= 15 && acked <= 25);
  b.computes = false;
  assert_true(w.run_until([&] { return a.queues.sends_ok() == count + 1; }, 10s));
  assert_int_equal(b.statistics().messages_received, count + 1);
  for (unsigned i = 0; i < count; ++i)
    assert_true(b.receive(1000).holds(pattern(1000, i)));
}

// A peer that goes while the application computes is buried at its next turn.
void service__buries_nobody(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  Call &s = b.send(0, pattern(100000));
  w.run_for(1ms);
  b.computes = true;
  w.close(0);
  compute(w, b, 1s);
  assert_true(s.open());
  b.computes = false;
  assert_true(w.finish({&s}, 1ms));
  assert_int_equal(s.error(), ECONNRESET);
  a.queues.reap();
}

// Before that turn comes, a call of the application may bury the peer whose
// packets wait.
void service__keeps_nothing_of_a_peer_that_is_buried(void **) {
  World w;
  Node &a = w.start(), &b = w.start(), &c = w.start();
  w.exchange(0, 1);
  Call &s = c.send(1, pattern(100000), {.tag = 1});
  w.run_for(1ms);
  a.send(1, pattern(10));
  b.computes = true;
  w.run_for(1ms);
  w.close(0);
  compute(w, b, 1s);
  Call &r = b.receive(100000, {.tag = 1}); // answers at once
  b.computes = false;
  assert_true(w.finish({&s, &r}, 1s));
  assert_true(s.ok() && r.ok());
  w.exchange(2, 1);
}

void service__without_a_device_or_after_close(void **) {
  World w;
  Node &a = w.start(On::host), &b = w.start(On::host), &c = w.start();
  w.exchange(0, 1);
  Call &r = b.receive(10);
  a.send(1, pattern(10));
  b.computes = true;
  w.run_for(1ms);
  b.service();
  b.queues.reap();
  assert_true(r.open());
  b.computes = false;
  assert_true(w.finish({&r}, 1ms));
  w.close(2);
  c.service();
  assert_true(w.seen.empty());
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(service__acknowledges_and_keeps_for_the_next_turn),
    cmocka_unit_test(service__keeps_what_came_before_a_bye),
    cmocka_unit_test(service__gives_a_new_life_nothing_of_the_last),
    cmocka_unit_test(service__sets_sessions_up),
    cmocka_unit_test(service__completes_nothing),
    cmocka_unit_test(peer__that_computes_for_a_minute_lives),
    cmocka_unit_test(peer__that_computes_without_service_is_dead),
    cmocka_unit_test(backlog__is_bounded),
    cmocka_unit_test(service__buries_nobody),
    cmocka_unit_test(service__keeps_nothing_of_a_peer_that_is_buried),
    cmocka_unit_test(service__without_a_device_or_after_close),
};
static const unit::Group group{"service", cases};
