// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/steering.h"

#include "unit/link_ethdev/fake_rules.h"

#include <algorithm>
#include <random>

#include "unit/unit.h"

using dpdkx::link::Steering;

namespace {

constexpr std::uint16_t none = Steering::no_queue, first = 4;
using Queues = std::vector<std::uint16_t>;

// A NIC, and rules on it for `queues` queues from `first` on.
struct Lab {
  explicit Lab(std::uint16_t queues, const fake::Nic &as = {})
      : nic(as), rules(nic), steering(&rules, first, queues) {}
  fake::Nic nic;
  fake::Rules rules;
  Steering steering;
};

void claim__gives_a_queue_and_a_rule_for_it(void **) {
  Lab l(2);
  assert_true(l.steering.active());
  assert_true(l.steering.in_use().empty());
  const auto a = l.steering.claim(5000), b = l.steering.claim(5001);
  assert_true(a == first && b == first + 1);
  assert_true(l.nic.rules == (std::map<std::uint16_t, std::uint16_t>{{5000, a}, {5001, b}}));
  assert_true(l.steering.in_use() == (Queues{a, b}));
  assert_int_equal(l.steering.counters().rules, 2);
  l.steering.release(a);
  assert_true(l.nic.rules == (std::map<std::uint16_t, std::uint16_t>{{5001, b}}));
  assert_true(l.steering.in_use() == Queues{b});
  assert_int_equal(l.steering.claim(5002), a);
  assert_int_equal(l.steering.counters().given, 3);
}

void claim__without_rules_gives_none(void **) {
  Steering no_device(nullptr, first, 8);
  assert_false(no_device.active());
  assert_int_equal(no_device.claim(5000), none);
  no_device.release(none);
  Lab unsupported(8, {.supported = false});
  assert_false(unsupported.steering.active());
  assert_int_equal(unsupported.steering.claim(5000), none);
  Lab no_queues(0);
  assert_int_equal(no_queues.steering.claim(5000), none);
  assert_true(no_queues.nic.rules.empty());
}

void claim__queues_run_out(void **) {
  Lab l(2);
  const auto a = l.steering.claim(5000);
  l.steering.claim(5001);
  assert_int_equal(l.steering.claim(5002), none);
  assert_int_equal(l.steering.counters().exhausted, 1);
  assert_int_equal(l.nic.rules.size(), 2);
  l.steering.release(a);
  assert_int_equal(l.steering.claim(5002), a);
}

void claim__rules_run_out_before_queues(void **) {
  Lab l(8, {.room = 3});
  for (std::uint16_t port = 5000; port < 5003; ++port)
    assert_true(l.steering.claim(port) != none);
  for (int i = 0; i < 5; ++i)
    assert_int_equal(l.steering.claim(5003), none);
  assert_int_equal(l.steering.counters().refused, 5);
  assert_int_equal(l.steering.counters().exhausted, 0);
  assert_int_equal(l.steering.in_use().size(), 3);
  l.steering.release(first);
  assert_int_equal(l.steering.claim(5003), first);
}

void claim__that_is_refused_holds_nothing(void **) {
  Lab l(1, {.refusals = 3});
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(l.steering.claim(5000), none);
    assert_true(l.steering.in_use().empty());
  }
  assert_int_equal(l.steering.claim(5000), first);
}

// Nobody else gets the queue while packets for somebody who has gone may be sent there, and it is
// looked at: the port's next owner's may come that way.
void release__of_a_rule_that_stays(void **) {
  Lab l(2, {.failing_removes = 3});
  const auto a = l.steering.claim(5000);
  l.steering.release(a); // fails
  assert_true(l.steering.in_use() == Queues{a});
  assert_int_equal(l.steering.counters().stuck, 1);
  assert_int_equal(l.steering.counters().rules, 0);
  const auto b = l.steering.claim(5001); // tries again, in vain
  assert_true(b == first + 1);
  assert_int_equal(l.steering.claim(5002), none); // the third time
  assert_int_equal(l.steering.claim(5002), a);
  assert_int_equal(l.steering.counters().stuck, 0);
  assert_true(l.nic.rules == (std::map<std::uint16_t, std::uint16_t>{{5001, b}, {5002, a}}));
  assert_int_equal(l.nic.unknown_removes, 0);
}

void release__of_a_rule_that_is_gone(void **) {
  Lab l(1);
  for (int i = 0; i < 3; ++i) {
    const auto queue = l.steering.claim(5000);
    assert_int_equal(queue, first);
    l.nic.rules.clear(); // without a word
    l.steering.release(queue);
    assert_true(l.steering.in_use().empty());
  }
}

void end__removes_all_rules(void **) {
  fake::Nic nic;
  fake::Rules rules(nic);
  {
    Steering s(&rules, first, 4);
    for (std::uint16_t port = 5000; port < 5004; ++port)
      s.claim(port);
    nic.failing_removes = 1;
    s.release(first);
    assert_int_equal(nic.rules.size(), 4);
  }
  assert_true(nic.rules.empty());
}

// Whatever happens: no queue has two owners, and in the end there is nothing left.
void random__cycles_leave_nothing(void **) {
  const auto seed = std::random_device{}();
  print_message("seed %u\n", seed);
  std::mt19937 random(seed);
  Lab l(5, {.room = 4});
  std::map<std::uint16_t, std::uint16_t> owned; // port by queue
  for (unsigned i = 0; i < 20000; ++i) {
    l.nic.refusals = random() % 8 == 0;
    l.nic.failing_removes = random() % 8 == 0;
    if (owned.size() < 6 && random() % 2 == 0) {
      const auto port = static_cast<std::uint16_t>(1 + i % 60000);
      const auto queue = l.steering.claim(port);
      if (queue == none)
        continue;
      assert_true(queue >= first && queue < first + 5);
      assert_true(owned.try_emplace(queue, port).second);
      assert_int_equal(l.nic.rules.at(port), queue);
    } else if (!owned.empty()) {
      const auto some = std::next(owned.begin(), static_cast<long>(random() % owned.size()));
      l.steering.release(some->first);
      owned.erase(some);
    }
    for (const auto &[queue, port] : owned)
      assert_true(std::ranges::count(l.steering.in_use(), queue) == 1);
    for (const auto &[port, queue] : l.nic.rules) // also of those that have gone
      assert_true(std::ranges::count(l.steering.in_use(), queue) == 1);
    assert_int_equal(l.steering.counters().rules, owned.size());
  }
  l.nic.refusals = l.nic.failing_removes = 0;
  for (const auto &[queue, port] : owned)
    l.steering.release(queue);
  l.steering.release(l.steering.claim(1));
  assert_true(l.nic.rules.empty() && l.steering.in_use().empty());
  assert_int_equal(l.nic.unknown_removes, 0);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(claim__gives_a_queue_and_a_rule_for_it),
    cmocka_unit_test(claim__without_rules_gives_none),
    cmocka_unit_test(claim__queues_run_out),
    cmocka_unit_test(claim__rules_run_out_before_queues),
    cmocka_unit_test(claim__that_is_refused_holds_nothing),
    cmocka_unit_test(release__of_a_rule_that_stays),
    cmocka_unit_test(release__of_a_rule_that_is_gone),
    cmocka_unit_test(end__removes_all_rules),
    cmocka_unit_test(random__cycles_leave_nothing),
};
const unit::Group group{"ethdev_steering", cases};

} // namespace
