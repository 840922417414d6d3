// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a DPDK device costs between two processes with no protocol: one frame back and forth.
#include "bench/bench_main.h"
#include "common/check.h"
#include "common/settings.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include <CLI/CLI.hpp>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <unistd.h>

namespace fabtest {

namespace {

using clock = std::chrono::steady_clock;

// A message of so many bytes in a frame with Ethernet, IPv4 and UDP headers around it.
constexpr std::size_t headers = 14 + 20 + 8, smallest_frame = 64, largest_frame = 1514;

constexpr std::uint16_t experimental_type = 0x88b5; // IEEE 802, for local experiments

struct frame_header {
  std::uint8_t to[6];
  std::uint8_t from[6];
  std::uint16_t type;
  std::uint16_t sender;
  std::uint32_t turn;
};
static_assert(sizeof(frame_header) == 20);

void start_eal(const std::string &device) {
  const std::string lcores = "--lcores=0@" + std::to_string(sched_getcpu());
  const std::string vdev = "--vdev=" + device;
  const std::string prefix = "--file-prefix=floor" + std::to_string(getpid());
  std::vector<std::string> args{"floor_dpdk",  "--no-huge",
                                "--no-pci",    "--no-telemetry",
                                "--no-shconf", "--log-level=*:error",
                                "-m",          "128",
                                lcores,        vdev,
                                prefix};
  std::vector<char *> argv;
  for (auto &a : args)
    argv.push_back(a.data());
  if (rte_eal_init(static_cast<int>(argv.size()), argv.data()) < 0)
    fail(fmt::format("rte_eal_init: {}", rte_strerror(rte_errno)));
  if (rte_eth_dev_count_avail() == 0)
    fail(fmt::format("no port from \"{}\"", device));
}

class port {
public:
  port()
      : pool_(rte_pktmbuf_pool_create("floor", 4095, 64, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
                                      SOCKET_ID_ANY)) {
    const rte_eth_conf conf{};
    if (!pool_ || rte_eth_dev_configure(id_, 1, 1, &conf) != 0 ||
        rte_eth_rx_queue_setup(id_, 0, 512, SOCKET_ID_ANY, nullptr, pool_) != 0 ||
        rte_eth_tx_queue_setup(id_, 0, 512, SOCKET_ID_ANY, nullptr) != 0)
      fail("setting the port up failed");
  }

  // A memif client can't start before its server listens.
  void start() {
    const auto end = clock::now() + config().limit(30);
    rte_eth_link link{};
    while (rte_eth_dev_start(id_) != 0 && clock::now() < end)
      sched_yield();
    do {
      rte_eth_link_get_nowait(id_, &link);
      sched_yield();
    } while (!link.link_status && clock::now() < end);
    if (!link.link_status)
      fail("the link doesn't come up");
    rte_eth_promiscuous_enable(id_);
  }

  void send(std::uint16_t sender, std::uint32_t turn, std::size_t size) {
    rte_mbuf *m = nullptr;
    while (!(m = rte_pktmbuf_alloc(pool_))) {
      rte_eth_tx_done_cleanup(id_, 0, 0);
    }
    const auto length = static_cast<std::uint16_t>(size);
    frame_header h{{255, 255, 255, 255, 255, 255},
                   {2, 0, 0, 0, 0, 0},
                   htobe16(experimental_type),
                   sender,
                   turn};
    std::memcpy(rte_pktmbuf_append(m, length), &h, sizeof h);
    while (rte_eth_tx_burst(id_, 0, &m, 1) == 0) {
    }
  }

  // True when the other side's frame of this turn came.
  bool receive(std::uint16_t own, std::uint32_t turn) {
    std::array<rte_mbuf *, 8> burst{};
    const std::uint16_t n = rte_eth_rx_burst(id_, 0, burst.data(), burst.size());
    bool found = false;
    for (std::uint16_t i = 0; i < n; ++i) {
      frame_header h{};
      std::memcpy(&h, rte_pktmbuf_mtod(burst[i], void *), sizeof h);
      found |= h.type == htobe16(experimental_type) && h.sender != own && h.turn == turn;
      rte_pktmbuf_free(burst[i]);
    }
    return found;
  }

private:
  std::uint16_t id_ = 0;
  rte_mempool *pool_;
};

// Kernel devices drop what a process that isn't scheduled doesn't take: then the first says it
// again.
void ping_pong(team &t, port &p, std::uint32_t turn, std::size_t size) {
  const auto own = static_cast<std::uint16_t>(t.rank() + 1);
  if (t.first())
    p.send(own, turn, size);
  auto said = clock::now();
  for (std::uint64_t polls = 0; !p.receive(own, turn); ++polls) {
    if (!t.first() || polls % 4096 != 4095)
      continue;
    if (clock::now() - said > std::chrono::milliseconds(20)) {
      p.send(own, turn, size);
      said = clock::now();
    }
  }
  if (!t.first())
    p.send(own, turn, size);
}

// The answer to the last turn may have been lost: the second keeps answering until the first is
// done.
void finish(team &t, port &p, std::uint32_t turn, std::size_t size) {
  constexpr std::uint32_t last = 0xffff'ffff;
  const auto own = static_cast<std::uint16_t>(t.rank() + 1);
  const auto end = clock::now() + std::chrono::milliseconds(100);
  while (!t.first() && clock::now() < end) {
    if (p.receive(own, turn))
      p.send(own, turn, size);
    if (p.receive(own, last))
      return;
  }
  if (t.first())
    p.send(own, last, size);
}

struct dpdk_options {
  std::vector<std::string> devices; // by rank
  std::string name = "raw";
};

void measure(team &t, const bench_options &options, const dpdk_options &dpdk) {
  start_eal(dpdk.devices[static_cast<std::size_t>(t.rank()) % dpdk.devices.size()]);
  port p;
  p.start();
  t.barrier();
  std::uint32_t turn = 0;
  for (const std::size_t message : options.sizes) {
    const std::size_t size = std::max(message + headers, smallest_frame);
    if (size > largest_frame)
      continue;
    auto values = sample(t, options.how, [&](std::uint64_t repetitions) {
      for (std::uint64_t i = 0; i < repetitions; ++i)
        ping_pong(t, p, ++turn, size);
    });
    finish(t, p, turn, size);
    for (auto &v : values)
      v /= 2000;
    print_figure(t, {dpdk.name, "us", message}, values);
    t.barrier();
  }
  // Neither polls any more: a memif peer that ends takes its memory with it.
}

} // namespace

} // namespace fabtest

int main(int argc, char **argv) {
  CLI::App app("Measures a DPDK device between two processes.");
  fabtest::bench_options options;
  fabtest::dpdk_options dpdk;
  options.sizes = {8, 256, 1024, 1400};
  add_bench_options(app, options);
  app.add_option("--device", dpdk.devices, "EAL's vdev string, one for each rank")->required();
  app.add_option("--name", dpdk.name, "what to call the figures");
  CLI11_PARSE(app, argc, argv);
  return fabtest::run_bench([&](fabtest::team &t) { fabtest::measure(t, options, dpdk); });
}
