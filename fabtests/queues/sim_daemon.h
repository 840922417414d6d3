// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// dpdkxd on the virtual clock: the real Daemon, and the real ports of ranks
// attached to it, above ports of the simulated network. It polls without end, as
// the program does while there is traffic; a turn takes it some time, and each
// packet that it moves some more. Only attaching takes another thread.
#pragma once

#include "dpdkx/daemon/daemon.h"
#include "sim/common/world.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace queues {

// What forwarding costs the daemon's processor; daemon_cost measures it.
struct DaemonCosts {
  dpdkx::Duration turn = std::chrono::nanoseconds(100);
  dpdkx::Duration packet = std::chrono::nanoseconds(100);
};

class SimDaemon {
public:
  // With a device for each of the ranks to come.
  SimDaemon(sim::World &, const DaemonCosts &, std::span<const dpdkx::Address> ranks);
  ~SimDaemon(); // before the world
  SimDaemon(const SimDaemon &) = delete;

  // Takes a port of the network over, and gives the rank one that is attached to it. The rank's
  // node is woken when something has come for it.
  std::unique_ptr<dpdkx::link::Port> attach(std::unique_ptr<dpdkx::link::Port>, sim::NodeId rank);
  void kick(); // somebody has done something: it polls now, if it was idle

  dpdkx::daemon::Status status() { return daemon_->status(); }

private:
  class Device;
  void poll(std::uint64_t number);
  void schedule(dpdkx::Time);
  bool quiet() const; // nothing is under way in the network

  sim::World &world_;
  const DaemonCosts costs_;
  std::string socket_;
  std::vector<std::shared_ptr<Device>> devices_;
  std::unique_ptr<dpdkx::daemon::Daemon> daemon_;
  std::vector<sim::NodeId> ranks_;
  std::uint64_t moved_ = 0;  // packets, both ways
  std::uint64_t number_ = 0; // of the poll that is scheduled
  dpdkx::Time next_ = dpdkx::never, busy_until_{};
};

} // namespace queues
