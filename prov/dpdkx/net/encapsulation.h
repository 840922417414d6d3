// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The headers before a datagram's payload.
#pragma once

#include "dpdkx/net/frame.h"

namespace dpdkx::net {

// Writes headers before payloads. Everything constant for a port is prepared once.
class UdpEncapsulation {
public:
  static constexpr std::uint8_t default_ttl = 64;

  UdpEncapsulation() = default;
  // `checksum_later`: the device computes UDP checksums.
  UdpEncapsulation(const LocalSide &, std::uint16_t port, std::uint8_t dscp,
                   bool checksum_later = false);

  std::uint32_t header_size() const { return size_; }

  // `at` has header_size() bytes, the payload right behind. `to` is of our family.
  // IPv4 goes with DF, no options, UDP checksum 0 (none). IPv6 wants a UDP checksum (RFC 6935
  // lets tunnels do without), which takes a look at the payload.
  void write(std::byte *at, const Mac &to_mac, const Ip &to, std::uint16_t to_port,
             std::uint16_t payload_len) const {
    is_v6_ ? write_ipv6(at, to_mac, to, to_port, payload_len)
           : write_ipv4(at, to_mac, to.v4(), to_port, payload_len);
  }

private:
  void write_ipv4(std::byte *at, const Mac &to_mac, Ipv4 to, std::uint16_t to_port,
                  std::uint16_t payload_len) const;
  void write_ipv6(std::byte *at, const Mac &to_mac, const Ip &to, std::uint16_t to_port,
                  std::uint16_t payload_len) const;

  std::byte header_[ethernet_size + vlan_tag_size + ipv6_size + udp_size] = {};
  std::uint32_t size_ = 0;
  std::uint32_t ip_at_ = 0;
  bool is_v6_ = false, checksum_later_ = false;
  std::uint16_t port_ = 0;
  std::uint64_t sum_ = 0; // of the constant fields under the checksum: IPv4's, or UDP's over IPv6
};

} // namespace dpdkx::net
