// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Longest-prefix routes, and those of the kernel.
#pragma once

#include "dpdkx/net/ip.h"

#include <optional>
#include <string_view>
#include <vector>

namespace dpdkx::net {

// Where a datagram's next hop is: the peer itself on a network of the link, a
// gateway elsewhere. Holds routes of both families.
class RouteTable {
public:
  struct Route {
    Network network;
    Ip gateway;
  };

  // A gateway of 0.0.0.0 or :: means: on the link.
  void add(const Network &, const Ip &gateway);
  std::optional<Ip> next_hop(const Ip &to) const;
  const std::vector<Route> &all() const { return routes_; }

private:
  std::vector<Route> routes_; // longest prefix first; the first added wins among equals
};

// Each adds to `table` the routes over `interface` from the text of a file; unreadable lines
// are skipped. /proc/net/route, whose addresses are in the byte order of the machine:
void read_ipv4_routes(std::string_view text, std::string_view interface, RouteTable &table);
// /proc/net/ipv6_route:
void read_ipv6_routes(std::string_view text, std::string_view interface, RouteTable &table);

} // namespace dpdkx::net
