// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The experiment over all of its settings, on the simulated NIC: one line of JSON
// each. See fabtests/bench/queues.
#include "common/command_line.h"
#include "queues/burst.h"

#include <algorithm>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

namespace {

using namespace queues;

double quantile(const std::vector<double> &sorted, double q) {
  return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(q * double(sorted.size() - 1))];
}

void print(const Burst &burst, const Outcome &outcome) {
  fmt::print("{{\"nic\": \"simulated\", \"mode\": \"{}\", \"traffic\": \"{}\", \"queues\": {}, "
             "\"descriptors\": {}, \"senders\": {}, \"count\": {}, \"size\": {}, "
             "\"compute_ms\": {}, \"bulk\": {}, \"seed\": {}, ",
             name_of(burst.mode), burst.datagrams ? "datagrams" : "messages", burst.queues,
             burst.descriptors, burst.senders, burst.count, burst.size,
             std::chrono::duration<double, std::milli>(burst.compute).count(), burst.bulk,
             burst.seed);
  fmt::print("\"received\": {}, \"packets\": {}, \"in_pool\": {}, \"lost\": {}, "
             "\"lost_in_ring\": {}, \"most_waiting\": {}, \"resent\": {}, ",
             outcome.received, outcome.packets, outcome.in_pool, outcome.lost, outcome.lost_in_ring,
             outcome.most_waiting, outcome.resent);
  if (outcome.bulk_took)
    fmt::print("\"bulk_us\": {:.3f}, ", *outcome.bulk_took);
  fmt::print("\"median_us\": {:.3f}, \"last_us\": {:.3f}}}\n", quantile(outcome.latencies, 0.5),
             quantile(outcome.latencies, 1));
  std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  fabtest::command_line app(
      "Bursts of small messages to a rank that computes, behind a simulated NIC.");
  std::vector<std::string> modes{"rank-polled", "dedicated", "hybrid"};
  std::vector<std::string> traffic{"datagrams", "messages"};
  std::vector<std::uint32_t> pools{1, 2, 4, 8}, counts{16, 64, 256, 1024, 4096};
  std::vector<double> computes{0, 1, 10, 50};
  std::vector<std::size_t> bulks{0};
  Burst usual;
  std::uint32_t seeds = 1;
  double packet_ns = 100;
  const auto list = [&](const char *name, auto &values, const char *text) {
    return app.add(name, values, text).comma_separated();
  };
  list("--mode", modes, "rank-polled, dedicated, hybrid")
      .one_of({"rank-polled", "dedicated", "hybrid"});
  list("--traffic", traffic, "datagrams: nothing holds senders back; messages: reliable")
      .one_of({"datagrams", "messages"});
  list("--queues", pools, "receive queues of the pool");
  list("--count", counts, "messages of a burst, a multiple of the senders");
  list("--compute", computes, "ms that the rank computes from the burst on");
  list("--bulk", bulks, "bytes that a neighbour gets meanwhile by rendezvous; messages only");
  app.add("--descriptors", usual.descriptors, "of a queue");
  app.add("--senders", usual.senders, "hosts that send");
  app.add("--size", usual.size, "bytes of a message, from 8 on");
  app.add("--packet-ns", packet_ns, "processor time of the daemon a packet");
  app.add("--seeds", seeds, "runs with other random numbers");
  if (const auto code = app.parse(argc, argv))
    return *code;
  usual.costs.packet = dpdkx::Duration(static_cast<dpdkx::Duration::rep>(packet_ns));
  try {
    for (const std::size_t bulk : bulks)
      for (const std::string &kind : traffic)
        for (const double compute : computes)
          for (const std::uint32_t count : counts)
            for (const std::uint32_t queues : pools)
              for (const std::string &mode : modes)
                for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
                  Burst burst = usual;
                  burst.mode = mode == "rank-polled" ? Mode::rank_polled
                               : mode == "dedicated" ? Mode::dedicated
                                                     : Mode::hybrid;
                  burst.datagrams = kind == "datagrams";
                  if (burst.datagrams && bulk != 0)
                    continue;
                  burst.queues = queues;
                  burst.count = count;
                  burst.compute = dpdkx::Duration(static_cast<dpdkx::Duration::rep>(compute * 1e6));
                  burst.bulk = bulk;
                  burst.seed = seed;
                  print(burst, run(burst));
                }
  } catch (const std::exception &e) {
    fmt::print(stderr, "bursts: {}\n", e.what());
    return 1;
  }
  return 0;
}
