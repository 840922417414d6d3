// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the kernel knows of a network interface. Reads only; needs no privileges.
// All of it is about the calling thread's network namespace.
#pragma once

#include "dpdkx/net/ip.h"
#include "dpdkx/net/mac.h"
#include "dpdkx/net/routes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dpdkx::net {

struct KernelInterface {
  unsigned index = 0;
  bool up = false, ethernet = false;
  Mac mac;
  std::uint32_t mtu = 0;
  std::uint64_t speed_mbps = 0; // 0: unknown
  // In the kernel's order, without aliases of other interfaces. Of IPv6 without link-local
  // ones, and without those that are still being tried, are short-lived, or have expired.
  std::vector<Network> addresses;
  RouteTable routes;
};

// nullopt: there is none of that name.
std::optional<KernelInterface> find_kernel_interface(const std::string &name);

// Its receive queues, with a send queue of the same number and without, as "ethtool -l" tells them.
// Neither: it doesn't tell, as it has one.
struct ReceiveQueues {
  std::uint32_t paired = 0, alone = 0;
};
ReceiveQueues receive_queues(const std::string &interface);

// Any interface has it: then the kernel answers who asks for it, and handles what is sent to it.
bool kernel_has_address(const Ip &);

// Neighbours that the administrator has fixed for the interface.
std::vector<std::pair<Ip, Mac>> permanent_neighbours(unsigned interface_index);

// The IPv6 addresses of the text of /proc/net/if_inet6 that aren't good for endpoints.
std::vector<Ip> unfit_addresses(std::string_view if_inet6);

// For "allowed:" in messages: "eth0, veth1".
std::string kernel_interface_names();

} // namespace dpdkx::net
