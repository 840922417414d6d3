// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a DPDK device costs between two processes with no protocol: as many frames as a message
// needs, back and forth, from one buffer into another.
#include "bench/bench_main.h"
#include "common/check.h"
#include "common/command_line.h"
#include "common/settings.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <unistd.h>

namespace fabtest {

namespace {

using clock = std::chrono::steady_clock;

// Each piece of a message in a frame with Ethernet, IPv4 and UDP headers around it.
constexpr std::size_t headers = 14 + 20 + 8, smallest_frame = 64;

constexpr std::uint16_t experimental_type = 0x88b5; // IEEE 802, for local experiments

struct frame_header {
  std::uint8_t to[6];
  std::uint8_t from[6];
  std::uint16_t type;
  std::uint8_t sender;
  std::uint8_t piece;
  std::uint32_t turn;
};
static_assert(sizeof(frame_header) == 20);

// A message cut into frames.
struct cut {
  cut(std::size_t message, std::size_t mtu) : size(message), room(mtu + 14 - headers) {}
  [[nodiscard]] std::size_t pieces() const {
    return std::max<std::size_t>((size + room - 1) / room, 1);
  }
  [[nodiscard]] std::size_t bytes(std::size_t piece) const {
    return std::min(room, size - piece * room);
  }

  std::size_t size, room;
};
constexpr std::size_t most_pieces = 64;

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
  std::error_code ignored; // made although nothing is kept there
  std::filesystem::remove(rte_eal_get_runtime_dir(), ignored);
  if (rte_eth_dev_count_avail() == 0)
    fail(fmt::format("no port from \"{}\"", device));
}

constexpr std::uint32_t last_turn = 0xffff'ffff;

class port {
public:
  explicit port(std::size_t mtu)
      : pool_(rte_pktmbuf_pool_create(
            "floor", 2047, 64, 0,
            static_cast<std::uint16_t>(
                std::max<std::size_t>(RTE_MBUF_DEFAULT_BUF_SIZE, RTE_PKTMBUF_HEADROOM + mtu + 512)),
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

  // All frames of a message, in as few bursts as the device takes.
  void send(std::uint8_t sender, std::uint32_t turn, const cut &message, const std::byte *from) {
    std::array<rte_mbuf *, most_pieces> burst{};
    const std::size_t pieces = message.pieces();
    while (rte_pktmbuf_alloc_bulk(pool_, burst.data(), static_cast<unsigned>(pieces)) != 0)
      rte_eth_tx_done_cleanup(id_, 0, 0);
    for (std::size_t i = 0; i < pieces; ++i)
      fill(burst[i], {sender, static_cast<std::uint8_t>(i), turn}, message.bytes(i),
           from + i * message.room);
    for (std::size_t sent = 0; sent < pieces;)
      sent +=
          rte_eth_tx_burst(id_, 0, burst.data() + sent, static_cast<std::uint16_t>(pieces - sent));
  }

  // Pieces of the other side's message of this turn that came in now.
  std::size_t receive(std::uint8_t own, std::uint32_t turn, const cut &message, std::byte *to,
                      std::array<bool, most_pieces> &have) {
    std::array<rte_mbuf *, 32> burst{};
    const std::uint16_t n = rte_eth_rx_burst(id_, 0, burst.data(), burst.size());
    std::size_t fresh = 0;
    for (std::uint16_t i = 0; i < n; ++i) {
      frame_header h{};
      const auto *data = rte_pktmbuf_mtod(burst[i], const std::byte *);
      std::memcpy(&h, data, sizeof h);
      const bool others = h.type == htobe16(experimental_type) && h.sender != own;
      over_ |= others && h.turn == last_turn;
      if (others && h.turn == turn && h.piece < message.pieces() &&
          !std::exchange(have[h.piece], true)) {
        std::memcpy(to + h.piece * message.room, data + headers, message.bytes(h.piece));
        ++fresh;
      }
      rte_pktmbuf_free(burst[i]);
    }
    return fresh;
  }

  // The other side has said that it is done with a size. Told once.
  bool over() { return std::exchange(over_, false); }

private:
  struct label {
    std::uint8_t sender, piece;
    std::uint32_t turn;
  };

  static void fill(rte_mbuf *m, const label &l, std::size_t bytes, const std::byte *from) {
    const std::size_t size = std::max(headers + bytes, smallest_frame);
    auto *data =
        reinterpret_cast<std::byte *>(rte_pktmbuf_append(m, static_cast<std::uint16_t>(size)));
    const frame_header h{{255, 255, 255, 255, 255, 255},
                         {2, 0, 0, 0, 0, 0},
                         htobe16(experimental_type),
                         l.sender,
                         l.piece,
                         l.turn};
    std::memcpy(data, &h, sizeof h);
    std::memcpy(data + headers, from, bytes);
  }

  std::uint16_t id_ = 0;
  bool over_ = false;
  rte_mempool *pool_;
};

class player {
public:
  player(team &t, port &p, cut message)
      : t_(t), p_(p), own_(static_cast<std::uint8_t>(t.rank() + 1)), message_(message),
        out_(message.size), in_(message.size) {}

  // Kernel devices drop what a process that isn't scheduled doesn't take: then the first says it
  // again.
  void ping_pong(std::uint32_t turn) {
    if (t_.first())
      send(turn);
    std::array<bool, most_pieces> have{};
    auto said = clock::now();
    std::size_t got = 0;
    for (std::uint64_t polls = 0; got < message_.pieces(); ++polls) {
      got += p_.receive(own_, turn, message_, in_.data(), have);
      if (!t_.first() || polls % 4096 != 4095)
        continue;
      if (clock::now() - said > std::chrono::milliseconds(20)) {
        send(turn);
        said = clock::now();
      }
    }
    if (!t_.first())
      send(turn);
  }

  // The answer to the last turn may have been lost: the second keeps answering until the first is
  // done.
  void finish(std::uint32_t turn) {
    if (t_.first()) {
      send(last_turn);
      return;
    }
    const auto end = clock::now() + std::chrono::milliseconds(100);
    while (!p_.over() && clock::now() < end) {
      std::array<bool, most_pieces> have{};
      if (p_.receive(own_, turn, message_, in_.data(), have) != 0)
        send(turn);
    }
  }

private:
  void send(std::uint32_t turn) { p_.send(own_, turn, message_, out_.data()); }

  team &t_;
  port &p_;
  std::uint8_t own_;
  cut message_;
  std::vector<std::byte> out_, in_;
};

struct dpdk_options {
  std::vector<std::string> devices; // by rank
  std::string name = "raw";
  std::size_t mtu = 1500;
};

void measure(team &t, const bench_options &options, const dpdk_options &dpdk) {
  start_eal(dpdk.devices[static_cast<std::size_t>(t.rank()) % dpdk.devices.size()]);
  port p(dpdk.mtu);
  p.start();
  t.barrier();
  std::uint32_t turn = 0;
  for (const std::size_t size : options.sizes) {
    const cut message(size, dpdk.mtu);
    if (message.pieces() > most_pieces)
      fail(fmt::format("--sizes: {} bytes need {} frames; allowed: {}", size, message.pieces(),
                       most_pieces));
    player play(t, p, message);
    auto values = sample(t, options.how, [&](std::uint64_t repetitions) {
      for (std::uint64_t i = 0; i < repetitions; ++i)
        play.ping_pong(++turn);
    });
    play.finish(turn);
    for (auto &v : values)
      v /= 2000;
    print_figure(t, {dpdk.name, "us", size}, values);
    t.barrier();
  }
  // Neither polls any more: a memif peer that ends takes its memory with it.
}

} // namespace

} // namespace fabtest

int main(int argc, char **argv) {
  fabtest::command_line app("Measures a DPDK device between two processes.");
  fabtest::bench_options options;
  fabtest::dpdk_options dpdk;
  options.sizes = {8, 256, 1024};
  add_bench_options(app, options);
  app.add("--device", dpdk.devices, "EAL's vdev string, one for each rank").required();
  app.add("--name", dpdk.name, "what to call the figures");
  app.add("--mtu", dpdk.mtu, "bytes of an IP packet at most").between(576, 9978);
  if (const auto code = app.parse(argc, argv))
    return *code;
  return fabtest::run_bench([&](fabtest::team &t) { fabtest::measure(t, options, dpdk); });
}
