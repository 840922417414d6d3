// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What dpdkxd tells about itself: a snapshot of counters since its start.
#pragma once

#include "dpdkx/base/address.h"
#include "dpdkx/base/clock.h"
#include "dpdkx/link/ethdev/module.h"

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace dpdkx::daemon {

struct Traffic {
  std::uint64_t packets = 0, bytes = 0; // bytes of UDP payload
};

// An endpoint of a process that has attached to a device.
struct RankStatus {
  Address address;
  pid_t pid = 0; // 0: in another PID namespace
  uid_t uid = 0;
  Duration attached{};               // for how long
  Traffic to_network{}, to_rank{};   // what it sent, and what it was given
  std::uint64_t dropped_no_room = 0; // for it, while its ring was full
  std::uint64_t send_refused = 0;    // by it, while the device's queue was full
  std::uint64_t malformed = 0;       // records that it should not have written
  std::uint64_t acknowledged = 0;    // packets, in its name while it computed
  std::uint32_t paths = 0;
  std::uint32_t ring_bytes = 0, ring_used = 0; // towards it
};

struct QueueStatus {
  std::uint32_t index = 0;
  std::string purpose; // "eager", or "rank 10.0.0.1:49152"
  std::uint64_t packets = 0;
};

// Of dpdkx-check(8) on other hosts.
struct ProbeStatus {
  std::uint16_t port = 0;                  // where they are answered; 0: nowhere
  std::uint64_t answered = 0, refused = 0; // too many at once
};

struct DeviceStatus {
  link::DeviceInfo info;
  std::vector<QueueStatus> queues;
  std::vector<RankStatus> ranks;
  ProbeStatus probes;
  std::vector<std::pair<std::string, std::uint64_t>> counters; // the driver's, and drops by reason
};

struct Status {
  std::string version, socket;
  pid_t pid = 0;
  Duration up{};
  Duration processor_time{}; // of the forwarding thread
  std::uint64_t turns = 0, sleeps = 0;
  std::uint64_t ranks_refused = 0; // with a wrong version, too many, no such port, ...
  std::uint32_t max_ranks = 0, max_ranks_per_user = 0; // at once; of users other than root
  std::vector<DeviceStatus> devices;
};

} // namespace dpdkx::daemon
