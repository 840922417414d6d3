// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Everything arrives, intact, in order and once, whatever the network does:
// 10 Gbit/s, 20 us round trip, frames of 1500 B, 64 packets of queue.
#include "sim/common/case.h"
#include "sim/common/traffic.h"

#include "common/check.h"

namespace {

using namespace sim;

constexpr unsigned nodes = 8;

double ms(Duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

Duration run_traffic(std::uint64_t seed, const Setup &setup, const Faults &faults,
                     const TrafficPlan &plan = {}) {
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
  CHECK(unexpected > plan.messages / 20 && unexpected < plan.messages * 9 / 10);
  return took;
}

const Case clean{"delivery__clean", 3, [](std::uint64_t seed) { run_traffic(seed, {}, {}); }};

const Case host{"delivery__lossless_link", 3, [](std::uint64_t seed) {
  Setup setup;
  setup.profile = Profile::host();
  run_traffic(seed, setup, {});
}};

const Case host_no_pull{"delivery__lossless_link_without_pull", 1, [](std::uint64_t seed) {
  Setup setup;
  setup.profile = Profile::host();
  setup.config.pull = false;
  run_traffic(seed, setup, {});
}};

const Case loss{"delivery__10_percent_loss", 3,
                [](std::uint64_t seed) { run_traffic(seed, {}, {.loss = 0.1}); }};

const Case all_faults{"delivery__5_percent_of_each_fault", 3, [](std::uint64_t seed) {
  run_traffic(seed, {}, {.loss = 0.05, .duplicate = 0.05, .reorder = 0.05, .corrupt = 0.05});
}};

// Reordering by more than a round trip, and delays that vary by several.
const Case late{"delivery__long_delays", 2, [](std::uint64_t seed) {
  run_traffic(seed, {},
              {.loss = 0.01, .duplicate = 0.05, .reorder = 0.05, .reorder_delay = 2ms, .jitter = 60us},
              {.messages = 3000});
}};

const Case small_queue{"delivery__queue_of_4_packets", 2, [](std::uint64_t seed) {
  Setup setup;
  setup.profile.queue = 4;
  run_traffic(seed, setup, {}, {.messages = 3000});
}};

const Case price{"delivery__1_percent_loss_within_twice_the_time", 3, [](std::uint64_t seed) {
  const Duration lossless = run_traffic(seed, {}, {});
  const Duration lossy = run_traffic(seed, {}, {.loss = 0.01});
  note(fmt::format("ratio {:.2f}", ms(lossy) / ms(lossless)));
  CHECK(lossy <= 2 * lossless);
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
      sends.push_back(&world.send(from, 0, bytes_of(world.random().below(20'000), from * each + i),
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
  note(fmt::format("{} of {} packets dropped in queues, {} in the ring", c.queue_full, c.sent,
                   c.ring_full));
}};

} // namespace
