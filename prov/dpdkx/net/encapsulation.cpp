// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/encapsulation.h"

#include "dpdkx/net/checksum.h"
#include "dpdkx/net/frame_parts.h"

#include <cstring>

namespace dpdkx::net {

using namespace frame;

namespace {

constexpr std::uint16_t dont_fragment = 0x4000;

// The same for all datagrams between two ports, and others' for others (RFC 6437): routers
// that spread flows need not look for the ports.
std::uint32_t flow_label(std::uint16_t from, std::uint16_t to) {
  return (std::uint32_t{from} << 16 | to) * 0x9e3779b1u >> 12;
}

} // namespace

UdpEncapsulation::UdpEncapsulation(const LocalSide &local, std::uint16_t port, std::uint8_t dscp,
                                   bool checksum_later)
    : size_(local.headers()), ip_at_(local.link_header()), is_v6_(local.is_v6),
      checksum_later_(checksum_later), port_(port) {
  write_link_header(header_, local, Mac{}, is_v6_ ? type_ipv6 : type_ipv4);
  auto *ip = header_ + ip_at_;
  if (is_v6_) {
    store_be32(ip, 6u << 28 | std::uint32_t{dscp} << 22);
    ip[6] = std::byte{protocol_udp};
    ip[7] = std::byte{default_ttl};
    local.ip.store(ip + 8);
    sum_ = checksum_add(std::uint64_t{protocol_udp} + port, {ip + 8, Ip::size});
  } else {
    ip[0] = std::byte{version_and_length};
    ip[1] = static_cast<std::byte>(dscp << 2);
    // The identification stays 0, as RFC 6864 has it for datagrams that aren't fragmented.
    store_be16(ip + 6, dont_fragment);
    ip[8] = std::byte{default_ttl};
    ip[9] = std::byte{protocol_udp};
    store_be32(ip + 12, local.v4.value);
    sum_ = checksum_add(0, {ip, ipv4_size});
  }
  store_be16(header_ + size_ - udp_size, port);
}

void UdpEncapsulation::write_ipv4(std::byte *at, const Mac &to_mac, Ipv4 to, std::uint16_t to_port,
                                  std::uint16_t payload_len) const {
  std::memcpy(at, header_, size_);
  to_mac.store(at);
  auto *ip = at + ip_at_;
  auto total = static_cast<std::uint16_t>(ipv4_size + udp_size + payload_len);
  store_be16(ip + 2, total);
  store_be16(ip + 10, checksum_finish(checksum_add32(sum_ + total, to.value)));
  store_be32(ip + 16, to.value);
  auto *udp = ip + ipv4_size;
  store_be16(udp + 2, to_port);
  store_be16(udp + 4, static_cast<std::uint16_t>(udp_size + payload_len));
}

void UdpEncapsulation::write_ipv6(std::byte *at, const Mac &to_mac, const Ip &to,
                                  std::uint16_t to_port, std::uint16_t payload_len) const {
  std::memcpy(at, header_, size_);
  to_mac.store(at);
  auto *ip = at + ip_at_;
  auto udp_len = static_cast<std::uint16_t>(udp_size + payload_len);
  store_be32(ip, load_be32(ip) | flow_label(port_, to_port));
  store_be16(ip + 4, udp_len);
  to.store(ip + 8 + Ip::size);
  auto *udp = ip + ipv6_size;
  store_be16(udp + 2, to_port);
  store_be16(udp + 4, udp_len);
  if (checksum_later_)
    return;
  // The length counts twice: in the header, and among what is put before it.
  auto sum = checksum_add(sum_ + to_port + udp_len + udp_len, {ip + 8 + Ip::size, Ip::size});
  auto checksum = checksum_finish(checksum_add(sum, {udp + udp_size, payload_len}));
  store_be16(udp + 6, checksum ? checksum : 0xffff);
}

} // namespace dpdkx::net
