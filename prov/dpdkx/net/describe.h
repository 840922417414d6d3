// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What an entry of FI_DPDKX_DEVICE comes to: its address, network and MTU.
#pragma once

#include "dpdkx/net/device_spec.h"
#include "dpdkx/net/ip.h"
#include "dpdkx/net/mac.h"
#include "dpdkx/net/routes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dpdkx::net {

constexpr std::uint32_t default_mtu = 1500, min_mtu = 576, min_mtu_ipv6 = 1280, max_mtu = 9978;

// Where a device has addresses of both, and no setting picks one.
enum class Family : std::uint8_t { v4, v6 };

struct DeviceDescription {
  std::string link_name; // "veth0", "0000:01:00.0", "net_memif0"
  Network address;
  std::uint16_t vlan = 0;
  std::uint32_t mtu = default_mtu; // of IP packets
  RouteTable routes;
  // The kernel answers who asks for the address, and must be kept from answering our datagrams.
  bool kernel_has_address = false;
  // Of kernel interfaces:
  unsigned interface_index = 0;
  Mac mac;
  std::uint64_t speed_mbps = 0;
  std::uint32_t xdp_queues = 0; // by which af_xdp takes what arrives; 0: the entry says which
  std::vector<FixedNeighbour> neighbours;
};

// Looks at the kernel only: no DPDK, nothing is opened or claimed. `mtu`: the
// setting FI_DPDKX_MTU, 0: the interface's own, or 1500. Without an address of
// the family that is preferred, the other. Returns 0, or a negative errno with a
// text that names setting, value and what is allowed.
int describe_device(const DeviceSpec &, const std::optional<AddressSpec> &, Family preferred,
                    std::uint32_t mtu, DeviceDescription &out, std::string &error);

} // namespace dpdkx::net
