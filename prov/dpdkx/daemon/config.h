// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How dpdkxd is set up. The command line and the configuration file fill it
// (options.h).
#pragma once

#include "dpdkx/base/clock.h"
#include "dpdkx/check/responder.h"
#include "dpdkx/link/ethdev/module.h"
#include "dpdkx/session/rtt.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace dpdkx::daemon {

struct DeviceConfig {
  link::DeviceRequest request;
  link::DeviceOptions options;
};

struct Config {
  std::vector<DeviceConfig> devices;

  // Where ranks find it: an abstract socket of this network namespace, "@name", or a path.
  std::string socket = "@dpdkxd";

  // Where probes of dpdkx-check(8) are answered on each device; 0: nowhere.
  std::uint16_t check_port = check::default_port;

  std::uint32_t max_ranks = 1024;       // endpoints at once, of all users
  std::uint32_t max_ranks_per_user = 0; // 0: half of max_ranks; root and our own user have all
  std::uint32_t max_ring = 16u << 20; // bytes of shared memory each way that an endpoint may bring

  // The forwarding thread: its processor, -1: any; and how long it polls in vain before it sleeps.
  // Devices that can't wake it are then looked at every `blind_poll`, and up to twenty times less
  // often the longer nothing has come.
  int processor = -1;
  Duration sleep_after = std::chrono::milliseconds(10);
  Duration blind_poll = std::chrono::microseconds(200);

  // An endpoint that has left packets unread for so long is taken to compute: packets for it are
  // acknowledged in its name. So long every sender waits before it asks.
  Duration acknowledge_after = session::RttEstimator::least_ack_delay;

  std::uint32_t share_of_user() const {
    return max_ranks_per_user != 0 ? max_ranks_per_user : (max_ranks + 1) / 2;
  }
};

} // namespace dpdkx::daemon
