// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/sim/rx_queues.h"

#include "unit/link_sim/lab.h"

using namespace lab;

static const Address ours = Address::v4(0x0a000001, 4000);

static void queue_of__spreads_sources_evenly_and_keeps_each_to_one(void **) {
  const RxQueues queues(4, 8);
  unsigned sources[4] = {};
  for (std::uint32_t host = 0; host < 64; ++host) {
    const std::uint32_t queue = queues.queue_of(address(host), ours);
    assert_true(queue < 4);
    assert_int_equal(queue, queues.queue_of(address(host), address(77)));
    ++sources[queue];
  }
  for (const unsigned n : sources)
    assert_int_equal(n, 16);
  Address other_port = address(1);
  ++other_port.port;
  assert_int_not_equal(queues.queue_of(address(1), ours), queues.queue_of(other_port, ours));
}

static void queue_of__follows_a_rule(void **) {
  RxQueues queues(2, 8);
  queues.add_rule(ours, 3);
  for (std::uint32_t host = 0; host < 8; ++host) {
    assert_int_equal(queues.queue_of(address(host), ours), 2);
    assert_true(queues.queue_of(address(host), address(9)) < 2);
  }
  assert_int_equal(queues.queues()[2].descriptors, 3);
}

static void take__loses_what_finds_no_descriptor(void **) {
  RxQueues queues(2, 3);
  for (int i = 0; i < 5; ++i)
    assert_int_equal(queues.take(0), i < 3);
  assert_true(queues.take(1));
  queues.give_back(0);
  assert_true(queues.take(0));
  assert_int_equal(queues.queues()[0].taken, 4);
  assert_int_equal(queues.queues()[0].lost, 2);
  assert_int_equal(queues.queues()[0].waiting, 3);
  assert_int_equal(queues.queues()[0].most_waiting, 3);
  assert_int_equal(queues.lost(), 2);
}

// Two ports behind one NIC: what nobody polls at one takes the room of the other.
static void ports__share_the_queues_of_their_nic(void **) {
  Profile profile = plain();
  profile.rx_queues = std::make_shared<RxQueues>(1, 4);
  Lab l(profile);
  const auto sender = l.net.attach(address(3), plain());
  const PathId to_a = Lab::open(*sender, address(1)), to_b = Lab::open(*sender, address(2));
  for (int i = 0; i < 3; ++i)
    assert_true(Lab::send(*sender, to_a, "a"));
  for (int i = 0; i < 3; ++i)
    assert_true(Lab::send(*sender, to_b, "b"));
  l.run_for(1ms);
  assert_int_equal(profile.rx_queues->lost(), 2);
  assert_int_equal(l.net.counters().ring_full, 2);
  assert_int_equal(l.take(*l.b).size(), 1);
  assert_int_equal(profile.rx_queues->queues()[0].waiting, 3);
  assert_true(Lab::send(*sender, to_b, "b"));
  l.run_for(1ms);
  assert_int_equal(l.take(*l.b).size(), 1);
  assert_int_equal(l.take(*l.a).size(), 3);
  assert_int_equal(profile.rx_queues->queues()[0].waiting, 0);
}

static void port__gives_descriptors_back_when_it_goes(void **) {
  Profile profile = plain();
  profile.rx_queues = std::make_shared<RxQueues>(1, 4);
  Lab l(profile);
  const PathId path = Lab::open(*l.a, address(2));
  assert_true(Lab::send(*l.a, path, "x"));
  l.run_for(1ms);
  assert_int_equal(profile.rx_queues->queues()[0].waiting, 1);
  l.b.reset();
  assert_int_equal(profile.rx_queues->queues()[0].waiting, 0);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(queue_of__spreads_sources_evenly_and_keeps_each_to_one),
    cmocka_unit_test(queue_of__follows_a_rule),
    cmocka_unit_test(take__loses_what_finds_no_descriptor),
    cmocka_unit_test(ports__share_the_queues_of_their_nic),
    cmocka_unit_test(port__gives_descriptors_back_when_it_goes),
};
static const unit::Group group{"rx_queues", cases};
