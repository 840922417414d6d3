// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/ipv4.h"

#include "dpdkx/net/text.h"

#include <algorithm>
#include <bit>
#include <linux/route.h>

namespace dpdkx::net {

std::string to_string(Ipv4 ip) {
  auto part = [&](int shift) { return std::to_string(ip.value >> shift & 0xff); };
  return part(24) + '.' + part(16) + '.' + part(8) + '.' + part(0);
}

bool parse_ipv4(std::string_view text, Ipv4 &out) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    auto dot = i < 3 ? text.find('.') : text.size();
    unsigned part;
    if (dot == std::string_view::npos || dot > 3 || !parse_number(text.substr(0, dot), part) ||
        part > 255)
      return false;
    value = value << 8 | part;
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  out.value = value;
  return true;
}

bool Ipv4Network::is_reserved(Ipv4 ip) const {
  auto host = ip.value & ~mask();
  return contains(ip) && prefix < 31 && (host == 0 || host == ~mask());
}

std::string to_string(const Ipv4Network &network) {
  return to_string(network.address) + '/' + std::to_string(network.prefix);
}

bool parse_ipv4_network(std::string_view text, Ipv4Network &out) {
  auto slash = text.find('/');
  unsigned prefix;
  if (slash == std::string_view::npos || !parse_number(text.substr(slash + 1), prefix) ||
      prefix > 32 || !parse_ipv4(text.substr(0, slash), out.address))
    return false;
  out.prefix = static_cast<std::uint8_t>(prefix);
  return true;
}

void RouteTable::add(const Ipv4Network &network, Ipv4 gateway) {
  auto at = std::find_if(routes_.begin(), routes_.end(),
                         [&](const Route &route) { return route.network.prefix < network.prefix; });
  routes_.insert(at, Route{network, gateway});
}

std::optional<Ipv4> RouteTable::next_hop(Ipv4 to) const {
  for (const auto &route : routes_)
    if (route.network.contains(to))
      return route.gateway.is_any() ? to : route.gateway;
  return std::nullopt;
}

namespace {

bool parse_route(std::string_view line, std::string_view interface, Ipv4Network &network,
                 Ipv4 &gateway) {
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
  network.address.value = __builtin_bswap32(to);
  network.prefix = static_cast<std::uint8_t>(std::countl_one(mask));
  gateway.value = flags & RTF_GATEWAY ? __builtin_bswap32(via) : 0;
  return network.mask() == mask;
}

} // namespace

void read_kernel_routes(std::string_view text, std::string_view interface, RouteTable &table) {
  while (!text.empty()) {
    auto line = next_line(text);
    Ipv4Network network;
    Ipv4 gateway;
    if (parse_route(line, interface, network, gateway))
      table.add(network, gateway);
  }
}

} // namespace dpdkx::net
