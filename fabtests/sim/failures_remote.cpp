// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Ends of processes, of cables and of registrations while peers' memory is written, read and
// operated on: every operation ends once, and what is not registered any more stays as it is.
#include "sim/common/case.h"
#include "sim/common/exchange.h"
#include "sim/common/recorder.h"

#include "sim/common/check.h"
#include "sim/common/payload.h"

#include <algorithm>

namespace {

using namespace sim;

constexpr std::size_t region_size = 300'000;

std::vector<std::byte> one() {
  std::vector<std::byte> word(8);
  word[0] = std::byte{1};
  return word;
}

// Operations of all kinds on the memory with that key, from `addr` on.
std::vector<Op *> load(World &world, NodeId from, NodeId to, std::uint64_t key = 1,
                       std::uint64_t addr = 0) {
  std::vector<Op *> ops;
  const RemoteHow at{.key = key, .addr = addr};
  for (const std::size_t size : {8, 5'000, 30'000, 200'000}) {
    ops.push_back(&world.write(from, to, bytes_of(size, size), at));
    ops.push_back(&world.read(from, to, size, at));
  }
  RemoteHow delivered = at;
  delivered.flags = FI_DELIVERY_COMPLETE;
  ops.push_back(&world.write(from, to, bytes_of(64, 1), delivered));
  for (const bool fetch : {false, true})
    ops.push_back(&world.atomic(from, to, one(), {.fetch = fetch, .at = at}));
  ops.push_back(&world.atomic(from, to, one(), {.op = FI_CSWAP, .at = at}, one()));
  return ops;
}

void check_errors(std::span<Op *const> ops, std::initializer_list<int> allowed) {
  for (const Op *op : ops)
    if (std::ranges::find(allowed, op->error()) == allowed.end())
      FAIL("an operation ends with err {}", op->error());
}

const Case dead_target{
    "failures__remote_target_dies", 4, [](std::uint64_t seed) {
      const bool lossless = seed % 2;
      World world(seed, setup_for(lossless));
      world.add(3);
      world.node(1).expose(region_size);
      world.node(2).expose(region_size);
      exchange(world, 0, 1, 100);
      const auto ops = load(world, 0, 1);
      world.run_for(world.random().up_to(lossless ? 2us : 200us));
      world.kill(1);
      check_ended(world, ops, error_limit);
      check_errors(ops, {0, FI_ETIMEDOUT, FI_ECONNRESET});
      // (A lossless link may have been quick enough for all of them.)
      CHECK(lossless || std::ranges::any_of(ops, [](const Op *op) { return op->error() != 0; }));
      const auto others = load(world, 0, 2);
      check_ended(world, others, 1s);
      check_errors(others, {0});
    }};

// What it has begun to write is not finished, and waits for nobody.
const Case dead_initiator{"failures__remote_initiator_dies", 6, [](std::uint64_t seed) {
                            World world(seed, setup_for(seed % 2));
                            world.add(2);
                            Exposed &memory = world.node(1).expose(region_size);
                            exchange(world, 0, 1, 100);
                            load(world, 0, 1);
                            world.run_for(world.random().up_to(150us));
                            world.kill(0);
                            world.run_for(error_limit);
                            memory.close();
                            CHECK(memory.margins_untouched());
                            world.restart(0);
                            Exposed &next = world.node(1).expose(region_size);
                            const auto ops = load(world, 0, 1, next.key());
                            check_ended(world, ops, error_limit);
                            check_errors(ops, {0, FI_ECONNRESET});
                          }};

// A new life registers memory under the keys of the one before; nothing that was meant for that
// one gets there.
const Case new_life{"failures__remote_new_life_is_not_touched", 10, [](std::uint64_t seed) {
                      World world(seed);
                      world.add(3);
                      Recorder recorder(world);
                      world.node(1).expose(region_size);
                      std::vector<Op *> ops;
                      for (const NodeId from : {0, 2})
                        for (Op *op : load(world, from, 1))
                          ops.push_back(op);
                      world.run_for(world.random().up_to(300us));
                      world.kill(1);
                      world.restart(1);
                      Exposed &memory = world.node(1).expose(region_size);
                      const auto untouched = [&] {
                        return std::ranges::all_of(
                            memory.span(), [](std::byte b) { return b == Exposed::untouched; });
                      };
                      recorder.replay(World::address_of(1), 0.9, 20ms);
                      recorder.replay(World::address_of(0), 0.9, 20ms);
                      world.run_for(world.random().up_to(30ms));
                      check_ended(world, ops, error_limit);
                      recorder.replay(World::address_of(1), 0.9, 20ms);
                      world.run_for(1s);
                      // Operations that waited for a session were not begun; they are for whoever
                      // is there.
                      if (std::ranges::all_of(ops, [](const Op *op) { return op->error() != 0; }))
                        CHECK(untouched());
                      CHECK(memory.margins_untouched());
                      reach(world, 0, 1, 100, 1s);
                      std::ranges::fill(memory.span(), Exposed::untouched);
                      recorder.replay(World::address_of(1), 0.5, 20ms);
                      world.run_for(1s);
                      CHECK(untouched());
                      const auto again = load(world, 0, 1);
                      check_ended(world, again, 1s);
                      check_errors(again, {0});
                    }};

// Sums tell how often each has taken place.
const Case unplugged{"failures__remote_cable_out_for_3_seconds", 4, [](std::uint64_t seed) {
                       World world(seed);
                       world.add(2);
                       Exposed &memory = world.node(1).expose(region_size);
                       std::ranges::fill(memory.span(), std::byte{0});
                       exchange(world, 0, 1, 100);
                       constexpr std::uint64_t behind = 250'000;
                       std::vector<Op *> ops = load(world, 0, 1);
                       const auto add = [&](bool fetch) {
                         ops.push_back(&world.atomic(
                             0, 1, one(), {.fetch = fetch, .at = {.key = 1, .addr = behind}}));
                       };
                       for (unsigned i = 0; i < 100; ++i)
                         add(i % 2);
                       world.run_for(world.random().up_to(150us));
                       world.network().set_down(World::address_of(1), true);
                       for (unsigned i = 0; i < 100; ++i)
                         add(i % 2);
                       world.run_for(3s);
                       world.network().set_down(World::address_of(1), false);
                       check_ended(world, ops, 5s);
                       check_errors(ops, {0});
                       std::uint64_t sum;
                       std::memcpy(&sum, memory.span(behind, sizeof sum).data(), sizeof sum);
                       CHECK_EQ(sum, 200u);
                     }};

const Case closed{"failures__remote_region_is_closed_under_way", 20, [](std::uint64_t seed) {
                    Setup setup = setup_for(seed % 2);
                    setup.config.pull = seed % 4 != 1;
                    World world(seed, setup);
                    world.add(3);
                    if (seed % 3 == 0)
                      world.network().set_faults(
                          {.loss = 0.05, .duplicate = 0.05, .reorder = 0.05});
                    Exposed &memory = world.node(1).expose(region_size);
                    exchange(world, 0, 1, 100);
                    std::vector<Op *> ops;
                    for (const NodeId from : {0, 2})
                      for (Op *op : load(world, from, 1))
                        ops.push_back(op);
                    world.run_for(world.random().up_to(400us));
                    memory.close();
                    const std::vector<std::byte> then(memory.span().begin(), memory.span().end());
                    check_ended(world, ops, 5s);
                    check_errors(ops, {0, FI_ENOKEY});
                    world.run_for(1s);
                    CHECK(std::ranges::equal(memory.span(), then));
                    CHECK(memory.margins_untouched());
                    exchange(world, 0, 1, 1000); // the sessions go on
                    exchange(world, 2, 1, 1000);
                  }};

// Nodes die and come back, regions come and go, while all of them operate on all.
const Case churn{
    "failures__remote_kills_and_restarts_at_random", 6, [](std::uint64_t seed) {
      World world(seed, setup_for(seed % 3 == 0));
      constexpr NodeId n = 5;
      world.add(n);
      world.network().set_faults({.loss = 0.01, .duplicate = 0.01, .reorder = 0.01});
      auto &random = world.random();
      std::vector<Exposed *> memory(n);
      std::vector<std::uint64_t> key_at(n); // as peers know it
      const auto expose = [&](NodeId id) {
        memory[id] = &world.node(id).expose(region_size);
        key_at[id] = memory[id]->key();
      };
      for (NodeId id = 0; id < n; ++id)
        expose(id);
      std::vector<Op *> ops;
      for (unsigned round = 0; round < 150; ++round) {
        const auto from = static_cast<NodeId>(random.below(n));
        const auto to = static_cast<NodeId>(random.below(n));
        const std::uint64_t key = random.chance(0.8) ? key_at[to] : random.between(1, 3);
        if (world.alive(from))
          for (Op *op : load(world, from, to, key))
            ops.push_back(op);
        world.run_for(random.up_to(10ms));
        const auto victim = static_cast<NodeId>(random.below(n));
        if (random.chance(0.2) && world.alive(victim)) {
          world.kill(victim);
          std::erase_if(ops, [&](const Op *op) { return op->node == victim; });
        } else if (!world.alive(victim)) {
          world.restart(victim);
          expose(victim);
        } else if (random.chance(0.3)) {
          memory[victim]->close();
          CHECK(memory[victim]->margins_untouched());
          expose(victim);
        }
      }
      check_ended(world, ops, world.setup.config.connect_timeout + error_limit);
      check_errors(ops, {0, FI_ENOKEY, FI_ETIMEDOUT, FI_ECONNRESET, FI_ECONNREFUSED});
      for (NodeId id = 0; id < n; ++id)
        if (world.alive(id))
          CHECK(memory[id]->margins_untouched());
      note(fmt::format("{} of {} operations failed",
                       std::ranges::count_if(ops, [](const Op *op) { return op->error() != 0; }),
                       ops.size()));
    }};

} // namespace
