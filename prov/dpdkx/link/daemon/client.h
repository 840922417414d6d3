// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// dpdkxd as ranks see it: which devices it has, and a Device that stands for one
// of them. No DPDK, no privileges.
//
// Thread-safe.
#pragma once

#include "dpdkx/link/ethdev/module.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dpdkx::link {

struct DaemonOptions {
  std::string socket;                     // "@name" or "/path"; see daemon/messages.h
  std::uint32_t ring_bytes = 1024 * 1024; // each way, a power of two from 64 KiB
};

// So long an answer of the daemon is waited for.
inline constexpr Duration daemon_patience = std::chrono::seconds(5);

// What it has, in its order. 0, or with a text: -ECONNREFUSED: no daemon there; -EPERM: who answers
// is neither root nor this user; -ETIMEDOUT: it is silent; -EPROTO, -EPROTONOSUPPORT.
int daemon_devices(const std::string &socket, std::vector<DeviceInfo> &, std::string &error,
                   Duration patience = daemon_patience);

// What it tells about itself, JSON.
int daemon_status(const std::string &socket, std::string &json, std::string &error,
                  Duration patience = daemon_patience);

// The device with that link name. Also -ENODEV. Its ports take up with a daemon that was started
// anew by themselves.
int open_daemon_device(const DaemonOptions &, const std::string &link_name,
                       std::shared_ptr<Device> &, std::string &error);

} // namespace dpdkx::link
