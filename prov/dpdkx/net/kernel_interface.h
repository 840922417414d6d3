// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the kernel knows of a network interface. Reads only; needs no privileges.
// All of it is about the calling thread's network namespace.
#pragma once

#include "dpdkx/net/ipv4.h"
#include "dpdkx/net/mac.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dpdkx::net {

struct KernelInterface {
  unsigned index = 0;
  bool up = false, ethernet = false;
  Mac mac;
  std::uint32_t mtu = 0;
  std::uint64_t speed_mbps = 0;       // 0: unknown
  std::vector<Ipv4Network> addresses; // without aliases of other interfaces
  RouteTable routes;
};

// nullopt: there is none of that name.
std::optional<KernelInterface> find_kernel_interface(const std::string &name);

// Any interface has it: then the kernel answers ARP for it, and handles what is sent to it.
bool kernel_has_address(Ipv4);

// Neighbours that the administrator has fixed for the interface.
std::vector<std::pair<Ipv4, Mac>> permanent_neighbours(const std::string &interface);

// For "allowed:" in messages: "eth0, veth1".
std::string kernel_interface_names();

} // namespace dpdkx::net
