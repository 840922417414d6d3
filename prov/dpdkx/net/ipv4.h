// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// IPv4 addresses as text and numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

} // namespace dpdkx::net
