// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Everything arrives, intact, in order and once, whatever the network does:
// 10 Gbit/s, 20 us round trip, frames of 1500 B, 64 packets of queue.
#include "common/sanitized.h"
#include "sim/common/case.h"
#include "sim/common/remote_traffic.h"
#include "sim/common/traffic.h"

#include "sim/common/check.h"
#include "sim/common/payload.h"

#include <array>

namespace {

using namespace sim;

constexpr unsigned nodes = 8;

// Under sanitizers a case would take minutes.
constexpr TrafficPlan usual{.messages = fabtest::sanitized ? 3'000 : 10'000};

double ms(Duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

Duration run_traffic(std::uint64_t seed, const Setup &setup, const Faults &faults,
                     const TrafficPlan &plan = usual) {
  World world(seed, setup);
  world.add(nodes);
  world.network().set_faults(faults);
  Traffic traffic(world, plan);
  const Duration took = traffic.run(120s);
  std::uint64_t unexpected = 0, resent = 0;
  for (NodeId id = 0; id < nodes; ++id) {
    const auto s = world.node(id).endpoint().statistics();
    unexpected += s.unexpected;
    resent += s.resent;
  }
  const auto c = world.network().counters();
  note(fmt::format("{:.1f} ms, {:.2f} Gbit/s a node, {} packets, {} resent, {} dropped in queues, "
                   "{} of {} messages unexpected",
                   ms(took), static_cast<double>(traffic.bytes()) * 8 / nodes / ms(took) / 1e6,
                   c.sent, resent, c.queue_full, unexpected, plan.messages));
  // Otherwise the plan misses half of what it is for.
  CHECK(plan.prompt || (unexpected > plan.messages / 20 && unexpected < plan.messages * 9 / 10));
  return took;
}

// Writes, reads and atomics, beside messages.
void run_remote(std::uint64_t seed, const Setup &setup, const Faults &faults,
                const RemotePlan &plan = {}) {
  World world(seed, setup);
  world.add(nodes);
  world.network().set_faults(faults);
  RemoteTraffic remote(world, plan);
  Traffic messages(world, {.messages = 1000, .largest = 60u << 10});
  remote.start();
  messages.run(120s);
  remote.run(120s);
  const auto c = world.network().counters();
  note(fmt::format("{:.1f} ms, {} packets, {} bytes of peers' memory", ms(world.since_start()),
                   c.sent, remote.bytes()));
}

const Case remote_clean{"delivery__remote_clean", 2,
                        [](std::uint64_t seed) { run_remote(seed, {}, {}); }};

const Case remote_host{"delivery__remote_lossless_link", 2,
                       [](std::uint64_t seed) { run_remote(seed, setup_for(true), {}); }};

const Case remote_host_no_pull{"delivery__remote_lossless_link_without_pull", 2,
                               [](std::uint64_t seed) {
                                 Setup setup = setup_for(true);
                                 setup.config.pull = false;
                                 run_remote(seed, setup, {});
                               }};

const Case remote_loss{"delivery__remote_10_percent_loss", 3,
                       [](std::uint64_t seed) { run_remote(seed, {}, {.loss = 0.1}); }};

const Case remote_faults{
    "delivery__remote_5_percent_of_each_fault", 3, [](std::uint64_t seed) {
      run_remote(seed, {}, {.loss = 0.05, .duplicate = 0.05, .reorder = 0.05, .corrupt = 0.05});
    }};

const Case remote_late{
    "delivery__remote_long_delays", 2, [](std::uint64_t seed) {
      run_remote(
          seed, {},
          {.loss = 0.01, .duplicate = 0.05, .reorder = 0.05, .reorder_delay = 2ms, .jitter = 60us},
          {.operations = 3000});
    }};

const Case clean{"delivery__clean", 2, [](std::uint64_t seed) { run_traffic(seed, {}, {}); }};

const Case host{"delivery__lossless_link", 2,
                [](std::uint64_t seed) { run_traffic(seed, setup_for(true), {}); }};

const Case host_no_pull{"delivery__lossless_link_without_pull", 1, [](std::uint64_t seed) {
                          Setup setup = setup_for(true);
                          setup.config.pull = false;
                          run_traffic(seed, setup, {});
                        }};

const Case loss{"delivery__10_percent_loss", 3,
                [](std::uint64_t seed) { run_traffic(seed, {}, {.loss = 0.1}); }};

const Case all_faults{
    "delivery__5_percent_of_each_fault", 3, [](std::uint64_t seed) {
      run_traffic(seed, {}, {.loss = 0.05, .duplicate = 0.05, .reorder = 0.05, .corrupt = 0.05});
    }};

// Links that join: windows are filled by halves.
constexpr unsigned joined_messages = fabtest::sanitized ? 1'000 : 3'000;

Setup joining() {
  Setup setup;
  setup.profile.takes_joined = true;
  return setup;
}

const Case joined_clean{"delivery__joined_clean_is_as_fast", 2, [](std::uint64_t seed) {
                          const TrafficPlan plan{
                              .messages = joined_messages, .window = 64, .prompt = true};
                          const Duration plain = run_traffic(seed, {}, {}, plan);
                          const Duration joined = run_traffic(seed, joining(), {}, plan);
                          note(fmt::format("ratio {:.2f}", ms(joined) / ms(plain)));
                          CHECK(joined <= plain * 12 / 10);
                        }};

const Case joined_faults{"delivery__joined_5_percent_of_each_fault", 2, [](std::uint64_t seed) {
                           run_traffic(
                               seed, joining(),
                               {.loss = 0.05, .duplicate = 0.05, .reorder = 0.05, .corrupt = 0.05},
                               {.messages = joined_messages});
                         }};

const Case joined_price{
    "delivery__joined_1_percent_loss_within_twice_the_time", 2, [](std::uint64_t seed) {
      const TrafficPlan plan{.messages = joined_messages, .window = 64, .prompt = true};
      const Duration lossless = run_traffic(seed, joining(), {}, plan);
      const Duration lossy = run_traffic(seed, joining(), {.loss = 0.01}, plan);
      note(fmt::format("ratio {:.2f}", ms(lossy) / ms(lossless)));
      CHECK(lossy <= 2 * lossless);
    }};

// Reordering by more than a round trip, and delays that vary by several.
const Case late{
    "delivery__long_delays", 2, [](std::uint64_t seed) {
      run_traffic(
          seed, {},
          {.loss = 0.01, .duplicate = 0.05, .reorder = 0.05, .reorder_delay = 2ms, .jitter = 60us},
          {.messages = 3000});
    }};

const Case small_queue{"delivery__queue_of_4_packets", 2, [](std::uint64_t seed) {
                         Setup setup;
                         setup.profile.queue = 4;
                         run_traffic(seed, setup, {}, {.messages = 3000});
                       }};

const Case price{"delivery__1_percent_loss_within_twice_the_time", 3, [](std::uint64_t seed) {
                   const TrafficPlan plan{.window = 64, .prompt = true};
                   const Duration lossless = run_traffic(seed, {}, {}, plan);
                   const Duration lossy = run_traffic(seed, {}, {.loss = 0.01}, plan);
                   note(fmt::format("ratio {:.2f}", ms(lossy) / ms(lossless)));
                   CHECK(lossy <= 2 * lossless);
                 }};

// One message after the other, there and back: the mean round trip.
Duration ping_pong(std::uint64_t seed, const Faults &faults) {
  World world(seed);
  world.poll_interval = 100ns;
  world.add(2);
  world.network().set_faults(faults);
  constexpr unsigned rounds = 2000;
  Time start{};
  for (unsigned i = 0; i < rounds; ++i) {
    for (NodeId from = 0; from < 2; ++from) {
      Op &receive = world.receive(1 - from, 8);
      world.send(from, 1 - from, bytes_of(8, i), {.flags = FI_INJECT, .silent = true});
      world.wait(receive);
      CHECK(receive.ok());
    }
    if (i == 0)
      start = world.now(); // without the handshake
  }
  return (world.now() - start) / (rounds - 1);
}

const Case latency{
    "delivery__a_loss_costs_a_few_round_trips", 2, [](std::uint64_t seed) {
      const Duration clean_trip = ping_pong(seed, {}), lossy_trip = ping_pong(seed, {.loss = 0.01});
      note(fmt::format("{} ns, at 1 % loss {} ns", clean_trip.count(), lossy_trip.count()));
      CHECK(clean_trip < 21us);
      CHECK(lossy_trip < 2 * clean_trip);
    }};

// One message by rendezvous among others that never leave the window a free place: its data get
// as many bytes as they do.
const Case fair{"delivery__no_rendezvous_starves_behind_others", 2, [](std::uint64_t seed) {
                  for (const std::size_t size : {200, 30'000}) {
                    World world(seed);
                    world.add(2);
                    constexpr std::size_t large_size = 290'000;
                    const std::size_t count = 20 * large_size / size, window = 16 + 60'000 / size;
                    Op &large = world.receive(1, large_size, {.tag = 7});
                    std::vector<Op *> receives;
                    std::size_t before = 0; // of the others, until the large one is there
                    for (std::size_t i = 0; i < count; ++i) {
                      receives.push_back(&world.receive(1, size, {.tag = 1}));
                      world.send(0, 1, bytes_of(size, i), {.tag = 1});
                      if (i == window)
                        world.send(0, 1, bytes_of(large_size, 7), {.tag = 7});
                      if (i >= window)
                        world.wait(*receives[i - window]);
                      before += large.done.empty();
                    }
                    world.wait(large);
                    verify(large.memory, 7);
                    note(fmt::format("{} of {} before", before, count));
                    CHECK(before * size < 2 * large_size + 3 * window * size);
                  }
                }};

// One pair, large messages, a few under way. Gbit/s.
double bulk(std::uint64_t seed, const Faults &faults) {
  World world(seed);
  world.add(2);
  world.network().set_faults(faults);
  constexpr std::size_t size = 1 << 20;
  std::vector<Op *> ops;
  for (unsigned i = 0; i < 64; ++i) {
    ops.push_back(&world.receive(1, size));
    ops.push_back(&world.send(0, 1, bytes_of(size, i)));
  }
  CHECK(world.run_until_done(ops, 10s));
  for (unsigned i = 0; i < 64; ++i)
    verify(ops[2 * i]->memory, i);
  return static_cast<double>(size) * 64 * 8 / static_cast<double>(world.since_start().count());
}

const Case throughput{
    "delivery__one_pair_fills_the_cable", 2, [](std::uint64_t seed) {
      const double clean_rate = bulk(seed, {}), lossy_rate = bulk(seed, {.loss = 0.01});
      note(fmt::format("{:.2f} Gbit/s, at 1 % loss {:.2f}", clean_rate, lossy_rate));
      CHECK(clean_rate > 8.5); // of 9.57 that frames of 1500 B leave, less our headers
      CHECK(lossy_rate > clean_rate / 2);
    }};

// Seven send to one that polls every millisecond and posts late. The rest of
// its time it could compute.
const Case incast{"delivery__incast_with_a_slow_receiver", 3, [](std::uint64_t seed) {
                    World world(seed);
                    world.add(nodes);
                    constexpr unsigned each = 300;
                    std::vector<Op *> sends, receives;
                    for (unsigned i = 0; i < each; ++i)
                      for (NodeId from = 1; from < nodes; ++from)
                        sends.push_back(&world.send(
                            from, 0, bytes_of(world.random().below(20'000), from * each + i),
                            {.tag = from * each + i}));
                    for (unsigned i = 0; i < each; ++i) {
                      for (NodeId from = 1; from < nodes; ++from)
                        receives.push_back(&world.receive(0, 20'000, {.tag = from * each + i}));
                      world.compute_until(0, world.now() + 1ms);
                      world.run_for(1ms);
                    }
                    CHECK(world.run_until_done(sends, 10s));
                    CHECK(world.run_until_done(receives, 10s));
                    for (const Op *op : receives)
                      CHECK(op->ok());
                    const auto c = world.network().counters();
                    note(fmt::format("{} of {} packets dropped in queues, {} in the ring",
                                     c.queue_full, c.sent, c.ring_full));
                  }};

// Nothing depends on anything but the seed: not on addresses of memory, not on
// the time of day.
const Case reproducible{"delivery__same_seed_same_run", 1, [](std::uint64_t seed) {
                          const auto run = [](std::uint64_t s) {
                            World world(s);
                            world.add(nodes);
                            world.network().set_faults(
                                {.loss = 0.05, .duplicate = 0.05, .reorder = 0.05, .jitter = 5us});
                            Traffic traffic(world, {.messages = 500});
                            const Duration took = traffic.run(60s);
                            const auto c = world.network().counters();
                            return std::array<std::uint64_t, 4>{
                                static_cast<std::uint64_t>(took.count()), c.sent, c.lost,
                                world.turns()};
                          };
                          const auto first = run(seed);
                          CHECK(run(seed) == first);
                          CHECK(run(seed + 1) != first);
                        }};

} // namespace
