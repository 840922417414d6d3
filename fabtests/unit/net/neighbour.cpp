// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/neighbour.h"

#include "unit/op/allocations.h"

#include <map>
#include <new>
#include <set>

#include "unit/property.h"
#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::net;
using namespace std::chrono_literals;

namespace {

constexpr Ipv4 ip1{0x0a000001}, ip2{0x0a000002};
constexpr Mac mac1{{2, 0, 0, 0, 0, 1}}, mac2{{2, 0, 0, 0, 0, 2}};

struct World {
  NeighbourTable::Settings settings;
  NeighbourTable table;
  Time now{1h};
  std::vector<NeighbourTable::Request> sent;

  explicit World(NeighbourTable::Settings s = {}) : settings(s), table(s) {}

  // Turns of a millisecond; what was asked meanwhile is in sent.
  void run(Duration span) {
    sent.clear();
    for (auto end = now + span; now < end; now += 1ms) {
      const auto requests = table.tick(now);
      sent.insert(sent.end(), requests.begin(), requests.end());
    }
  }
};

} // namespace

static void neighbour__asked_at_once_and_resolved(void **) {
  World world;
  auto &neighbour = world.table.acquire(ip1);
  assert_false(neighbour.resolved());
  world.run(1ms);
  assert_int_equal(world.sent.size(), 1);
  assert_true(world.sent[0].ip == ip1 && world.sent[0].to == Mac::broadcast());
  auto before = world.table.changes();
  world.table.learn(ip1, mac1, world.now, false);
  assert_true(neighbour.resolved());
  assert_true(neighbour.mac() == mac1);
  assert_int_not_equal(world.table.changes(), before);
  world.run(5s);
  assert_int_equal(world.sent.size(), 0);
}

static void neighbour__asked_again_at_growing_intervals_then_failed(void **) {
  World world({.resolve_timeout = 10s});
  auto &neighbour = world.table.acquire(ip1);
  world.run(200ms);
  assert_in_range(world.sent.size(), 4, 5); // 0, 20, 60, 140 ms
  world.run(9700ms);
  assert_in_range(world.sent.size(), 9, 13);
  assert_false(neighbour.failed());
  world.run(200ms);
  assert_true(neighbour.failed());
  world.run(5s);
  assert_int_equal(world.sent.size(), 0);
}

static void neighbour__failed_is_tried_anew_by_the_next_user(void **) {
  World world({.resolve_timeout = 1s});
  auto &neighbour = world.table.acquire(ip1);
  world.run(2s);
  assert_true(neighbour.failed());
  auto &again = world.table.acquire(ip1);
  assert_ptr_equal(&again, &neighbour);
  assert_false(again.failed());
  world.run(1ms);
  assert_int_equal(world.sent.size(), 1);
  world.table.learn(ip1, mac1, world.now, false);
  assert_true(again.resolved());
}

static void neighbour__answer_after_failure_counts(void **) {
  World world({.resolve_timeout = 1s});
  auto &neighbour = world.table.acquire(ip1);
  world.run(2s);
  world.table.learn(ip1, mac1, world.now, false);
  assert_true(neighbour.resolved() && !neighbour.failed());
}

static void neighbour__traffic_confirms(void **) {
  World world;
  auto &neighbour = world.table.acquire(ip1);
  world.run(1ms);
  world.table.learn(ip1, mac1, world.now, false);
  for (int i = 0; i < 120; ++i) {
    neighbour.note_used();
    neighbour.note_heard(mac1);
    world.run(1s);
    assert_int_equal(world.sent.size(), 0);
  }
}

static void neighbour__silence_under_use_is_looked_into_with_the_old_address_in_use(void **) {
  World world;
  auto &neighbour = world.table.acquire(ip1);
  world.run(1ms);
  world.table.learn(ip1, mac1, world.now, false);
  std::vector<NeighbourTable::Request> asked;
  for (int i = 0; i < 40; ++i) {
    neighbour.note_used();
    world.run(1s);
    asked.insert(asked.end(), world.sent.begin(), world.sent.end());
    assert_true(neighbour.resolved() && neighbour.mac() == mac1);
  }
  assert_true(asked.size() > 3);
  assert_true(asked[0].to == mac1 && asked[2].to == mac1);
  assert_true(asked[3].to == Mac::broadcast());
  world.table.learn(ip1, mac2, world.now, false); // it has moved
  assert_true(neighbour.mac() == mac2);
  world.run(1s);
  assert_int_equal(world.sent.size(), 0);
}

static void neighbour__unused_is_left_alone(void **) {
  World world;
  world.table.acquire(ip1);
  world.run(1ms);
  world.table.learn(ip1, mac1, world.now, false);
  world.run(300s);
  assert_int_equal(world.sent.size(), 0);
}

static void neighbour__frames_from_elsewhere_are_looked_into(void **) {
  World world;
  auto &neighbour = world.table.acquire(ip1);
  world.run(1ms);
  world.table.learn(ip1, mac1, world.now, false);
  neighbour.note_heard(mac2);
  world.run(2s);
  assert_true(!world.sent.empty());
  assert_true(neighbour.mac() == mac1); // a frame alone doesn't redirect ours
}

static void neighbour__fixed_is_never_asked_nor_changed(void **) {
  World world;
  world.table.add_fixed(ip1, mac1);
  auto &neighbour = world.table.acquire(ip1);
  assert_true(neighbour.resolved());
  world.table.learn(ip1, mac2, world.now, false);
  neighbour.note_used();
  world.run(100s);
  assert_true(neighbour.mac() == mac1);
  assert_int_equal(world.sent.size(), 0);
  world.table.release(neighbour);
  world.run(100s);
  assert_true(world.table.acquire(ip1).resolved());
}

static void learn__ignores_those_nobody_asked_for(void **) {
  World world;
  world.table.learn(ip2, mac2, world.now, false);
  assert_int_equal(world.table.size(), 0);
}

static void learn__keeps_who_asks_us_up_to_a_bound(void **) {
  World world({.max_unasked = 10});
  for (std::uint32_t i = 0; i < 20; ++i)
    world.table.learn(Ipv4{ip1.value + i}, mac1, world.now, true);
  assert_int_equal(world.table.size(), 10);
  assert_true(world.table.acquire(ip1).resolved());
  world.run(60s);
  assert_int_equal(world.table.size(), 1); // the one in use
}

static void learn_weakly__confirms_but_replaces_nothing(void **) {
  World world;
  world.table.learn_weakly(ip2, mac2, world.now);
  assert_int_equal(world.table.size(), 0);
  auto &neighbour = world.table.acquire(ip1);
  world.run(1ms);
  world.table.learn_weakly(ip1, {}, world.now); // where it is hasn't been told yet
  assert_false(neighbour.resolved());
  world.table.learn_weakly(ip1, mac1, world.now);
  assert_true(neighbour.resolved() && neighbour.mac() == mac1);
  for (int i = 0; i < 60; ++i) {
    neighbour.note_used();
    world.table.learn_weakly(ip1, i % 2 ? Mac{} : mac1, world.now);
    world.run(1s);
    assert_int_equal(world.sent.size(), 0);
  }
  world.table.learn_weakly(ip1, mac2, world.now);
  world.run(2s);
  assert_true(neighbour.mac() == mac1);
  assert_true(!world.sent.empty() && world.sent[0].to == mac1);
  world.table.add_fixed(ip2, mac2);
  world.table.learn_weakly(ip2, mac1, world.now);
  assert_true(world.table.acquire(ip2).mac() == mac2);
}

static void neighbour__of_ipv6_is_as_good(void **) {
  World world;
  Ip peer, other;
  assert_true(parse_ip("fd00::2", peer) && parse_ip("fd00::1:0:2", other));
  auto &neighbour = world.table.acquire(peer);
  world.table.acquire(other);
  world.run(1ms);
  assert_int_equal(world.sent.size(), 2);
  assert_true(world.sent[0].ip == peer && world.sent[0].to == Mac::broadcast());
  world.table.learn(peer, mac1, world.now, false);
  assert_true(neighbour.resolved() && neighbour.mac() == mac1);
  assert_false(world.table.acquire(other).resolved());
}

static void release__keeps_resolved_ones_for_a_while(void **) {
  World world;
  auto &neighbour = world.table.acquire(ip1);
  world.run(1ms);
  world.table.learn(ip1, mac1, world.now, false);
  world.table.release(neighbour);
  assert_true(world.table.acquire(ip1).resolved());
  world.table.release(neighbour);
  world.run(60s);
  assert_int_equal(world.table.size(), 0);
  auto &other = world.table.acquire(ip2);
  world.table.release(other); // never resolved: nothing to keep
  assert_int_equal(world.table.size(), 0);
}

static void tick__many_at_once_go_out_in_bursts_and_all_of_them(void **) {
  World world({.burst = 32});
  for (std::uint32_t i = 0; i < 5000; ++i)
    world.table.acquire(Ipv4{0x0a010000 + i});
  std::set<std::uint32_t> asked;
  for (int turn = 0; turn < 500; ++turn, world.now += 1ms) {
    const auto requests = world.table.tick(world.now);
    assert_true(requests.size() <= 32);
    for (const auto &request : requests)
      asked.insert(request.ip.v4().value);
  }
  assert_int_equal(asked.size(), 5000);
}

static void acquire__without_memory_is_as_if_it_had_not_been(void **) {
  bool enough = false;
  for (std::size_t number = 0; !enough; ++number) {
    World world;
    const allocations::Shortage shortage(number, 1);
    try {
      const allocations::Watch watch;
      world.table.acquire(ip1);
    } catch (const std::bad_alloc &) {
      assert_int_equal(world.table.size(), 0);
      assert_false(world.table.asking());
      world.table.acquire(ip1);
    }
    enough = allocations::Shortage::counted() <= number;
    world.run(1ms);
    assert_int_equal(world.sent.size(), 1);
  }
}

static void learn__forgets_new_ones_without_memory(void **) {
  World world;
  {
    const allocations::Shortage shortage(0, 1000);
    const allocations::Watch watch;
    world.table.learn(ip1, mac1, world.now, true);
  }
  assert_int_equal(world.table.size(), 0);
  world.table.learn(ip1, mac1, world.now, true);
  assert_true(world.table.acquire(ip1).resolved());
}

// All that has its room when a neighbour is added: to be asked for, again too, and to go.
static void table__takes_no_memory_after_acquire(void **) {
  constexpr std::uint32_t count = 100;
  World world({.resolve_timeout = 1s, .reachable = 5s});
  std::vector<Neighbour *> users;
  for (std::uint32_t i = 0; i < count; ++i) {
    users.push_back(&world.table.acquire(Ipv4{ip1.value + i}));
    world.table.learn(users.back()->ip(), mac1, world.now, false);
  }
  world.run(1ms);
  assert_false(world.table.asking());
  const allocations::Shortage shortage(0, 1000);
  std::size_t asked = 0;
  {
    const allocations::Watch watch;
    for (auto *user : users)
      user->note_heard(mac2);
    for (auto end = world.now + 2s; world.now < end; world.now += 1ms)
      asked += world.table.tick(world.now).size();
    for (auto *user : users)
      world.table.release(*user);
    for (auto end = world.now + 10s; world.now < end; world.now += 1ms)
      world.table.tick(world.now);
  }
  assert_true(asked >= count);
  assert_int_equal(world.table.size(), 0);
  assert_int_equal(allocations::Shortage::counted(), 0);
}

static void table__against_a_model(void **) {
  // Whatever happens in whatever order: resolved means learnt, and the last
  // learnt address holds; released ones don't come back as somebody else.
  assert_true(unit::holds("random users, answers and time", [] {
    World world({.resolve_timeout = 2s, .reachable = 5s});
    std::map<std::uint32_t, std::vector<Neighbour *>> users;
    std::map<std::uint32_t, Mac> learnt;
    auto steps = *rc::gen::inRange(1, 200);
    for (int i = 0; i < steps; ++i) {
      std::uint32_t ip = 0x0a000000 + *rc::gen::inRange(1u, 6u);
      switch (*rc::gen::inRange(0, 6)) {
      case 0:
      case 1:
        users[ip].push_back(&world.table.acquire(Ipv4{ip}));
        break;
      case 2:
        if (!users[ip].empty()) {
          world.table.release(*users[ip].back());
          users[ip].pop_back();
        }
        break;
      case 3: {
        Mac mac{{2, 0, 0, 0, 0, *rc::gen::arbitrary<std::uint8_t>()}};
        world.table.learn(Ipv4{ip}, mac, world.now, false);
        if (!users[ip].empty())
          learnt[ip] = mac;
        break;
      }
      case 4:
        for (auto *user : users[ip]) {
          user->note_used();
          if (*rc::gen::arbitrary<bool>())
            user->note_heard(mac1);
        }
        break;
      default:
        world.run(std::chrono::milliseconds(*rc::gen::inRange(1, 3000)));
      }
      for (const auto &[key, list] : users)
        for (auto *user : list) {
          RC_ASSERT(user->ip().v4().value == key);
          if (user->resolved() && learnt.contains(key))
            RC_ASSERT(!user->failed());
        }
    }
    for (auto &[key, list] : users)
      for (auto *user : list)
        world.table.release(*user);
    world.run(20s);
    RC_ASSERT(world.table.size() == 0u);
    RC_ASSERT(!world.table.asking());
  }));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(neighbour__asked_at_once_and_resolved),
    cmocka_unit_test(neighbour__asked_again_at_growing_intervals_then_failed),
    cmocka_unit_test(neighbour__failed_is_tried_anew_by_the_next_user),
    cmocka_unit_test(neighbour__answer_after_failure_counts),
    cmocka_unit_test(neighbour__traffic_confirms),
    cmocka_unit_test(neighbour__silence_under_use_is_looked_into_with_the_old_address_in_use),
    cmocka_unit_test(neighbour__unused_is_left_alone),
    cmocka_unit_test(neighbour__frames_from_elsewhere_are_looked_into),
    cmocka_unit_test(neighbour__fixed_is_never_asked_nor_changed),
    cmocka_unit_test(learn__ignores_those_nobody_asked_for),
    cmocka_unit_test(learn__keeps_who_asks_us_up_to_a_bound),
    cmocka_unit_test(learn_weakly__confirms_but_replaces_nothing),
    cmocka_unit_test(neighbour__of_ipv6_is_as_good),
    cmocka_unit_test(release__keeps_resolved_ones_for_a_while),
    cmocka_unit_test(tick__many_at_once_go_out_in_bursts_and_all_of_them),
    cmocka_unit_test(acquire__without_memory_is_as_if_it_had_not_been),
    cmocka_unit_test(learn__forgets_new_ones_without_memory),
    cmocka_unit_test(table__takes_no_memory_after_acquire),
    cmocka_unit_test(table__against_a_model),
};
static const unit::Group group{"neighbour", cases};
