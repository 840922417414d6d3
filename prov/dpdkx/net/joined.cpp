// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/joined.h"

#include "dpdkx/net/checksum.h"
#include "dpdkx/net/frame_parts.h"

#include <cstring>

namespace dpdkx::net {

using namespace frame;

namespace {

constexpr std::uint32_t both_addresses = 2 * Ip::size, both_v4 = 8, ports = 4;

// Headers are of four sizes, by which all else is known.
bool is_v6(std::uint32_t headers) { return headers >= ethernet_size + ipv6_size + udp_size; }

std::uint32_t ip_at(std::uint32_t headers) {
  return headers - udp_size - (is_v6(headers) ? ipv6_size : ipv4_size);
}

} // namespace

std::uint32_t udp_headers(Bytes frame) {
  std::uint32_t ip = ethernet_size;
  if (frame.size() < ip + ipv4_size)
    return 0;
  std::uint16_t type = load_be16(frame.data() + 12);
  if (type == type_vlan) {
    type = load_be16(frame.data() + 16);
    ip += vlan_tag_size;
  }
  const bool v6 = type == type_ipv6;
  const std::uint32_t size = ip + (v6 ? ipv6_size : ipv4_size) + udp_size;
  if (frame.size() < size || !(v6 || type == type_ipv4))
    return 0;
  const std::byte *const at = frame.data() + ip;
  if (v6)
    return u8(at) >> 4 == 6 && u8(at + 6) == protocol_udp ? size : 0;
  return u8(at) == version_and_length && u8(at + 9) == protocol_udp ? size : 0;
}

std::uint32_t udp_payload(const std::byte *frame, std::uint32_t headers) {
  const std::uint32_t length = load_be16(frame + headers - udp_size + 4);
  return length > udp_size ? length - udp_size : 0;
}

bool same_headers(const std::byte *a, const std::byte *b, std::uint32_t headers) {
  const std::uint32_t ip = ip_at(headers);
  const auto same = [&](std::uint32_t from, std::uint32_t size) {
    return std::memcmp(a + from, b + from, size) == 0;
  };
  if (is_v6(headers))
    return same(0, ip + 4) && same(ip + 6, 2 + both_addresses + ports);
  return same(0, ip + 2) && same(ip + 4, 6) && same(ip + 12, both_v4 + ports);
}

void set_udp_payload(std::byte *frame, std::uint32_t headers, std::uint32_t payload, bool joined) {
  std::byte *const ip = frame + ip_at(headers), *const udp = frame + headers - udp_size;
  const auto length = static_cast<std::uint16_t>(udp_size + payload);
  const bool v6 = is_v6(headers);
  if (v6) {
    store_be16(ip + 4, length);
  } else {
    store_be16(ip + 2, static_cast<std::uint16_t>(ipv4_size + length));
    store_be16(ip + 10, 0);
    store_be16(ip + 10, checksum_finish(checksum_add(0, {ip, ipv4_size})));
  }
  store_be16(udp + 4, length);
  if (!joined)
    return;
  const Bytes addresses = v6 ? Bytes(ip + 8, both_addresses) : Bytes(ip + 12, both_v4);
  const std::uint64_t sum = checksum_add(std::uint64_t{protocol_udp} + length, addresses);
  store_be16(udp + 6, static_cast<std::uint16_t>(~checksum_finish(sum)));
}

} // namespace dpdkx::net
