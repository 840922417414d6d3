// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/ip.h"

#include "dpdkx/net/text.h"

#include <algorithm>
#include <arpa/inet.h>

namespace dpdkx::net {

namespace {

constexpr unsigned mapped_bits = 96; // of an IPv4-mapped address, before the IPv4 one

unsigned bits_before(const Network &network) {
  return network.prefix + (network.address.is_v4() ? mapped_bits : 0);
}

// Whether the bits from `first` on are all `value`.
bool rest_is(const Ip &ip, unsigned first, bool value) {
  const std::uint8_t whole = value ? 0xff : 0;
  auto at = first / 8;
  if (auto part = static_cast<std::uint8_t>(0xff >> first % 8);
      at < Ip::size && (ip.bytes[at] & part) != (whole & part))
    return false;
  return std::all_of(ip.bytes.begin() + std::min<std::size_t>(at + 1, Ip::size), ip.bytes.end(),
                     [&](std::uint8_t byte) { return byte == whole; });
}

} // namespace

Ip solicited_node(const Ip &ip) {
  Ip group{std::array<std::uint8_t, 16>{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff}};
  std::copy(ip.bytes.begin() + 13, ip.bytes.end(), group.bytes.begin() + 13);
  return group;
}

Mac group_mac(const Ip &group) {
  const auto &b = group.bytes;
  if (group.is_v4()) // RFC 1112: 23 bits of it
    return {{0x01, 0x00, 0x5e, static_cast<std::uint8_t>(b[13] & 0x7f), b[14], b[15]}};
  return {{0x33, 0x33, b[12], b[13], b[14], b[15]}};
}

std::string to_string(const Ip &ip) {
  if (ip.is_v4())
    return to_string(ip.v4());
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, ip.bytes.data(), text, sizeof(text));
  return text;
}

bool parse_ip(std::string_view text, Ip &out) {
  if (Ipv4 v4; parse_ipv4(text, v4)) {
    out = v4;
    return true;
  }
  char buffer[INET6_ADDRSTRLEN] = "";
  Ip ip;
  if (text.size() >= sizeof(buffer) || text.find('\0') != std::string_view::npos)
    return false;
  std::copy(text.begin(), text.end(), buffer);
  if (inet_pton(AF_INET6, buffer, ip.bytes.data()) != 1 || ip.is_v4())
    return false;
  out = ip;
  return true;
}

bool parse_hex_ip(std::string_view text, Ip &out) {
  if (text.size() != 2 * Ip::size)
    return false;
  for (std::size_t i = 0; i < Ip::size; ++i)
    if (!parse_number(text.substr(2 * i, 2), out.bytes[i], 16))
      return false;
  return true;
}

bool Network::contains(const Ip &ip) const {
  if (ip.is_v4() != address.is_v4())
    return false;
  auto bits = bits_before(*this);
  auto whole = bits / 8, rest = bits % 8;
  return std::memcmp(ip.bytes.data(), address.bytes.data(), whole) == 0 &&
         (rest == 0 || (ip.bytes[whole] ^ address.bytes[whole]) >> (8 - rest) == 0);
}

bool Network::is_reserved(const Ip &ip) const {
  auto bits = bits_before(*this);
  if (!contains(ip) || bits > 126) // two hosts, or one
    return false;
  return rest_is(ip, bits, false) || (ip.is_v4() && rest_is(ip, bits, true));
}

std::string to_string(const Network &network) {
  return to_string(network.address) + '/' + std::to_string(network.prefix);
}

bool parse_network(std::string_view text, Network &out) {
  auto slash = text.find('/');
  unsigned prefix;
  if (slash == std::string_view::npos || !parse_number(text.substr(slash + 1), prefix) ||
      !parse_ip(text.substr(0, slash), out.address) || prefix > (out.address.is_v4() ? 32u : 128u))
    return false;
  out.prefix = static_cast<std::uint8_t>(prefix);
  return true;
}

} // namespace dpdkx::net
