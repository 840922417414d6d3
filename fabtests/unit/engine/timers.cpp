// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/engine/timers.h"
#include "dpdkx/engine/conn_table.h"
#include "unit/property.h"

#include <algorithm>
#include <vector>

#include "unit/unit.h" // last: cmocka defines fail

using namespace dpdkx;
using namespace dpdkx::engine;

namespace {

constexpr Time at(std::int64_t ns) { return Time(Duration(ns)); }

struct Fixture {
  explicit Fixture(int n) {
    while (n--)
      conns.push_back(table.make(gate, Address::v4(1, 1), nullptr, false));
  }
  session::Gate gate{session::Params{}, Address::v4(1, 1), 7};
  ConnTable table;
  Timers timers;
  std::vector<Conn *> conns;

  std::vector<Time> drain() {
    std::vector<Time> order;
    while (timers.due(never)) {
      order.push_back(timers.next());
      timers.remove(*timers.due(never));
    }
    return order;
  }
};

void timers__of_nobody(void **) {
  Fixture f(1);
  assert_true(f.timers.next() == never);
  assert_null(f.timers.due(never));
  f.timers.remove(*f.conns[0]);
  f.timers.at_latest(*f.conns[0], never);
  assert_true(f.timers.next() == never);
  assert_null(f.timers.due(never));
}

void at_latest__moves_forward_only(void **) {
  Fixture f(2);
  Conn &a = *f.conns[0], &b = *f.conns[1];
  f.timers.at_latest(a, at(10));
  f.timers.at_latest(b, at(20));
  f.timers.at_latest(a, at(30)); // it will be found out at 10
  assert_true(f.timers.next() == at(10));
  f.timers.at_latest(a, never);
  assert_true(f.timers.next() == at(10));
  f.timers.at_latest(b, at(5));
  assert_ptr_equal(f.timers.due(never), &b);
  assert_true(f.timers.next() == at(5));
  f.timers.remove(b);
  f.timers.at_latest(b, at(30)); // anew
  assert_ptr_equal(f.timers.due(never), &a);
  assert_true(f.drain() == (std::vector{at(10), at(30)}));
}

// From the beginning of time to its end; "in the past" is what sessions say
// that want to be asked at once.
void timers__know_the_ends_of_time(void **) {
  Fixture f(5);
  const Time times[] = {Time::max() - Duration(1), Time::min(), at(0), at(-1), at(1)};
  for (int i = 0; i < 5; ++i)
    f.timers.at_latest(*f.conns[i], times[i]);
  assert_true(f.drain() ==
              (std::vector{Time::min(), at(-1), at(0), at(1), Time::max() - Duration(1)}));
}

void timers__at_one_time_are_all_there(void **) {
  Fixture f(50);
  for (Conn *c : f.conns)
    f.timers.at_latest(*c, at(7));
  f.timers.remove(*f.conns[20]);
  std::vector<Conn *> order;
  while (Conn *c = f.timers.due(never)) {
    order.push_back(c);
    f.timers.remove(*c);
  }
  assert_int_equal(order.size(), 49);
  std::ranges::sort(order);
  assert_true(std::ranges::adjacent_find(order) == order.end());
}

void timers__agree_with_a_sorted_list(void **) {
  assert_true(unit::holds("at_latest, remove", [] {
    constexpr std::size_t count = 40;
    Fixture f(count);
    std::vector<Time> model(count, never);
    const auto steps =
        *rc::gen::container<std::vector<std::uint32_t>>(300, rc::gen::arbitrary<std::uint32_t>());
    for (const std::uint32_t s : steps) {
      const std::size_t i = s % count;
      if (s / count % 3 == 0) {
        f.timers.remove(*f.conns[i]);
        model[i] = never;
      } else {
        const Time t = at(s / 128 % 50);
        f.timers.at_latest(*f.conns[i], t);
        model[i] = std::min(model[i], t);
      }
      RC_ASSERT(f.timers.next() == *std::ranges::min_element(model));
      if (f.timers.due(never))
        RC_ASSERT(model[static_cast<std::size_t>(std::ranges::find(f.conns, f.timers.due(never)) -
                                                 f.conns.begin())] == f.timers.next());
    }
    std::erase(model, never);
    std::ranges::sort(model);
    RC_ASSERT(f.drain() == model);
  }));
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(timers__of_nobody),
    cmocka_unit_test(at_latest__moves_forward_only),
    cmocka_unit_test(timers__know_the_ends_of_time),
    cmocka_unit_test(timers__at_one_time_are_all_there),
    cmocka_unit_test(timers__agree_with_a_sorted_list),
};
static const unit::Group group{"timers", cases};
