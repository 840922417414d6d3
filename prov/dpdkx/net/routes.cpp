// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/routes.h"

#include "dpdkx/net/text.h"

#include <algorithm>
#include <bit>
#include <linux/ipv6_route.h>
#include <linux/route.h>

namespace dpdkx::net {

void RouteTable::add(const Network &network, const Ip &gateway) {
  auto at = std::find_if(routes_.begin(), routes_.end(),
                         [&](const Route &route) { return route.network.prefix < network.prefix; });
  routes_.insert(at, Route{network, gateway});
}

std::optional<Ip> RouteTable::next_hop(const Ip &to) const {
  for (const auto &route : routes_)
    if (route.network.contains(to))
      return route.gateway.is_any() ? to : route.gateway;
  return std::nullopt;
}

namespace {

bool parse_ipv4_route(std::string_view line, std::string_view interface, Network &network,
                      Ip &gateway) {
  // Iface Destination Gateway Flags RefCnt Use Metric Mask ...
  std::string_view field[8];
  for (auto &f : field)
    f = next_word(line);
  std::uint32_t to, via, flags, mask;
  if (field[0] != interface || !parse_number(field[1], to, 16) ||
      !parse_number(field[2], via, 16) || !parse_number(field[3], flags, 16) ||
      !parse_number(field[7], mask, 16))
    return false;
  if (!(flags & RTF_UP) || flags & RTF_REJECT)
    return false;
  mask = __builtin_bswap32(mask);
  auto prefix = std::countl_one(mask);
  network = {Ipv4{__builtin_bswap32(to)}, static_cast<std::uint8_t>(prefix)};
  gateway = Ipv4{flags & RTF_GATEWAY ? __builtin_bswap32(via) : 0};
  return prefix + std::countr_zero(mask) == 32;
}

bool parse_ipv6_route(std::string_view line, std::string_view interface, Network &network,
                      Ip &gateway) {
  // Destination and its prefix, source and its prefix, next hop, metric, reference count, use,
  // flags, interface
  std::string_view field[10];
  for (auto &f : field)
    f = next_word(line);
  std::uint32_t source_prefix, flags;
  if (field[9] != interface || !parse_hex_ip(field[0], network.address) ||
      !parse_number(field[1], network.prefix, 16) || !parse_number(field[3], source_prefix, 16) ||
      !parse_hex_ip(field[4], gateway) || !parse_number(field[8], flags, 16))
    return false;
  // Local and anycast ones are the host's own addresses.
  constexpr std::uint32_t unfit = RTF_REJECT | RTF_LOCAL | RTF_ANYCAST | RTF_CACHE;
  return flags & RTF_UP && !(flags & unfit) && source_prefix == 0 && network.prefix <= 128 &&
         !network.address.is_v4() && !network.address.is_multicast();
}

template <class Parse>
void read_routes(std::string_view text, std::string_view interface, RouteTable &table,
                 Parse &&parse) {
  while (!text.empty()) {
    auto line = next_line(text);
    Network network;
    Ip gateway;
    if (parse(line, interface, network, gateway))
      table.add(network, gateway);
  }
}

} // namespace

void read_ipv4_routes(std::string_view text, std::string_view interface, RouteTable &table) {
  read_routes(text, interface, table, parse_ipv4_route);
}

void read_ipv6_routes(std::string_view text, std::string_view interface, RouteTable &table) {
  read_routes(text, interface, table, parse_ipv6_route);
}

} // namespace dpdkx::net
