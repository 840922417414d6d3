// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "lab.h"

using namespace lab;

namespace {

constexpr std::uint32_t first = 256; // units: Options::credit

std::size_t requests(Lab &l) {
  std::size_t n = 0;
  for (const FrameType t : l.a.in_flight(1))
    n += t == FrameType::rts;
  return n;
}

void credit__that_is_spent_makes_sends_ask(void **) {
  Lab l;
  // One unit for the header, one for each 64 bytes begun.
  for (unsigned i = 0; i < first / 2; ++i)
    l.a.send(1, pattern(i % 64 + 1), {.flags = FI_INJECT_COMPLETE});
  assert_int_equal(requests(l), 0);
  l.a.send(1, pattern(0));
  assert_int_equal(requests(l), 1);
  l.a.send(1, pattern(900));
  assert_int_equal(requests(l), 2);
}

void credit__of_exactly_the_rest_is_enough(void **) {
  Lab l;
  l.a.send(1, pattern(64 * 100));     // 101
  l.a.send(1, pattern(64 * 100 + 1)); // 102
  l.a.send(1, pattern(64 * 52));      // 53
  assert_int_equal(requests(l), 0);
  assert_int_equal(l.a.to(1).tx_used, first);
  l.a.send(1, pattern(0));
  assert_int_equal(requests(l), 1);
}

// Nothing is lost for want of a posted receive, and what has asked goes on.
void credit__runs_out_and_nothing_is_lost(void **) {
  for (const bool lossless : {false, true}) {
    Lab l({.lossless = lossless});
    constexpr unsigned count = 60;
    std::vector<Call *> sends;
    for (unsigned i = 0; i < count; ++i) {
      sends.push_back(&l.a.send(1, pattern(1000 + i, i), {.data = i}));
      if (i % 7 == 0)
        l.run();
    }
    l.run();
    assert_int_equal(l.b.m->counters().unexpected, count);
    for (unsigned i = 0; i < count; ++i) {
      Call &r = l.b.receive(2000);
      l.run();
      assert_true(r.ok());
      assert_int_equal(r.done[0].data, i);
      assert_true(r.starts_with(pattern(1000 + i, i)));
    }
    for (const Call *s : sends)
      assert_true(s->ok());
  }
}

void credit__comes_back_with_the_receives(void **) {
  Options o;
  o.limits.unexpected_peer = first * wire::credit_unit; // no more than at first
  Lab l(o);
  const auto fill = [&] {
    unsigned n = 0;
    for (; requests(l) == 0 && n < 64; ++n)
      l.a.send(1, pattern(900), {.flags = FI_INJECT_COMPLETE});
    return n;
  };
  const unsigned eager = fill();
  assert_true(eager > 5);
  l.run();
  l.a.send(1, pattern(900), {.flags = FI_INJECT_COMPLETE});
  assert_int_equal(requests(l), 1); // all of it is unread
  l.run();
  for (unsigned i = 0; i <= eager; ++i)
    l.b.receive(900);
  l.run();
  assert_true(fill() >= eager);
}

// The receiver tells by itself once there is half a window to tell about.
void give_back__tells_when_it_is_worth_it(void **) {
  Lab l;
  for (int i = 0; i < 8; ++i)
    l.a.send(1, pattern(64 * 15)); // 16 units each
  l.deliver_all(0, 1);
  l.b.to(0).ack = false;
  for (int i = 0; i < 7; ++i)
    l.b.receive(1000);
  assert_false(l.b.to(0).ack);
  l.b.receive(1000);
  assert_true(l.b.to(0).ack);
  assert_int_equal(l.a.to(1).tx_limit, first);
  l.tell(1, 0);
  assert_int_equal(l.a.to(1).tx_limit, first + 128);
  assert_false(l.b.to(0).ack);
}

// More than the window holds, all of it received at once.
void burst(Lab &l, unsigned from) {
  for (int i = 0; i < 60; ++i)
    l.b.receive(1000);
  for (int i = 0; i < 60; ++i)
    l.side(from).send(1, pattern(1000));
  l.run();
}

// As long as receives are there: doubling, up to what one peer may have.
void window__grows_with_use(void **) {
  Options o;
  o.limits.unexpected_peer = 100 * 1024;
  Lab l(o);
  std::uint32_t window = first;
  for (int i = 0; i < 20; ++i) {
    burst(l, 0);
    const std::uint32_t now = l.b.to(0).rx_window;
    assert_true(now >= window);
    window = now;
  }
  assert_int_equal(window, 1600); // 100 KiB
}

void window__stays_while_there_is_enough(void **) {
  Lab l;
  for (int i = 0; i < 40; ++i) {
    l.b.receive(1000);
    l.a.send(1, pattern(1000));
    l.run(); // which tells
  }
  assert_int_equal(l.b.to(0).rx_window, first);
}

// What came as a request would have been sent at once, had there been credit.
void window__grows_when_small_messages_have_to_ask(void **) {
  Lab l({.credit = 4});
  l.b.receive(1000);
  l.a.send(1, pattern(300));
  assert_int_equal(requests(l), 1);
  l.run();
  assert_int_equal(l.b.to(0).rx_window, 8);
  l.b.receive(5000); // many times what there is
  l.a.send(1, pattern(5000));
  l.run();
  assert_int_equal(l.b.to(0).rx_window, 16);
  l.b.receive(9000);
  l.a.send(1, pattern(9000)); // no credit would do for this one
  l.run();
  assert_int_equal(l.b.to(0).rx_window, 16);
}

// What the setting allows is what may wait; then messages wait at their sender.
void window__grows_while_nothing_is_received(void **) {
  for (const std::size_t len : {8, 1000, 7000}) {
    Options o;
    o.limits.unexpected_peer = 128 * 1024;
    Lab l(o);
    const std::size_t cost = (1 + (len + wire::credit_unit - 1) / wire::credit_unit);
    const std::size_t may_wait = o.limits.unexpected_peer / wire::credit_unit / cost;
    for (std::size_t i = 0; i < may_wait + 10; ++i) {
      l.a.send(1, pattern(len));
      l.run();
    }
    const Remote &p = l.b.to(0);
    assert_int_equal(p.rx_window * wire::credit_unit, o.limits.unexpected_peer);
    assert_int_equal(l.a.queues.sends_ok(), may_wait);
    for (std::size_t i = 0; i < may_wait + 10; ++i)
      l.b.receive(len);
    l.run();
    assert_int_equal(l.a.queues.sends_ok(), may_wait + 10);
  }
}

void windows__grow_from_one_pool(void **) {
  Options o;
  o.limits.unexpected_pool = 3 * first * wire::credit_unit;
  Lab l(o, 3);
  const auto use = [&](unsigned from) {
    for (int i = 0; i < 20; ++i)
      burst(l, from);
  };
  use(0);
  assert_int_equal(l.b.to(0).rx_window, 4 * first); // three of the pool
  use(2);
  assert_int_equal(l.b.to(2).rx_window, first); // nothing is left
  l.b.lose(0, FI_ECONNRESET);                   // gives it back
  use(2);
  assert_int_equal(l.b.to(2).rx_window, 4 * first);
}

// A sender that always has something to send, and receives that come late: what
// is buffered stays within the windows.
void unexpected__memory_is_bounded_by_the_window(void **) {
  Options o;
  o.limits.unexpected_peer = 32 * 1024;
  Lab l(o);
  std::uint64_t sent = 0, received = 0;
  for (int round = 0; round < 30; ++round) {
    for (Call c(pattern(700)); l.a.calls.size() < 5000;) {
      Call &s = l.a.calls.emplace_back(pattern(700));
      if (l.a.try_send(s, 1) != 0)
        break;
      ++sent;
    }
    l.run();
    const Remote &p = l.b.to(0);
    assert_true((p.rx_used - p.rx_released) * wire::credit_unit <= o.limits.unexpected_peer);
    for (int i = 0; i < 20 && received < sent; ++i, ++received)
      assert_true(l.b.receive(700).done.size() <= 1);
    l.run();
  }
  for (; received < sent; ++received)
    l.b.receive(700);
  l.run();
  assert_int_equal(l.a.queues.sends_ok(), sent);
  assert_int_equal(l.b.queues.receives_ok(), sent);
  assert_int_equal(l.b.to(0).rx_used, l.b.to(0).rx_released);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(credit__that_is_spent_makes_sends_ask),
    cmocka_unit_test(credit__of_exactly_the_rest_is_enough),
    cmocka_unit_test(credit__runs_out_and_nothing_is_lost),
    cmocka_unit_test(credit__comes_back_with_the_receives),
    cmocka_unit_test(give_back__tells_when_it_is_worth_it),
    cmocka_unit_test(window__grows_with_use),
    cmocka_unit_test(window__stays_while_there_is_enough),
    cmocka_unit_test(window__grows_when_small_messages_have_to_ask),
    cmocka_unit_test(window__grows_while_nothing_is_received),
    cmocka_unit_test(windows__grow_from_one_pool),
    cmocka_unit_test(unexpected__memory_is_bounded_by_the_window),
};
static const unit::Group group{"credit", cases};
