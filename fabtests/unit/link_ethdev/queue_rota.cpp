// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/queue_rota.h"

#include <map>

#include "unit/unit.h"

using dpdkx::link::QueueRota;

namespace {

constexpr std::uint16_t none = QueueRota::no_queue;

// Queues with so many packets each.
struct Lab {
  std::map<std::uint16_t, unsigned> waiting, taken;
  std::vector<std::uint16_t> order; // in which the last poll looked at them
  QueueRota rota;

  unsigned poll(std::uint16_t own, unsigned max) {
    unsigned all = 0;
    order.clear();
    rota.round(own, max, [&](std::uint16_t queue, unsigned most) {
      const unsigned n = std::min(most, waiting[queue]);
      order.push_back(queue);
      waiting[queue] -= n;
      taken[queue] += n;
      all += n;
      return n;
    });
    assert_true(all <= max);
    return all;
  }
};

using Order = std::vector<std::uint16_t>;

void round__one_queue_is_one_burst(void **) {
  Lab l;
  l.rota.open(1, 1);
  l.waiting = {{0, 40}};
  assert_int_equal(l.poll(none, 32), 32);
  assert_true(l.order == Order{0});
  assert_int_equal(l.poll(none, 32), 8);
}

void round__goes_on_where_it_stopped(void **) {
  Lab l;
  l.rota.open(3, 3);
  l.waiting = {{0, 1000}, {1, 10}, {2, 1000}};
  assert_int_equal(l.poll(none, 32), 32);
  assert_true(l.order == Order{0});
  assert_int_equal(l.poll(none, 32), 32);
  assert_true(l.order == (Order{1, 2}));
  assert_int_equal(l.poll(none, 32), 32);
  assert_true(l.order == Order{0});
}

void round__is_fair_whoever_is_never_empty(void **) {
  Lab l;
  l.rota.open(4, 4);
  for (unsigned i = 0; i < 400; ++i) {
    l.waiting = {{0, 1000}, {1, 1000}, {2, 1000}, {3, 1000}};
    l.poll(none, 32);
  }
  for (std::uint16_t queue = 0; queue < 4; ++queue)
    assert_int_equal(l.taken[queue], 100 * 32);
}

void round__of_empty_queues_looks_at_each_once(void **) {
  Lab l;
  l.rota.open(3, 6);
  l.rota.set(std::vector<std::uint16_t>{5});
  assert_int_equal(l.poll(none, 32), 0);
  std::ranges::sort(l.order);
  assert_true(l.order == (Order{0, 1, 2, 5}));
  l.rota.set({});
  l.poll(none, 32);
  assert_true(l.order == (Order{0, 1, 2}));
}

void own__comes_first_and_leaves_room(void **) {
  Lab l;
  l.rota.open(2, 4);
  l.rota.set(std::vector<std::uint16_t>{2, 3});
  for (unsigned i = 0; i < 300; ++i) {
    l.waiting = {{0, 1000}, {1, 1000}, {2, 1000}, {3, 1000}};
    assert_int_equal(l.poll(3, 32), 32);
    assert_int_equal(l.order[0], 3);
  }
  assert_int_equal(l.taken[3], 300 * 16);
  for (std::uint16_t queue = 0; queue < 3; ++queue)
    assert_int_equal(l.taken[queue], 100 * 16);
}

void own__has_all_the_room_that_others_leave(void **) {
  Lab l;
  l.rota.open(2, 3);
  l.rota.set(std::vector<std::uint16_t>{2});
  l.waiting = {{2, 100}, {1, 3}};
  assert_int_equal(l.poll(2, 32), 32);
  assert_int_equal(l.taken[1], 3);
  assert_int_equal(l.taken[2], 29);
}

// Also by who takes one packet at a time.
void own__starves_nobody(void **) {
  Lab l;
  l.rota.open(1, 2);
  l.rota.set(std::vector<std::uint16_t>{1});
  l.waiting = {{0, 100}, {1, 100}};
  for (unsigned i = 0; i < 100; ++i)
    assert_int_equal(l.poll(1, 1), 1);
  assert_int_equal(l.taken[0], 50);
  assert_int_equal(l.taken[1], 50);
}

// Of the pool: where rules are not kept apart, or don't count.
void set__of_queues_that_are_looked_at_anyway(void **) {
  Lab l;
  l.rota.open(4, 4);
  l.rota.set(std::vector<std::uint16_t>{2, 3});
  l.poll(3, 32);
  std::ranges::sort(l.order);
  assert_true(l.order == (Order{0, 1, 2, 3}));
}

const CMUnitTest cases[] = {
    cmocka_unit_test(round__one_queue_is_one_burst),
    cmocka_unit_test(round__goes_on_where_it_stopped),
    cmocka_unit_test(round__is_fair_whoever_is_never_empty),
    cmocka_unit_test(round__of_empty_queues_looks_at_each_once),
    cmocka_unit_test(own__comes_first_and_leaves_room),
    cmocka_unit_test(own__has_all_the_room_that_others_leave),
    cmocka_unit_test(own__starves_nobody),
    cmocka_unit_test(set__of_queues_that_are_looked_at_anyway),
};
const unit::Group group{"ethdev_queue_rota", cases};

} // namespace
