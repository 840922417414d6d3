// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A status with something in each place.
#pragma once

#include "dpdkx/daemon/status.h"

namespace dpdkx::daemon {

inline RankStatus example_rank(std::uint16_t port) {
  RankStatus rank;
  rank.address = Address::v4(0x0a000001, port);
  rank.pid = 1234;
  rank.uid = 1000;
  rank.attached = std::chrono::seconds(75);
  rank.to_network = {1000, 64000};
  rank.to_rank = {2000, 3'000'000};
  rank.dropped_no_room = 3;
  rank.send_refused = 4;
  rank.malformed = 5;
  rank.acknowledged = 6;
  rank.paths = 7;
  rank.ring_bytes = 1 << 20;
  rank.ring_used = 1 << 19;
  return rank;
}

inline Status example_status() {
  Status status;
  status.version = "0.1.0";
  status.socket = "@dpdkxd";
  status.pid = 99;
  status.up = std::chrono::seconds(100);
  status.processor_time = std::chrono::milliseconds(12500);
  status.turns = 1'000'000;
  status.sleeps = 17;
  status.ranks_refused = 1;
  status.max_ranks = 1024;
  status.max_ranks_per_user = 512;
  DeviceStatus &device = status.devices.emplace_back();
  link::DeviceInfo &info = device.info;
  info.name = "0000:01:00.0";
  info.driver = "mlx5_pci";
  info.link_name = "eth0";
  info.mac.bytes = {2, 0, 0, 0, 0, 0x1f};
  info.address = {net::Ip(net::Ipv4{0x0a000001}), 24};
  info.mtu = 9000;
  info.bits_per_second = 100'000'000'000;
  info.numa_node = 1;
  info.pci = link::PciIdentity{.domain = 0x10000,
                               .bus = 1,
                               .device = 2,
                               .function = 3,
                               .vendor_id = 0x15b3,
                               .device_id = 0x1017,
                               .subsystem_vendor_id = 0x15b3,
                               .subsystem_device_id = 7,
                               .revision = 9};
  info.steering = "RSS over 2 queues";
  device.queues = {{0, "eager", 111}, {1, "rank 10.0.0.1:49152", 222}};
  device.ranks = {example_rank(49152), example_rank(49153)};
  device.ranks[1].pid = 0;
  device.probes = {4797, 44, 55};
  device.counters = {{"rx_good_packets", 333}, {"rx_errors", 0}, {"dropped: \"odd\"\\", 2}};
  return status;
}

} // namespace dpdkx::daemon
