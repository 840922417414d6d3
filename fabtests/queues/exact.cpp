// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the experiment must find where it is exact: how much a burst loses at the
// NIC, by who polls it and how many queues there are.
#include "queues/burst.h"

#include "sim/common/case.h"
#include "sim/common/check.h"

#include <algorithm>

namespace {

using namespace queues;
using namespace std::chrono_literals;

Burst datagrams(Mode mode, std::uint64_t seed) {
  Burst burst;
  burst.mode = mode;
  burst.datagrams = true;
  burst.compute = 10ms;
  burst.seed = seed;
  return burst;
}

void conserve(const Burst &burst, const Outcome &outcome) {
  CHECK_EQ(outcome.packets, burst.count);
  CHECK_EQ(outcome.received + outcome.lost + outcome.lost_in_ring, burst.count);
  CHECK_EQ(outcome.latencies.size(), outcome.received);
}

// Nobody polls while the rank computes: what the queues don't hold is lost.
const sim::Case rank_polled{
    "queues__rank_polled_loses_all_that_the_pool_does_not_hold", 2, [](std::uint64_t seed) {
      for (const std::uint32_t queues : {1u, 2u, 4u, 8u})
        for (const std::uint32_t count : {16u, 512u, 1024u, 4096u}) {
          Burst burst = datagrams(Mode::rank_polled, seed);
          burst.queues = queues;
          burst.count = count;
          const Outcome outcome = run(burst);
          conserve(burst, outcome);
          const std::uint32_t room = queues * burst.descriptors;
          CHECK_EQ(outcome.lost, count > room ? count - room : 0);
          CHECK_EQ(outcome.most_waiting, std::min(count / queues, burst.descriptors));
        }
    }};

// The sources of a burst decide which queues it fills.
const sim::Case one_source{"queues__a_source_has_one_queue_of_the_pool", 1, [](std::uint64_t seed) {
                             Burst burst = datagrams(Mode::rank_polled, seed);
                             burst.queues = 8;
                             burst.senders = 1;
                             burst.count = 2048;
                             CHECK_EQ(run(burst).lost, 2048u - burst.descriptors);
                           }};

const sim::Case dedicated{"queues__dedicated_loses_nothing_that_it_is_quick_enough_for", 2,
                          [](std::uint64_t seed) {
                            for (const Mode mode : {Mode::dedicated, Mode::hybrid})
                              for (const std::uint32_t count : {16u, 1024u, 4096u}) {
                                Burst burst = datagrams(mode, seed);
                                burst.count = count;
                                burst.costs.packet = 50ns; // the cable brings one in 91 ns
                                const Outcome outcome = run(burst);
                                conserve(burst, outcome);
                                CHECK_EQ(outcome.lost, 0u);
                                CHECK_EQ(outcome.received, count);
                                CHECK(outcome.latencies.front() >= 10'000);
                              }
                          }};

// A daemon that falls behind the cable loses what its queues don't hold meanwhile: a pool counts
// as one long queue.
const sim::Case slow{"queues__a_pool_helps_a_daemon_that_falls_behind", 1, [](std::uint64_t seed) {
                       std::vector<std::uint64_t> lost;
                       for (const std::uint32_t queues : {1u, 2u, 4u, 8u}) {
                         Burst burst = datagrams(Mode::dedicated, seed);
                         burst.count = 4096;
                         burst.queues = queues;
                         burst.costs.packet = 150ns;
                         const Outcome outcome = run(burst);
                         conserve(burst, outcome);
                         lost.push_back(outcome.lost);
                       }
                       CHECK(std::ranges::is_sorted(lost, std::greater{}));
                       CHECK(lost[0] > 0);
                       CHECK_EQ(lost[3], 0u);
                     }};

// Messages arrive all, whatever the NIC loses. With the daemon they have been acknowledged and lie
// in the ring when the rank comes; without, most are still to be sent.
const sim::Case messages{"queues__messages_all_arrive_and_the_daemon_has_them_ready", 2,
                         [](std::uint64_t seed) {
                           Burst burst;
                           burst.compute = 10ms;
                           burst.count = 4096;
                           burst.descriptors = 64;
                           burst.costs.packet = 50ns;
                           burst.seed = seed;
                           const Outcome polled = run(burst);
                           burst.mode = Mode::dedicated;
                           const Outcome dedicated = run(burst);
                           CHECK_EQ(polled.received, burst.count);
                           CHECK_EQ(dedicated.received, burst.count);
                           CHECK(polled.lost > 0);
                           CHECK_EQ(dedicated.lost, 0u);
                           // The daemon waits before it takes a rank to compute, so that
                           // each sender may ask once.
                           CHECK(dedicated.resent <= burst.senders);
                           CHECK(dedicated.latencies.back() < polled.latencies.back());
                         }};

const sim::Case second{"queues__a_rank_that_computes_for_a_second_loses_nothing_with_the_daemon", 1,
                       [](std::uint64_t seed) {
                         Burst burst = datagrams(Mode::dedicated, seed);
                         burst.compute = 1s;
                         burst.count = 4096;
                         burst.costs.packet = 50ns;
                         Outcome outcome = run(burst);
                         conserve(burst, outcome);
                         CHECK_EQ(outcome.received, burst.count);
                         burst.datagrams = false;
                         outcome = run(burst);
                         CHECK_EQ(outcome.received, burst.count);
                         CHECK_EQ(outcome.lost + outcome.lost_in_ring, 0u);
                       }};

// The data of a large transfer to a neighbour keep out of the pool.
const sim::Case hybrid{"queues__hybrid_keeps_rendezvous_out_of_the_pool", 1,
                       [](std::uint64_t seed) {
                         Burst burst;
                         burst.mode = Mode::dedicated;
                         burst.bulk = 1u << 20;
                         burst.compute = 2ms;
                         burst.seed = seed;
                         const Outcome dedicated = run(burst);
                         burst.mode = Mode::hybrid;
                         const Outcome hybrid = run(burst);
                         for (const Outcome *outcome : {&dedicated, &hybrid}) {
                           CHECK_EQ(outcome->received, burst.count);
                           CHECK(outcome->bulk_took.has_value());
                         }
                         CHECK(dedicated.in_pool > 700); // 1 MiB takes some 730 packets
                         CHECK(hybrid.in_pool + 700 < dedicated.in_pool);
                       }};

const sim::Case same{"queues__one_seed_one_result", 2, [](std::uint64_t seed) {
                       for (const Mode mode : {Mode::rank_polled, Mode::dedicated, Mode::hybrid}) {
                         Burst burst;
                         burst.mode = mode;
                         burst.compute = 1ms;
                         burst.count = 1024;
                         burst.bulk = 256u << 10;
                         burst.seed = seed;
                         CHECK(run(burst) == run(burst));
                       }
                     }};

} // namespace
