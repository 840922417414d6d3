// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Data of large transfers go to a port of their own, where they wait in another queue, and longer,
// than all else: each overtakes the other. Everything arrives all the same, once and in its turn.
#include "sim/common/case.h"
#include "sim/common/remote_traffic.h"
#include "sim/common/traffic.h"

#include "sim/common/check.h"
#include "sim/common/payload.h"

namespace {

using namespace sim;

constexpr Faults rough{.loss = 0.05, .duplicate = 0.05, .reorder = 0.05, .corrupt = 0.05};

Setup with_bulk_port(Duration delay) {
  Setup setup;
  setup.profile.bulk_delay = delay;
  return setup;
}

std::uint64_t resent(World &world) {
  std::uint64_t all = 0;
  for (NodeId id = 0; id < world.size(); ++id)
    all += world.node(id).endpoint().statistics().resent;
  return all;
}

// Messages, writes, reads and atomics between all pairs of eight nodes, some of which may have no
// bulk port. How many of a thousand packets were sent again.
std::uint64_t run(std::uint64_t seed, const Setup &setup, const Faults &faults,
                  unsigned without = 0) {
  World world(seed, setup);
  world.add(8 - without);
  world.setup.profile.bulk_delay.reset();
  world.add(without);
  world.network().set_faults(faults);
  RemoteTraffic remote(world, {.operations = 4000});
  Traffic messages(world, {.messages = 2000, .largest = 150u << 10});
  remote.start();
  messages.run(120s);
  remote.run(120s);
  const auto c = world.network().counters();
  note(fmt::format("{} packets, {} to bulk ports, {} resent", c.sent, c.bulk, resent(world)));
  CHECK(c.bulk > c.sent / 10);
  CHECK_EQ(c.misuse, 0u);
  CHECK_EQ(c.no_receiver, 0u);
  return resent(world) * 1000 / c.sent;
}

const Case same{"bulk_port__no_later_than_others", 2,
                [](std::uint64_t seed) { CHECK(run(seed, with_bulk_port(0us), {}) < 4); }};
const Case later{"bulk_port__half_a_round_trip_late", 2,
                 [](std::uint64_t seed) { CHECK(run(seed, with_bulk_port(10us), {}) < 4); }};
const Case late{"bulk_port__many_round_trips_late", 2,
                [](std::uint64_t seed) { run(seed, with_bulk_port(300us), {}); }};
const Case faulty{"bulk_port__5_percent_of_each_fault", 3,
                  [](std::uint64_t seed) { run(seed, with_bulk_port(50us), rough); }};
const Case small_queue{"bulk_port__queues_of_4_packets", 2, [](std::uint64_t seed) {
                         Setup setup = with_bulk_port(10us);
                         setup.profile.queue = 4;
                         run(seed, setup, {});
                       }};
const Case some{"bulk_port__of_some", 2,
                [](std::uint64_t seed) { run(seed, with_bulk_port(30us), rough, 4); }};

// Short messages that are sent behind a large one's data are there before them, in their order;
// each once.
const Case overtaken{
    "bulk_port__messages_overtake_data", 5, [](std::uint64_t seed) {
      World world(seed, with_bulk_port(500us));
      world.add(2);
      constexpr std::size_t large_size = 100'000;
      constexpr unsigned count = 50;
      Op &large = world.receive(1, large_size, {.tag = 7});
      world.send(0, 1, bytes_of(large_size, 7), {.tag = 7});
      // Its data are on their way.
      world.run_until([&] { return world.network().counters().bulk != 0; }, 1s, "data leave");
      std::vector<Op *> receives, sends;
      std::vector<unsigned> order;
      for (unsigned i = 0; i < count; ++i)
        receives.push_back(world.try_receive(
            1, 8000, {.tag = 1}, [&order, i](Op &, const Done &) { order.push_back(i); }));
      for (unsigned i = 0; i < count; ++i) // some in segments
        sends.push_back(&world.send(0, 1, bytes_of(i % 2 ? 3000 : 100, i), {.tag = 1}));
      world.run_until([&] { return order.size() == count; }, 10s, "messages");
      CHECK(large.done.empty());
      for (unsigned i = 0; i < count; ++i) {
        CHECK_EQ(order[i], i);
        verify({receives[i]->memory.data(), i % 2 ? 3000u : 100u}, i);
      }
      world.wait(large);
      verify(large.memory, 7);
      world.run_for(1s);
      for (const Op *op : receives)
        CHECK_EQ(op->done.size(), 1u);
      CHECK_EQ(large.done.size(), 1u);
      CHECK_EQ(world.node(1).endpoint().statistics().messages_received, count + 1);
    }};

// One pair, large messages, a few under way. Gbit/s.
double throughput(std::uint64_t seed, std::optional<Duration> delay, std::uint64_t &resends) {
  Setup setup;
  setup.profile.bulk_delay = delay;
  World world(seed, setup);
  world.add(2);
  constexpr std::size_t size = 1 << 20;
  std::vector<Op *> ops;
  for (unsigned i = 0; i < 64; ++i) {
    ops.push_back(&world.receive(1, size));
    ops.push_back(&world.send(0, 1, bytes_of(size, i)));
  }
  CHECK(world.run_until_done(ops, 10s));
  resends = resent(world);
  return static_cast<double>(size) * 64 * 8 / static_cast<double>(world.since_start().count());
}

const Case rate{"bulk_port__one_pair_fills_the_cable", 2, [](std::uint64_t seed) {
                  std::uint64_t resends = 0;
                  const double without = throughput(seed, {}, resends);
                  // More than the target of queueing is a queue.
                  for (const Duration delay : {0us, 5us, 20us}) {
                    const double with = throughput(seed, delay, resends);
                    note(fmt::format("{} ns late: {:.2f} Gbit/s of {:.2f}, {} resent",
                                     delay.count(), with, without, resends));
                    CHECK(with > without * (delay < 20us ? 0.95 : 0.4));
                    CHECK(resends < 20);
                  }
                }};

} // namespace
