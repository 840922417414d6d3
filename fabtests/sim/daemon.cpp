// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Endpoints whose device is a daemon's: engine, rings, daemon and its ports on the
// simulated network, all on the virtual clock. Ranks compute while packets come,
// and the daemon is killed and started anew: everything arrives, intact, in order and once.
#include "dpdkx/daemon/daemon.h"

#include "dpdkx/link/daemon/client.h"
#include "harness/forwarding_port.h"
#include "sim/common/case.h"
#include "sim/common/check.h"
#include "sim/common/exchange.h"
#include "sim/common/payload.h"
#include "sim/common/traffic.h"

#include <atomic>
#include <thread>
#include <unistd.h>

namespace {

using namespace sim;
namespace link = dpdkx::link;
namespace daemon = dpdkx::daemon;
using daemon::Daemon;

constexpr unsigned most_nodes = 8;
constexpr std::uint32_t ring_bytes = 64 * 1024;

std::string name_of(NodeId id) { return "net" + std::to_string(id); }

// A node's device: its port is one of the network's.
class SimDevice final : public link::Device {
public:
  SimDevice(Network &network, NodeId id) : network_(network), id_(id) {
    info_.name = info_.link_name = name_of(id);
    info_.address.address.bytes = World::address_of(id).ip;
    info_.mtu = 1500;
  }
  const link::DeviceInfo &info() const override { return info_; }
  int open_port(const Address &wanted, const link::PortOptions &, std::unique_ptr<link::Port> &out,
                std::string &error) override {
    out = network_.attach(wanted, Profile{}, id_);
    error = "taken";
    return out ? 0 : -EADDRINUSE;
  }
  std::vector<std::pair<std::string, std::uint64_t>> statistics() const override { return {}; }

private:
  Network &network_;
  const NodeId id_;
  link::DeviceInfo info_;
};

// The daemon of all nodes, each with a device of its own. It has a turn whenever a node looks.
class Host {
public:
  Host() {
    static std::atomic<unsigned> count{0};
    config_.socket = "@dpdkx-sim-" + std::to_string(getpid()) + "-" + std::to_string(count++);
    config_.devices.resize(most_nodes);
  }

  // As by SIGKILL, but for what lies in the network's cards.
  void kill() {
    if (daemon_)
      acknowledged_ = acknowledged();
    daemon_.reset();
  }
  void start(World &world) {
    world_ = &world;
    NodeId next = 0;
    std::string error;
    const int rc = Daemon::create(
        config_,
        {.open_device =
             [&](const daemon::DeviceConfig &, std::shared_ptr<link::Device> &out, std::string &) {
               out = std::make_shared<SimDevice>(world.network(), next++);
               return 0;
             },
         .describe = {},
         .version = {}},
        daemon_, error);
    if (rc != 0)
      FAIL("{}", error);
  }
  bool alive() const { return daemon_ != nullptr; }
  bool turn() { return daemon_ && daemon_->turn(world_->now()); }

  std::unique_ptr<link::Port> attach(const Address &address, NodeId id) {
    std::shared_ptr<link::Device> device;
    std::unique_ptr<link::Port> port;
    std::string error;
    int rc = 0;
    std::atomic<bool> done{false};
    std::thread rank([&] { // opening waits for answers
      rc = link::open_daemon_device({.socket = config_.socket, .ring_bytes = ring_bytes},
                                    name_of(id), device, error);
      if (rc == 0)
        rc = device->open_port(address, {}, port, error);
      done = true;
    });
    for (dpdkx::Time now = world_->now(); !done; now += 1ms) {
      daemon_->turn(now);
      std::this_thread::yield();
    }
    rank.join();
    if (rc != 0)
      FAIL("{}", error);
    return port;
  }

  std::uint64_t acknowledged() const {
    std::uint64_t n = acknowledged_;
    if (daemon_)
      for (const daemon::DeviceStatus &device : daemon_->status().devices)
        for (const daemon::RankStatus &rank : device.ranks)
          n += rank.acknowledged;
    return n;
  }
  std::uint64_t malformed() const {
    std::uint64_t n = 0;
    for (const daemon::DeviceStatus &device : daemon_->status().devices)
      for (const daemon::RankStatus &rank : device.ranks)
        n += rank.malformed;
    return n;
  }

private:
  World *world_ = nullptr;
  daemon::Config config_;
  std::unique_ptr<Daemon> daemon_;
  std::uint64_t acknowledged_ = 0;
};

// A rank's port, with a turn of the daemon before each look at it.
class RankPort final : public harness::ForwardingPort {
public:
  RankPort(Host &host, std::unique_ptr<link::Port> port)
      : ForwardingPort(std::move(port)), host_(host) {}

  unsigned poll(link::RxDatagram *out, unsigned max) override {
    bool did = host_.turn();
    const unsigned n = ForwardingPort::poll(out, max);
    did |= n != 0 || !host_.alive();
    busy_ = did ? 2 : busy_ - (busy_ != 0); // an event takes two looks
    return n;
  }
  void flush() override {
    ForwardingPort::flush();
    host_.turn();
  }
  int wait_fd() override { return 0; } // that arm() is asked
  bool arm() override { return busy_ == 0; }
  void disarm() override {}

private:
  Host &host_;
  unsigned busy_ = 2;
};

struct Lab {
  explicit Lab(std::uint64_t seed, unsigned nodes) : world(seed, setup()) {
    host.start(world);
    world.setup.wrap = [this](std::unique_ptr<link::Port> port) {
      const Address address = port->address();
      port.reset(); // the daemon's
      NodeId id = 0;
      while (World::address_of(id) != address)
        ++id;
      return std::make_unique<RankPort>(host, host.attach(address, id));
    };
    try {
      world.add(nodes);
    } catch (...) {
      host.kill();
      throw;
    }
  }
  ~Lab() { host.kill(); } // its ports end before the network, and nodes still look
  static Setup setup() {
    Setup out;
    out.config.backlog = 10'000; // much less than peers may send
    out.config.session.first_credit = 256 * 1024;
    return out;
  }
  // Everybody computes now and then, for longer than it takes a ring to fill.
  void let_compute(unsigned times, Duration longest) {
    for (unsigned i = 0; i < times; ++i)
      world.network().at(world.now() + world.random().below(20'000) * 1us, [this, longest] {
        const auto id = static_cast<NodeId>(world.random().below(world.size()));
        world.compute_until(id, world.now() + world.random().below(longest / 1us) * 1us);
      });
  }
  void let_die(unsigned times) {
    world.poll_interval = 20us; // an engine that has no room asks again and again
    for (unsigned i = 0; i < times; ++i) {
      const auto at = world.now() + (2000 + 15'000 * i + world.random().below(10'000)) * 1us;
      world.network().at(at, [this] { to_kill = true; });
      world.network().at(at + world.random().below(5000) * 1us, [this] { to_start = true; });
    }
    // Not from within the network's own turn.
    world.after_turn = [this](NodeId) {
      if (std::exchange(to_kill, false))
        host.kill();
      else if (!host.alive() && std::exchange(to_start, false)) {
        host.start(world);
        ++successors;
      }
    };
  }
  void end() {
    CHECK_EQ(host.malformed(), 0u);
    note(fmt::format("{:.1f} ms, {} acknowledged by the daemon, {} daemons",
                     std::chrono::duration<double, std::milli>(world.since_start()).count(),
                     host.acknowledged(), successors + 1));
  }

  Host host;
  World world;
  bool to_kill = false, to_start = false;
  unsigned successors = 0;
};

const TrafficPlan plan{.messages = 3000, .largest = 100u << 10, .to_self = false};

const Case clean{"daemon__forwards", 2, [](std::uint64_t seed) {
                   Lab lab(seed, 4);
                   Traffic(lab.world, plan).run(120s);
                   lab.end();
                 }};

const Case lossy{"daemon__on_a_network_that_loses_and_corrupts", 4, [](std::uint64_t seed) {
                   Lab lab(seed, 4);
                   lab.world.network().set_faults(
                       {.loss = 0.02, .duplicate = 0.02, .reorder = 0.05, .corrupt = 0.01});
                   Traffic(lab.world, plan).run(120s);
                   lab.end();
                 }};

const Case computing{"daemon__of_ranks_that_compute", 6, [](std::uint64_t seed) {
                       Lab lab(seed, 4);
                       lab.world.network().set_faults({.loss = 0.01, .corrupt = 0.01});
                       lab.let_compute(60, 20ms);
                       Traffic(lab.world, plan).run(120s);
                       lab.end();
                       CHECK(lab.host.acknowledged() > 0);
                     }};

const Case mortal{"daemon__that_is_killed", 6, [](std::uint64_t seed) {
                    Lab lab(seed, 4);
                    if (seed % 2 == 0)
                      lab.world.network().set_faults({.loss = 0.01});
                    lab.let_compute(40, 20ms);
                    lab.let_die(20);
                    Traffic(lab.world, plan).run(120s);
                    if (!lab.host.alive())
                      lab.host.start(lab.world);
                    lab.end();
                  }};

// Who sends to a rank that computes needn't ask whether it has come in: the daemon says so before,
// however short the round trip is, and though the rank has read what came before without a word.
const Case early{"daemon__acknowledges_before_the_sender_asks", 4, [](std::uint64_t seed) {
                   Lab lab(seed, 2);
                   World &world = lab.world;
                   for (unsigned i = 0; i < 50; ++i) // both know the round trip
                     exchange(world, 0, 1, 100);
                   for (unsigned i = 0; i < 20; ++i) {
                     const std::uint64_t before = world.node(0).endpoint().statistics().resent;
                     Op &receive = world.receive(1, 1'000);
                     world.compute_until(1, world.now() + 2ms);
                     Op &send = world.send(0, 1, bytes_of(1 + world.random().below(1'000), i));
                     while (world.run_for(1us), !receive.finished()) // the daemon polls
                       lab.host.turn();
                     CHECK_EQ(world.node(0).endpoint().statistics().resent, before);
                     CHECK(send.ok() && receive.ok());
                   }
                   CHECK(lab.host.acknowledged() >= 20);
                   lab.end();
                 }};

// Much more than the backlog keeps, of packets that may have been acknowledged.
const Case flooded{"daemon__of_a_flood_at_a_rank_that_computes", 4, [](std::uint64_t seed) {
                     Lab lab(seed, 2);
                     World &world = lab.world;
                     exchange(world, 0, 1, 100);
                     world.compute_until(1, world.now() + 5s);
                     std::vector<Op *> ops;
                     for (unsigned i = 0; i < 300; ++i)
                       if (Op *op = world.try_send(0, 1, bytes_of(1'000, i), {.tag = i}))
                         ops.push_back(op);
                     world.run_for(4s);
                     std::vector<Op *> receives;
                     for (std::size_t i = 0; i < ops.size(); ++i)
                       receives.push_back(&world.receive(1, 1'000, {.tag = i}));
                     CHECK(world.run_until_done(receives, 20s));
                     CHECK(world.run_until_done(ops, 20s));
                     for (std::size_t i = 0; i < ops.size(); ++i) {
                       CHECK_EQ(ops[i]->error() | receives[i]->error(), 0);
                       verify(receives[i]->memory, i);
                     }
                     lab.end();
                   }};

} // namespace
