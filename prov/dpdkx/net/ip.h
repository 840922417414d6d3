// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// IP addresses and networks of either family.
#pragma once

#include "dpdkx/base/address.h"
#include "dpdkx/net/ipv4.h"
#include "dpdkx/net/mac.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace dpdkx::net {

// In the form of dpdkx::Address: IPv4 as IPv4-mapped IPv6.
struct Ip {
  static constexpr std::size_t size = 16;

  std::array<std::uint8_t, size> bytes{}; // as on the wire

  constexpr Ip() = default; // ::
  constexpr explicit Ip(const std::array<std::uint8_t, size> &b) : bytes(b) {}
  constexpr Ip(Ipv4 ip) { // an IPv4 address is an IP address
    bytes[10] = bytes[11] = 0xff;
    for (int i = 0; i < 4; ++i)
      bytes[12 + i] = static_cast<std::uint8_t>(ip.value >> (24 - 8 * i));
  }

  // The 16 bytes of an IPv6 header's field.
  static Ip load(const std::byte *from) {
    Ip ip;
    std::memcpy(ip.bytes.data(), from, size);
    return ip;
  }
  void store(std::byte *to) const { std::memcpy(to, bytes.data(), size); }

  bool is_v4() const { return half(0) == 0 && (half(8) & 0xffffffff) == 0xffff0000; }
  Ipv4 v4() const { // meaningful if is_v4()
    std::uint32_t value;
    std::memcpy(&value, bytes.data() + 12, sizeof(value));
    return {__builtin_bswap32(value)};
  }

  bool is_any() const { return is_v4() ? v4().is_any() : half(0) == 0 && half(8) == 0; }
  bool is_loopback() const {
    return is_v4() ? v4().is_loopback() : half(0) == 0 && half(8) == std::uint64_t{1} << 56;
  }
  bool is_multicast() const { return is_v4() ? v4().is_multicast() : bytes[0] == 0xff; }
  // fe80::/10; means nothing without an interface
  bool is_link_local() const { return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80; }
  // Could be the address of one host. Link-local ones could.
  bool is_host() const {
    return is_v4() ? v4().is_host() : !is_any() && !is_loopback() && !is_multicast();
  }

  Address with_port(std::uint16_t port) const { return {bytes, port}; }
  static Ip of(const Address &address) { return Ip(address.ip); }

  // Eight bytes as the machine reads them.
  std::uint64_t half(std::size_t from) const {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + from, sizeof(word));
    return word;
  }

  friend bool operator==(const Ip &a, const Ip &b) {
    return a.half(0) == b.half(0) && a.half(8) == b.half(8);
  }
};

constexpr Ip all_nodes{
    std::array<std::uint8_t, 16>{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
// The group in which an IPv6 address is asked for (RFC 4291, 2.7.1).
Ip solicited_node(const Ip &);
// Where frames to an IPv6 group go (RFC 2464, 7).
Mac group_mac(const Ip &group); // of either family

inline std::uint64_t hash_key(const Ip &ip) { return ip.half(0) * 0x9e3779b97f4a7c15 ^ ip.half(8); }

std::string to_string(const Ip &);                 // "10.0.0.1", "fd00::1"
bool parse_ip(std::string_view text, Ip &out);     // without a scope; no IPv4-mapped IPv6
bool parse_hex_ip(std::string_view text, Ip &out); // IPv6 as /proc has it: 32 digits

struct Network {
  Ip address; // host bits may be set: an interface's address
  std::uint8_t prefix = 0;

  bool contains(const Ip &) const; // false for the other family's
  // Names no single host: IPv4's network and broadcast addresses (a /31 and a /32 have
  // neither), IPv6's address of any router (RFC 4291, 2.6.1; a /127 and a /128 have none).
  bool is_reserved(const Ip &) const;

  friend bool operator==(const Network &, const Network &) = default;
};

std::string to_string(const Network &); // "10.0.0.1/24", "fd00::1/64"
bool parse_network(std::string_view text, Network &out);

} // namespace dpdkx::net
