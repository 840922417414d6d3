// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/frame.h"

#include "dpdkx/net/bytes.h"
#include "dpdkx/net/checksum.h"

#include <algorithm>
#include <cstring>

namespace dpdkx::net {

namespace {

constexpr std::uint16_t type_ipv4 = 0x0800, type_arp = 0x0806, type_vlan = 0x8100;
constexpr std::uint16_t type_experimental = 0x88b5; // IEEE 802, for local use
constexpr std::uint32_t farewell_magic = 0x64706478, farewell_size = 5;
constexpr std::uint8_t protocol_icmp = 1, protocol_udp = 17;
constexpr std::uint8_t version_and_length = 0x45;                       // IPv4, no options
constexpr std::uint16_t dont_fragment = 0x4000, fragment_mask = 0x3fff; // MF and the offset
constexpr std::uint32_t icmp_header = 8, quoted_transport = 8;
constexpr std::uint8_t icmp_type_unreachable = 3;

using Bytes = std::span<const std::byte>;

std::uint8_t u8(const std::byte *p) { return std::to_integer<std::uint8_t>(*p); }

Drop parse_arp(Bytes body, ReceivedFrame &out) {
  if (body.size() < arp_size)
    return Drop::truncated;
  const auto *p = body.data();
  // Ethernet, IPv4, and their address lengths
  if (load_be16(p) != 1 || load_be16(p + 2) != type_ipv4 || load_be16(p + 4) != 0x0604)
    return Drop::arp_fields;
  auto operation = load_be16(p + 6);
  auto &arp = out.arp;
  arp = {ArpOperation{operation},
         Mac::load(p + 8),
         {load_be32(p + 14)},
         Mac::load(p + 18),
         {load_be32(p + 24)}};
  if ((operation != 1 && operation != 2) || arp.sender_mac.is_multicast() ||
      arp.sender_mac.is_zero() || !(arp.sender_ip.is_host() || arp.sender_ip.is_any()))
    return Drop::arp_fields;
  out.kind = FrameKind::arp;
  return Drop::none;
}

Drop parse_farewell(Bytes body, ReceivedFrame &out) {
  if (body.size() < farewell_size)
    return Drop::truncated;
  if (load_be32(body.data()) != farewell_magic || u8(body.data() + 4) > 1)
    return Drop::other_protocol;
  out.kind = FrameKind::farewell;
  out.farewell.answer = u8(body.data() + 4) == 1;
  return Drop::none;
}

Drop parse_udp(Bytes ip_payload, ReceivedFrame &out) {
  if (ip_payload.size() < udp_size)
    return Drop::udp_length;
  const auto *p = ip_payload.data();
  // All of the IP payload, neither more nor less: no bytes that no length covers.
  if (load_be16(p + 4) != ip_payload.size())
    return Drop::udp_length;
  out.kind = FrameKind::udp;
  out.source_port = load_be16(p);
  out.port = load_be16(p + 2);
  out.payload_len = static_cast<std::uint16_t>(ip_payload.size() - udp_size);
  return out.source_port == 0 ? Drop::bad_source : Drop::none;
}

Drop parse_icmp(Bytes ip_payload, const LocalSide &local, ReceivedFrame &out) {
  if (ip_payload.size() < icmp_header || u8(ip_payload.data()) != icmp_type_unreachable)
    return Drop::other_protocol;
  if (ip_payload.size() < icmp_header + ipv4_size + quoted_transport || !checksum_holds(ip_payload))
    return Drop::icmp_fields;
  const auto *p = ip_payload.data();
  const auto *quoted = p + icmp_header;
  if (u8(quoted) != version_and_length || u8(quoted + 9) != protocol_udp ||
      load_be32(quoted + 12) != local.ip.value)
    return Drop::icmp_fields;
  out.kind = FrameKind::icmp_unreachable;
  out.icmp = {u8(p + 1),
              load_be16(p + 6),
              {load_be32(quoted + 16)},
              load_be16(quoted + ipv4_size + 2),
              load_be16(quoted + ipv4_size)};
  return Drop::none;
}

// The length of the IP packet within `packet` (which may be padded), or why not.
Drop check_ip_header(Bytes packet, const LocalSide &local, ReceivedFrame &out, std::size_t &total) {
  if (packet.size() < ipv4_size)
    return Drop::truncated;
  const auto *p = packet.data();
  total = load_be16(p + 2);
  if (u8(p) != version_and_length || total < ipv4_size)
    return Drop::ip_header;
  if (total > packet.size())
    return Drop::truncated;
  if (!checksum_holds(packet.first(ipv4_size)))
    return Drop::ip_checksum;
  if (load_be32(p + 16) != local.ip.value)
    return Drop::other_ip;
  if (load_be16(p + 6) & fragment_mask)
    return Drop::ip_fragment;
  out.source.value = load_be32(p + 12);
  if (!out.source.is_host() || out.source == local.ip)
    return Drop::bad_source;
  return Drop::none;
}

Drop parse_ip(Bytes packet, const LocalSide &local, ReceivedFrame &out) {
  std::size_t total;
  if (auto drop = check_ip_header(packet, local, out, total); drop != Drop::none)
    return drop;
  auto payload = packet.subspan(ipv4_size, total - ipv4_size);
  switch (u8(packet.data() + 9)) {
  case protocol_udp:
    return parse_udp(payload, out);
  case protocol_icmp:
    return parse_icmp(payload, local, out);
  default:
    return Drop::other_protocol;
  }
}

void write_link_header(std::byte *at, const LocalSide &local, const Mac &to, std::uint16_t type) {
  to.store(at);
  local.mac.store(at + 6);
  if (local.vlan) {
    store_be16(at + 12, type_vlan);
    store_be16(at + 14, local.vlan);
    at += vlan_tag_size;
  }
  store_be16(at + 12, type);
}

} // namespace

std::string_view to_string(Drop drop) {
  static constexpr std::string_view names[] = {
      "none",        "truncated",   "other_vlan", "other_mac",  "other_protocol", "ip_header",
      "ip_checksum", "ip_fragment", "other_ip",   "bad_source", "udp_length",     "arp_fields",
      "icmp_fields", "other_port",  "offload",    "inbox_full"};
  static_assert(std::size(names) == static_cast<std::size_t>(Drop::count_));
  return names[static_cast<std::size_t>(drop)];
}

Drop parse_frame(Bytes frame, const LocalSide &local, ReceivedFrame &out) {
  auto link_header = local.link_header();
  if (frame.size() < link_header)
    return Drop::truncated;
  const auto *p = frame.data();
  auto type = load_be16(p + 12);
  if (local.vlan) {
    if (type != type_vlan || (load_be16(p + 14) & 0xfff) != local.vlan)
      return Drop::other_vlan;
    type = load_be16(p + 16);
  } else if (type == type_vlan) {
    return Drop::other_vlan;
  }
  auto to = Mac::load(p);
  auto body = frame.subspan(link_header);
  if (type == type_arp)
    return to == local.mac || to == Mac::broadcast() ? parse_arp(body, out) : Drop::other_mac;
  if (type == type_experimental && to == Mac::broadcast())
    return parse_farewell(body, out);
  if (to != local.mac)
    return Drop::other_mac;
  return type == type_ipv4 ? parse_ip(body, local, out) : Drop::other_protocol;
}

Mac source_mac(const std::byte *frame) { return Mac::load(frame + 6); }

UdpEncapsulation::UdpEncapsulation(const LocalSide &local, std::uint16_t port, std::uint8_t dscp)
    : size_(local.headers()), ip_at_(local.link_header()) {
  write_link_header(header_, local, Mac{}, type_ipv4);
  auto *ip = header_ + ip_at_;
  ip[0] = std::byte{version_and_length};
  ip[1] = static_cast<std::byte>(dscp << 2);
  // The identification stays 0, as RFC 6864 has it for datagrams that aren't fragmented.
  store_be16(ip + 6, dont_fragment);
  ip[8] = std::byte{default_ttl};
  ip[9] = std::byte{protocol_udp};
  store_be32(ip + 12, local.ip.value);
  ip_sum_ = checksum_add(0, {ip, ipv4_size});
  store_be16(ip + ipv4_size, port);
}

void UdpEncapsulation::write(std::byte *at, const Mac &to_mac, Ipv4 to, std::uint16_t to_port,
                             std::uint16_t payload_len) const {
  std::memcpy(at, header_, size_);
  to_mac.store(at);
  auto *ip = at + ip_at_;
  auto total = static_cast<std::uint16_t>(ip_udp_size + payload_len);
  store_be16(ip + 2, total);
  store_be16(ip + 10, checksum_finish(checksum_add32(ip_sum_ + total, to.value)));
  store_be32(ip + 16, to.value);
  auto *udp = ip + ipv4_size;
  store_be16(udp + 2, to_port);
  store_be16(udp + 4, static_cast<std::uint16_t>(udp_size + payload_len));
}

std::uint32_t write_arp(std::byte *at, const LocalSide &local, ArpOperation operation,
                        const Mac &to_mac, const Mac &target_mac, Ipv4 target_ip) {
  write_link_header(at, local, to_mac, type_arp);
  auto *p = at + local.link_header();
  store_be16(p, 1);
  store_be16(p + 2, type_ipv4);
  store_be16(p + 4, 0x0604);
  store_be16(p + 6, static_cast<std::uint16_t>(operation));
  local.mac.store(p + 8);
  store_be32(p + 14, local.ip.value);
  target_mac.store(p + 18);
  store_be32(p + 24, target_ip.value);
  auto end = local.link_header() + arp_size;
  std::memset(at + end, 0, min_frame - end);
  return min_frame;
}

std::uint32_t write_farewell(std::byte *at, const LocalSide &local, const Farewell &farewell) {
  std::memset(at, 0, min_frame);
  write_link_header(at, local, Mac::broadcast(), type_experimental);
  auto *p = at + local.link_header();
  store_be32(p, farewell_magic);
  p[4] = std::byte{farewell.answer};
  return min_frame;
}

} // namespace dpdkx::net
