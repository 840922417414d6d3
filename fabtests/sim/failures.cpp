// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Ends of processes and of cables: whoever is left hears of it in time, once,
// and whoever comes after is not bothered by what went before.
#include "sim/common/case.h"
#include "sim/common/exchange.h"
#include "sim/common/recorder.h"
#include "sim/common/world.h"

#include "sim/common/check.h"
#include "sim/common/payload.h"

#include <algorithm>

namespace {

using namespace sim;

// A plan of messages that are under way to and from a peer, of all kinds.
std::vector<Op *> load(World &world, NodeId from, NodeId to, std::uint64_t tag) {
  std::vector<Op *> sends;
  for (const std::size_t size : {0, 100, 5'000, 30'000, 200'000})
    sends.push_back(&world.send(from, to, bytes_of(size, tag + size), {.tag = tag}));
  sends.push_back(
      &world.send(from, to, bytes_of(64, tag), {.tag = tag, .flags = FI_DELIVERY_COMPLETE}));
  sends.push_back(
      &world.send(from, to, bytes_of(64, tag), {.tag = tag, .flags = FI_MATCH_COMPLETE}));
  return sends;
}

const Case dead_peer{"failures__dead_peer_is_told_after_the_time_limit", 3, [](std::uint64_t seed) {
                       World world(seed);
                       world.add(3);
                       exchange(world, 0, 1, 100);
                       exchange(world, 1, 2, 100);
                       const auto ops = load(world, 0, 1, 7);
                       world.run_for(world.random().up_to(200us));
                       world.kill(1);
                       const Time killed = world.now();
                       check_ended(world, ops, error_limit);
                       CHECK(std::ranges::any_of(ops, [](Op *op) { return op->error() != 0; }));
                       CHECK(world.now() - killed >
                             peer_timeout / 2); // not declared dead on a whim
                       note(fmt::format("after {} ms", (world.now() - killed) / 1ms));
                       exchange(world, 0, 2, 50'000); // the others go on
                     }};

const Case dead_at_once{"failures__lossless_link_tells_death_at_once", 3, [](std::uint64_t seed) {
                          World world(seed, setup_for(true));
                          world.add(3);
                          exchange(world, 0, 1, 100);
                          const auto ops = load(world, 0, 1, 7);
                          world.run_for(world.random().up_to(10us));
                          world.kill(1);
                          check_ended(world, ops, 200ms);
                          exchange(world, 0, 2, 50'000);
                        }};

const Case nobody{"failures__nobody_answers", 2, [](std::uint64_t seed) {
                    for (const bool lossless : {false, true}) {
                      World world(seed, setup_for(lossless));
                      world.add(2);
                      world.kill(1);
                      const auto ops = load(world, 0, 1, 1);
                      check_ended(world, ops, world.setup.config.connect_timeout + 2s);
                      for (const Op *op : ops)
                        CHECK(op->error() != 0);
                      // Later it is there, and is found.
                      world.restart(1);
                      exchange(world, 0, 1, 1000);
                    }
                  }};

const Case unresolved{"failures__address_does_not_resolve", 1, [](std::uint64_t seed) {
                        World world(seed);
                        world.add(2);
                        world.network().set_unresolvable(World::address_of(1), true);
                        const auto ops = load(world, 0, 1, 1);
                        check_ended(world, ops, 1s);
                        for (const Op *op : ops)
                          CHECK_EQ(op->error(), EHOSTUNREACH);
                        world.network().set_unresolvable(World::address_of(1), false);
                        exchange(world, 0, 1, 1000);
                      }};

const Case late_start{"failures__peer_starts_later", 3, [](std::uint64_t seed) {
                        for (const bool lossless : {false, true}) {
                          World world(seed, setup_for(lossless));
                          world.add(2);
                          world.kill(1);
                          const auto ops = load(world, 0, 1, 1);
                          world.run_for(1ms * world.random().below(5000));
                          world.restart(1);
                          std::vector<Op *> receives;
                          for (std::size_t i = 0; i < ops.size(); ++i)
                            receives.push_back(&world.receive(1, 300'000, {.tag = 1}));
                          check_ended(world, receives, 2s);
                          check_ended(world, ops, 1s);
                          for (const Op *op : ops)
                            CHECK_EQ(op->error(), 0);
                        }
                      }};

// A peer dies with messages under way both ways, starts anew, and is flooded
// with every packet of its past life. It works at once, and only messages that
// were sent after its start reach it.
const Case old_packets{"failures__new_life_never_sees_old_packets", 10, [](std::uint64_t seed) {
                         World world(seed);
                         world.add(3);
                         Recorder recorder(world);
                         exchange(world, 0, 1, 100);
                         exchange(world, 1, 0, 50'000);
                         exchange(world, 2, 1, 20'000);
                         std::vector<Op *> ops;
                         for (const NodeId from : {0, 2})
                           for (Op *op : load(world, from, 1, 7))
                             ops.push_back(op);
                         world.run_for(world.random().up_to(300us));
                         world.kill(1);
                         world.run_for(world.random().chance(0.5) ? world.random().up_to(5ms)
                                                                  : Duration{});
                         world.restart(1);
                         Op &trap = world.receive(1, 300'000, {.tag = 7});
                         Op &trap_untagged = world.receive(1, 300'000, {});
                         recorder.replay(World::address_of(1), 0.9, 20ms);
                         recorder.replay(World::address_of(0), 0.9, 20ms);
                         world.run_for(world.random().up_to(1ms));
                         exchange(world, 1, 0, 100, 100ms);
                         reach(world, 0, 1, 100, 100ms);
                         reach(world, 2, 1, 60'000, 100ms);
                         recorder.replay(World::address_of(1), 0.9, 20ms);
                         world.run_for(100ms);
                         exchange(world, 0, 1, 60'000, 100ms);
                         check_ended(world, ops, error_limit);
                         CHECK(!trap.finished());
                         CHECK(!trap_untagged.finished());
                         world.run_for(30s);
                         CHECK(!trap.finished());
                         exchange(world, 0, 1, 1000);
                       }};

// Nodes die and come back at random while all of them send to all.
const Case churn{
    "failures__kills_and_restarts_at_random", 6, [](std::uint64_t seed) {
      World world(seed, setup_for(seed % 3 == 0));
      constexpr NodeId n = 6;
      world.add(n);
      world.network().set_faults({.loss = 0.01, .duplicate = 0.01, .reorder = 0.01});
      auto &random = world.random();
      std::vector<Op *> ops;
      const ReceiveHow any{.tag = 0, .ignore = 0xffff'ffff};
      for (unsigned round = 0; round < 200; ++round) {
        for (unsigned i = 0; i < 10; ++i) {
          const auto from = static_cast<NodeId>(random.below(n));
          const auto to = static_cast<NodeId>(random.below(n));
          if (!world.alive(from))
            continue;
          if (Op *op = world.try_send(from, to, bytes_of(random.below(40'000), i), {.tag = i}))
            ops.push_back(op);
          if (world.alive(to))
            world.try_receive(to, 40'000, any);
        }
        world.run_for(random.up_to(20ms));
        const auto victim = static_cast<NodeId>(random.below(n));
        if (random.chance(0.1) && world.alive(victim)) {
          world.kill(victim);
          std::erase_if(ops, [&](const Op *op) { return op->node == victim; });
        } else if (random.chance(0.5) && !world.alive(victim)) {
          world.restart(victim);
        }
      }
      for (NodeId id = 0; id < n; ++id)
        if (!world.alive(id))
          world.restart(id);
      for (NodeId from = 0; from < n; ++from)
        for (NodeId to = 0; to < n; ++to)
          reach(world, from, to, 1000, 2s);
      const Time end = world.now() + error_limit;
      while (!std::ranges::all_of(ops, &Op::finished) && world.now() < end) {
        for (NodeId id = 0; id < n; ++id)
          for (unsigned i = 0; i < 20; ++i)
            world.try_receive(id, 40'000, any);
        world.run_for(100ms);
      }
      check_ended(world, ops, 0s);
      note(fmt::format("{} of {} sends failed",
                       std::ranges::count_if(ops, [](const Op *op) { return op->error() != 0; }),
                       ops.size()));
    }};

const Case simultaneous{
    "failures__simultaneous_opens", 30, [](std::uint64_t seed) {
      World world(seed, setup_for(seed % 3 == 0));
      world.add(2);
      if (seed % 3 == 1)
        world.network().set_faults({.loss = 0.2, .duplicate = 0.2, .reorder = 0.2});
      std::vector<Op *> ops;
      for (unsigned i = 0; i < 5; ++i)
        for (NodeId id = 0; id < 2; ++id)
          ops.push_back(&world.receive(id, 50'000, {.tag = i}));
      for (unsigned i = 0; i < 5; ++i) {
        for (NodeId id = 0; id < 2; ++id)
          ops.push_back(&world.send(id, 1 - id, bytes_of(i * 10'000, i), {.tag = i}));
        if (i == 0)
          world.run_for(world.random().up_to(30us));
      }
      check_ended(world, ops, 2s);
      for (const Op *op : ops)
        CHECK_EQ(op->error(), 0);
      world.run_for(1s);
      for (const Op *op : ops)
        CHECK_EQ(op->done.size(), 1u);
    }};

const Case unplugged{
    "failures__cable_out_for_3_seconds", 3, [](std::uint64_t seed) {
      World world(seed);
      world.add(2);
      exchange(world, 0, 1, 100);
      auto ops = load(world, 0, 1, 3);
      for (Op *op : load(world, 1, 0, 3))
        ops.push_back(op);
      for (unsigned i = 0; i < 7; ++i)
        for (NodeId id = 0; id < 2; ++id)
          ops.push_back(&world.receive(id, 200'000, {.tag = 3}));
      world.run_for(world.random().up_to(150us));
      world.network().set_down(World::address_of(1), true);
      world.run_for(3s);
      world.network().set_down(World::address_of(1), false);
      const Time plugged = world.now();
      check_ended(world, ops, 5s);
      for (const Op *op : ops)
        CHECK_EQ(op->error(), 0);
      note(fmt::format("all done {} ms after it was plugged in", (world.now() - plugged) / 1ms));
      CHECK(world.now() - plugged < 1s);
    }};

const Case unplugged_long{"failures__cable_out_for_15_seconds", 3, [](std::uint64_t seed) {
                            World world(seed);
                            world.add(2);
                            exchange(world, 0, 1, 100);
                            exchange(world, 1, 0, 100);
                            const auto ops = load(world, 0, 1, 3), back = load(world, 1, 0, 3);
                            world.network().set_down(World::address_of(1), true);
                            const Time out = world.now();
                            check_ended(world, ops, error_limit);
                            CHECK(world.now() - out >= peer_timeout - 1s);
                            check_ended(world, back, error_limit);
                            world.run_for(out + 15s - world.now());
                            world.network().set_down(World::address_of(1), false);
                            // The sessions are over on both sides; new ones come up.
                            exchange(world, 0, 1, 50'000);
                            exchange(world, 1, 0, 50'000);
                          }};

const Case partition{"failures__partition", 3, [](std::uint64_t seed) {
                       World world(seed);
                       world.add(6);
                       const auto all_pairs = [&] {
                         for (NodeId from = 0; from < 6; ++from)
                           for (NodeId to = 0; to < 6; ++to)
                             exchange(world, from, to, 1000, 2s);
                       };
                       const auto split = [&](bool blocked) {
                         for (NodeId a = 0; a < 3; ++a)
                           for (NodeId b = 3; b < 6; ++b)
                             world.network().set_blocked(World::address_of(a), World::address_of(b),
                                                         blocked);
                       };
                       all_pairs();
                       for (const Duration length : {5s, 20s}) {
                         split(true);
                         std::vector<Op *> across;
                         for (NodeId a = 0; a < 3; ++a)
                           across.push_back(&world.send(a, a + 3, bytes_of(5000, a), {.tag = 77}));
                         exchange(world, 0, 1, 1000); // either half goes on
                         exchange(world, 4, 5, 1000);
                         world.run_for(length);
                         for (const Op *op : across)
                           CHECK_EQ(op->finished() && op->error() != 0, length > peer_timeout);
                         split(false);
                         all_pairs();
                       }
                     }};

const Case idle{"failures__idle_then_traffic", 2, [](std::uint64_t seed) {
                  World world(seed);
                  world.add(2);
                  exchange(world, 0, 1, 1000);
                  for (const Duration pause : {Duration(1s), Duration(60s), Duration(3600s)}) {
                    const auto sent = world.network().counters().sent;
                    world.run_for(pause);
                    CHECK(world.network().counters().sent - sent <=
                          2); // nothing waits, nothing is asked
                    const Time start = world.now();
                    exchange(world, 1, 0, 1000);
                    CHECK(world.now() - start < 200us);
                    exchange(world, 0, 1, 100'000);
                  }
                }};

// A receive that waits keeps nobody awake, and is not ended by silence.
const Case patient{"failures__waiting_receives_outlast_silence", 1, [](std::uint64_t seed) {
                     World world(seed);
                     world.add(2);
                     exchange(world, 0, 1, 100);
                     Op &receive = world.receive(0, 100, {.tag = 5, .src = 1});
                     world.run_for(100s);
                     CHECK(!receive.finished());
                     world.send(1, 0, bytes_of(100, 5), {.tag = 5});
                     world.wait(receive, 1s);
                     CHECK(receive.ok());
                   }};

const Case computing{"failures__peer_that_computes_for_a_minute_lives", 3, [](std::uint64_t seed) {
                       World world(seed);
                       world.add(2);
                       exchange(world, 0, 1, 100);
                       std::vector<Op *> receives;
                       for (unsigned i = 0; i < 7; ++i)
                         receives.push_back(&world.receive(1, 200'000, {.tag = 3}));
                       world.compute_until(1, world.now() + 60s);
                       const auto ops = load(world, 0, 1, 3);
                       const bool early = world.run_until_done(std::span(ops).first(2),
                                                               1s); // it has them, if unread
                       CHECK(early);
                       world.run_for(58s);
                       for (const Op *op : ops)
                         CHECK_EQ(op->error(), 0);
                       check_ended(world, ops, 5s);
                       check_ended(world, receives, 1s);
                       for (const Op *op : ops)
                         CHECK_EQ(op->error(), 0);
                     }};

// Much more than the backlog keeps: the sender is held back, not failed.
const Case flooded{"failures__flood_at_a_peer_that_computes", 2, [](std::uint64_t seed) {
                     World world(seed);
                     world.add(2);
                     exchange(world, 0, 1, 100);
                     world.compute_until(1, world.now() + 30s);
                     std::vector<Op *> ops;
                     for (unsigned i = 0; i < 500; ++i)
                       if (Op *op = world.try_send(0, 1, bytes_of(10'000, i), {.tag = i}))
                         ops.push_back(op);
                     CHECK(ops.size() > 400);
                     world.run_for(29s);
                     std::vector<Op *> receives;
                     for (std::size_t i = 0; i < ops.size(); ++i)
                       receives.push_back(&world.receive(1, 10'000, {.tag = i}));
                     check_ended(world, receives, 5s);
                     check_ended(world, ops, 5s);
                     for (std::size_t i = 0; i < ops.size(); ++i) {
                       CHECK_EQ(ops[i]->error() | receives[i]->error(), 0);
                       verify(receives[i]->memory, i);
                     }
                   }};

const Case black_hole{
    "failures__mtu_black_hole_is_found", 4, [](std::uint64_t seed) {
      World world(seed);
      world.add(2);
      world.network().set_faults(
          {.black_hole = static_cast<std::uint32_t>(world.random().between(600, 1470))});
      exchange(world, 0, 1, 100'000, 9s);
      const Time start = world.now();
      exchange(world, 0, 1, 100'000, 9s);
      exchange(world, 1, 0, 100'000, 9s);
      note(fmt::format("first {} ms, then {} us", (start - VirtualClock::start) / 1ms,
                       (world.now() - start) / 1us));
      CHECK(world.network().counters().black_holed > 0);
    }};

// The path carries less than it has shown to carry: packets can't be cut, so
// the session ends, and the next one finds out.
const Case later_hole{"failures__mtu_black_hole_opens_later", 2, [](std::uint64_t seed) {
                        World world(seed);
                        world.add(2);
                        exchange(world, 0, 1, 100'000);
                        world.network().set_faults({.black_hole = 1200});
                        world.receive(1, 100'000, {.tag = 1});
                        Op *const sends[] = {&world.send(0, 1, bytes_of(100'000, 1), {.tag = 1})};
                        check_ended(world, sends, error_limit);
                        CHECK(sends[0]->error() != 0);
                        reach(world, 0, 1, 100'000, 9s);
                      }};

const Case wrap{"failures__numbers_wrap", 6, [](std::uint64_t seed) {
                  Setup setup;
                  setup.config.session.first_number =
                      static_cast<std::uint32_t>(0u - 1 - seed * seed * 37);
                  World world(seed, setup);
                  world.add(2);
                  if (seed % 2 == 0)
                    world.network().set_faults({.loss = 0.05, .duplicate = 0.05, .reorder = 0.05});
                  for (unsigned i = 0; i < 300; ++i)
                    exchange(world, i % 2, 1 - i % 2, world.random().below(30'000), 5s);
                }};

} // namespace
