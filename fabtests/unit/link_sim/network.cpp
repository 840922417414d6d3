// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/link_sim/lab.h"

using namespace lab;

static void attach__one_port_an_address(void **) {
  Lab l;
  assert_null(l.net.attach(address(1), plain()).get());
  l.a.reset();
  assert_non_null(l.net.attach(address(1), plain()).get());
}

static void attach__chooses_a_port_number(void **) {
  Lab l;
  const auto first = l.net.attach(Address::v4(0x0a000009, 0), plain());
  const auto second = l.net.attach(Address::v4(0x0a000009, 0), plain());
  assert_true(first->address().port != 0);
  assert_true(first->address().port != second->address().port);
}

// What was under way to a port that has died reaches its successor.
static void kill__leaves_what_is_under_way(void **) {
  Lab l;
  const PathId path = Lab::open(*l.a, address(2));
  Lab::send(*l.a, path, "for the next life");
  Lab::send(*l.b, Lab::open(*l.b, address(1)), "from the last one");
  l.net.kill(address(2));
  l.net.kill(address(1));
  assert_false(Lab::send(*l.a, path, "too late"));
  const auto next = l.net.attach(address(2), plain(), 3);
  const auto got = l.drain(*next);
  assert_int_equal(got.size(), 1);
  assert_string_equal(got[0].text.c_str(), "for the next life");
  assert_int_equal(l.net.counters().no_receiver, 1);
  l.b.reset(); // must not take its successor's place away
  assert_null(l.net.attach(address(2), plain()).get());
}

static void set_down__cuts_both_directions(void **) {
  Lab l;
  const PathId to_b = Lab::open(*l.a, address(2)), to_a = Lab::open(*l.b, address(1));
  l.net.set_down(address(2), true);
  Lab::send(*l.a, to_b, "x");
  Lab::send(*l.b, to_a, "x");
  assert_int_equal(l.drain(*l.a).size() + l.take(*l.b).size(), 0);
  assert_int_equal(l.net.counters().cut_off, 2);
  l.net.set_down(address(2), false);
  Lab::send(*l.a, to_b, "x");
  assert_int_equal(l.drain(*l.b).size(), 1);
}

static void set_blocked__cuts_one_pair(void **) {
  Lab l;
  const auto c = l.net.attach(address(3), plain());
  l.net.set_blocked(address(2), address(1), true);
  Lab::send(*l.a, Lab::open(*l.a, address(2)), "x");
  Lab::send(*c, Lab::open(*c, address(2)), "y");
  const auto got = l.drain(*l.b);
  assert_int_equal(got.size(), 1);
  assert_string_equal(got[0].text.c_str(), "y");
}

static void hook__drops_delays_and_rewrites(void **) {
  Lab l;
  l.net.set_hook([](const Departure &d) -> Verdict {
    const char first = static_cast<char>(d.bytes[0]);
    if (first == 'd')
      return {.drop = true};
    if (first == 'r')
      d.bytes[0] = std::byte{'R'};
    return {.delay = first == 'l' ? 1ms : 0ms};
  });
  const PathId path = Lab::open(*l.a, address(2));
  for (const char *text : {"drop", "late", "rewrite", "as is"})
    Lab::send(*l.a, path, text);
  const auto got = l.drain(*l.b);
  assert_int_equal(got.size(), 3);
  assert_string_equal(got[0].text.c_str(), "Rewrite");
  assert_string_equal(got[1].text.c_str(), "as is");
  assert_string_equal(got[2].text.c_str(), "late");
  assert_int_equal(got[2].at.count(), 1'010'000);
}

static void inject__comes_as_if_from_there(void **) {
  Lab l;
  l.net.set_faults({.loss = 1}); // spares it
  l.net.inject(address(77), address(2), std::as_bytes(std::span("old", 3)), 5ms);
  const auto got = l.drain(*l.b);
  assert_int_equal(got.size(), 1);
  assert_true(got[0].source == address(77));
  assert_int_equal(got[0].at.count(), 5'005'000);
}

static void at__calls_in_order_of_time(void **) {
  Lab l;
  std::string order;
  l.net.at(VirtualClock::start + 2ms, [&] { order += 'b'; });
  l.net.at(VirtualClock::start + 1ms, [&] {
    order += 'a';
    assert_true(l.since_start() == 1ms);
    l.net.at(VirtualClock::start + 3ms, [&] { order += 'c'; });
  });
  assert_true(l.net.next_event() == VirtualClock::start + 1ms);
  l.run_for(10ms);
  assert_string_equal(order.c_str(), "abc");
  assert_true(l.net.next_event() == never);
  assert_true(l.since_start() == 10ms);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(attach__one_port_an_address),
    cmocka_unit_test(attach__chooses_a_port_number),
    cmocka_unit_test(kill__leaves_what_is_under_way),
    cmocka_unit_test(set_down__cuts_both_directions),
    cmocka_unit_test(set_blocked__cuts_one_pair),
    cmocka_unit_test(hook__drops_delays_and_rewrites),
    cmocka_unit_test(inject__comes_as_if_from_there),
    cmocka_unit_test(at__calls_in_order_of_time),
};
static const unit::Group group{"network", cases};
