// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// IPv4 addresses and networks as text and numbers, and longest-prefix routes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dpdkx::net {

// Host byte order; a type of its own, so that a prefix or a port isn't taken for one.
struct Ipv4 {
  std::uint32_t value = 0;

  bool is_any() const { return value == 0; }
  bool is_loopback() const { return value >> 24 == 127; }
  bool is_multicast() const { return value >> 28 == 0xe; }
  bool is_broadcast() const { return value == 0xffffffff; }
  // Could be the address of one host: neither 0/8, loopback, multicast nor class E.
  bool is_host() const { return value >> 24 != 0 && !is_loopback() && value >> 28 < 0xe; }

  friend auto operator<=>(const Ipv4 &, const Ipv4 &) = default;
};

std::string to_string(Ipv4);
bool parse_ipv4(std::string_view text, Ipv4 &out); // dotted quad only

struct Ipv4Network {
  Ipv4 address; // host bits may be set: an interface's address
  std::uint8_t prefix = 32;

  std::uint32_t mask() const { return prefix == 0 ? 0 : ~std::uint32_t{0} << (32 - prefix); }
  bool contains(Ipv4 ip) const { return ((ip.value ^ address.value) & mask()) == 0; }
  // The network's own and its broadcast address; a /31 and a /32 have neither.
  bool is_reserved(Ipv4 ip) const;

  friend bool operator==(const Ipv4Network &, const Ipv4Network &) = default;
};

std::string to_string(const Ipv4Network &); // "10.0.0.1/24"
bool parse_ipv4_network(std::string_view text, Ipv4Network &out);

// Where a datagram's next hop is: the peer itself on a network of the link, a
// gateway elsewhere.
class RouteTable {
public:
  struct Route {
    Ipv4Network network;
    Ipv4 gateway;
  };

  // A gateway of 0.0.0.0 means: on the link.
  void add(const Ipv4Network &, Ipv4 gateway);
  std::optional<Ipv4> next_hop(Ipv4 to) const;
  const std::vector<Route> &all() const { return routes_; }

private:
  std::vector<Route> routes_; // longest prefix first; the first added wins among equals
};

// Adds to `table` the routes over `interface` from the text of /proc/net/route
// (whose addresses are in the byte order of the machine). Unreadable lines are skipped.
void read_kernel_routes(std::string_view text, std::string_view interface, RouteTable &table);

} // namespace dpdkx::net
