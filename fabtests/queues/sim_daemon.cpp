// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "queues/sim_daemon.h"

#include "dpdkx/link/daemon/client.h"
#include "harness/forwarding_port.h"
#include "sim/common/check.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <unistd.h>

namespace queues {

using namespace dpdkx;
using namespace std::chrono_literals;

namespace {

// It looks so often when nothing is under way; whoever sends kicks it.
constexpr Duration idle_step = 20us;

std::string unused_socket() {
  static unsigned number = 0;
  return "@dpdkx-queues-" + std::to_string(getpid()) + "-" + std::to_string(number++);
}

// Counts what goes through.
class CountedPort final : public harness::ForwardingPort {
public:
  CountedPort(std::unique_ptr<link::Port> port, std::uint64_t &moved)
      : ForwardingPort(std::move(port)), moved_(moved) {}
  void commit(link::PathId path, const link::TxRoom &room, std::uint32_t len) override {
    ++moved_;
    ForwardingPort::commit(path, room, len);
  }
  unsigned poll(link::RxDatagram *out, unsigned max) override {
    const unsigned n = ForwardingPort::poll(out, max);
    moved_ += n;
    return n;
  }

private:
  std::uint64_t &moved_;
};

} // namespace

// Has the port that it is given, for who asks next.
class SimDaemon::Device final : public link::Device {
public:
  explicit Device(const Address &rank) {
    info_.name = info_.link_name = to_string(rank);
    info_.driver = "simulated";
    std::ranges::copy(rank.ip, info_.address.address.bytes.begin());
    info_.address.prefix = 32;
    info_.mtu = 1500;
  }
  const link::DeviceInfo &info() const override { return info_; }
  int open_port(const Address &, const link::PortOptions &, std::unique_ptr<link::Port> &out,
                std::string &error) override {
    if (!port) {
      error = "the port is taken";
      return -EADDRINUSE;
    }
    out = std::move(port);
    return 0;
  }
  std::vector<std::pair<std::string, std::uint64_t>> statistics() const override { return {}; }

  std::unique_ptr<link::Port> port;

private:
  link::DeviceInfo info_;
};

SimDaemon::SimDaemon(sim::World &world, const DaemonCosts &costs, std::span<const Address> ranks)
    : world_(world), costs_(costs), socket_(unused_socket()) {
  daemon::Config config;
  config.socket = socket_;
  for (const Address &rank : ranks) {
    auto device = std::make_shared<Device>(rank);
    config.devices.emplace_back().request.spec.text = device->info().name;
    devices_.push_back(std::move(device));
  }
  daemon::Daemon::Surroundings surroundings;
  surroundings.open_device = [this](const daemon::DeviceConfig &wanted,
                                    std::shared_ptr<link::Device> &out, std::string &) {
    for (const auto &device : devices_)
      if (device->info().name == wanted.request.spec.text)
        out = device;
    return out ? 0 : -ENODEV;
  };
  std::string error;
  if (const int rc = daemon::Daemon::create(config, std::move(surroundings), daemon_, error))
    FAIL("no daemon: {} ({})", error, rc);
  schedule(world_.now());
}

SimDaemon::~SimDaemon() = default;

std::unique_ptr<link::Port> SimDaemon::attach(std::unique_ptr<link::Port> port, sim::NodeId rank) {
  const Address address = port->address();
  const auto found =
      std::ranges::find(devices_, to_string(address), [](const auto &d) { return d->info().name; });
  CHECK(found != devices_.end());
  Device &device = **found;
  device.port = std::make_unique<CountedPort>(std::move(port), moved_);
  // The rank waits for the answer, so somebody else turns. Nothing is under way for the port yet;
  // the daemon looks at its sockets as often as that thread's clock says.
  std::atomic<bool> attached{false};
  std::thread turning([&] {
    for (Time now = world_.now(); !attached; now += 1ms) {
      daemon_->turn(now);
      std::this_thread::yield();
    }
  });
  std::string error;
  std::shared_ptr<link::Device> ours;
  std::unique_ptr<link::Port> out;
  link::DaemonOptions options;
  options.socket = socket_;
  int rc = link::open_daemon_device(options, device.info().name, ours, error);
  if (rc == 0)
    rc = ours->open_port(address, {}, out, error);
  attached = true;
  turning.join();
  if (rc != 0)
    FAIL("{} can't attach: {} ({})", to_string(address), error, rc);
  ranks_.push_back(rank);
  return out;
}

void SimDaemon::schedule(Time at) {
  next_ = at;
  world_.network().at(at, [this, number = ++number_] { poll(number); });
}

void SimDaemon::kick() {
  const Time at = std::max(world_.now() + costs_.turn, busy_until_);
  if (next_ > at)
    schedule(at);
}

void SimDaemon::poll(std::uint64_t number) {
  if (number != number_)
    return; // an earlier one took its place
  const std::uint64_t before = moved_;
  const bool did = daemon_->turn(world_.now());
  if (did)
    for (const sim::NodeId rank : ranks_)
      world_.wake(rank);
  const auto packets = static_cast<Duration::rep>(moved_ - before);
  const Duration took = costs_.turn + packets * costs_.packet;
  busy_until_ = world_.now() + took;
  schedule(world_.now() + (did || !quiet() ? took : std::max(took, idle_step)));
}

bool SimDaemon::quiet() const {
  const auto c = world_.network().counters();
  return c.sent + c.injected <= c.delivered + c.lost + c.queue_full + c.ring_full + c.no_receiver +
                                    c.cut_off + c.hook_dropped + c.black_holed;
}

} // namespace queues
