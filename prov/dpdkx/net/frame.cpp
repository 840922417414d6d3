// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/frame.h"

#include "dpdkx/net/checksum.h"
#include "dpdkx/net/frame_parts.h"

#include <algorithm>
#include <cstring>

namespace dpdkx::net {

using namespace frame;

namespace {

constexpr std::uint16_t type_experimental = 0x88b5; // IEEE 802, for local use
constexpr std::uint32_t farewell_magic = 0x64706478, farewell_size = 5;
constexpr std::uint16_t fragment_mask = 0x3fff; // MF and the offset
constexpr std::uint8_t icmp_type_unreachable = 3, icmp_code_fragmentation_needed = 4;
constexpr std::uint16_t arp_request = 1, arp_reply = 2;

Drop parse_arp(Bytes body, const Mac &from, ReceivedFrame &out) {
  if (body.size() < arp_size)
    return Drop::truncated;
  const auto *p = body.data();
  // Ethernet, IPv4, and their address lengths
  if (load_be16(p) != 1 || load_be16(p + 2) != type_ipv4 || load_be16(p + 4) != 0x0604)
    return Drop::arp_fields;
  auto operation = load_be16(p + 6);
  auto sender_mac = Mac::load(p + 8);
  Ipv4 sender{load_be32(p + 14)}, target{load_be32(p + 24)};
  if ((operation != arp_request && operation != arp_reply) || sender_mac.is_multicast() ||
      sender_mac.is_zero() || !(sender.is_host() || sender.is_any()))
    return Drop::arp_fields;
  out.kind = FrameKind::neighbour;
  out.neighbour = {.question = operation == arp_request,
                   .sender = sender,
                   .sender_mac = sender_mac,
                   .weak = false,
                   .target = target,
                   .from = from};
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

Drop parse_icmp(Bytes ip_payload, const LocalSide &local, ReceivedFrame &out) {
  if (ip_payload.size() < icmp_header || u8(ip_payload.data()) != icmp_type_unreachable)
    return Drop::other_protocol;
  if (ip_payload.size() < icmp_header + ipv4_size + quoted_transport || !checksum_holds(ip_payload))
    return Drop::icmp_fields;
  const auto *p = ip_payload.data();
  const auto *quoted = p + icmp_header;
  if (u8(quoted) != version_and_length || u8(quoted + 9) != protocol_udp ||
      load_be32(quoted + 12) != local.v4.value)
    return Drop::icmp_fields;
  out.kind = FrameKind::unreachable;
  auto code = u8(p + 1);
  out.unreachable = {.too_big = code == icmp_code_fragmentation_needed,
                     .code = code,
                     .next_mtu = load_be16(p + 6),
                     .to = Ipv4{load_be32(quoted + 16)},
                     .to_port = load_be16(quoted + ipv4_size + 2),
                     .from_port = load_be16(quoted + ipv4_size)};
  return Drop::none;
}

// The length of the IP packet within `packet` (which may be padded), or why not.
// `group`: the frame went to a group's MAC address.
Drop check_ip_header(Bytes packet, const LocalSide &local, bool group, ReceivedFrame &out,
                     std::size_t &total) {
  if (packet.size() < ipv4_size)
    return Drop::truncated;
  const auto *p = packet.data();
  total = load_be16(p + 2);
  if (u8(p) != version_and_length || total < ipv4_size)
    return Drop::ip_header;
  if (total > packet.size())
    return Drop::truncated;
  if (!ipv4_checksum_holds(p))
    return Drop::ip_checksum;
  Ipv4 to{load_be32(p + 16)};
  if (group ? !to.is_multicast() : to != local.v4)
    return Drop::other_ip;
  if (group)
    out.group = to;
  if (load_be16(p + 6) & fragment_mask)
    return Drop::ip_fragment;
  Ipv4 source{load_be32(p + 12)};
  out.source = source;
  if (!source.is_host() || source == local.v4)
    return Drop::bad_source;
  return Drop::none;
}

Drop parse_ipv4(Bytes packet, const LocalSide &local, bool group, ReceivedFrame &out) {
  std::size_t total;
  if (auto drop = check_ip_header(packet, local, group, out, total); drop != Drop::none)
    return drop;
  auto payload = packet.subspan(ipv4_size, total - ipv4_size);
  switch (u8(packet.data() + 9)) {
  case protocol_udp:
    out.to_group = group;
    return parse_udp(payload, out);
  case protocol_icmp:
    return group ? Drop::other_ip : parse_icmp(payload, local, out);
  default:
    return Drop::other_protocol;
  }
}

// Of our address's family, as everything on the device is.
Drop parse_protocol(std::uint16_t type, const Mac &to, Bytes frame, const LocalSide &local,
                    ReceivedFrame &out) {
  auto body = frame.subspan(local.link_header());
  if (local.is_v6) {
    bool group = to.bytes[0] == 0x33 && to.bytes[1] == 0x33;
    if (to != local.mac && !group)
      return Drop::other_mac;
    return type == type_ipv6 ? parse_ipv6(body, local, group, source_mac(frame.data()), out)
                             : Drop::other_protocol;
  }
  if (type == type_arp)
    return to == local.mac || to == Mac::broadcast()
               ? parse_arp(body, source_mac(frame.data()), out)
               : Drop::other_mac;
  bool group = local.groups && to.bytes[0] == 0x01 && to.bytes[1] == 0x00 && to.bytes[2] == 0x5e;
  if (to != local.mac && !group)
    return Drop::other_mac;
  return type == type_ipv4 ? parse_ipv4(body, local, group, out) : Drop::other_protocol;
}

std::uint32_t write_arp(std::byte *at, const LocalSide &local, std::uint16_t operation,
                        const Mac &to, const Mac &target_mac, Ipv4 target) {
  write_link_header(at, local, to, type_arp);
  auto *p = at + local.link_header();
  store_be16(p, 1);
  store_be16(p + 2, type_ipv4);
  store_be16(p + 4, 0x0604);
  store_be16(p + 6, operation);
  local.mac.store(p + 8);
  store_be32(p + 14, local.v4.value);
  target_mac.store(p + 18);
  store_be32(p + 24, target.value);
  auto end = local.link_header() + arp_size;
  std::memset(at + end, 0, min_frame - end);
  return min_frame;
}

// IGMPv3 (RFC 3376, 4.2): with the router alert, and no further than the link.
std::uint32_t write_igmp_report(std::byte *at, const LocalSide &local, Ipv4 group, bool listening) {
  constexpr Ipv4 routers{0xe0000016}; // 224.0.0.22
  constexpr std::uint32_t ip_size = ipv4_size + 4, size = 16;
  constexpr std::uint8_t type_report = 0x22, protocol_igmp = 2;
  write_link_header(at, local, group_mac(routers), type_ipv4);
  auto *ip = at + local.link_header(), *igmp = ip + ip_size;
  std::memset(ip, 0, min_frame);
  ip[0] = std::byte{0x40 | ip_size / 4};
  ip[1] = std::byte{0xc0}; // internetwork control
  store_be16(ip + 2, ip_size + size);
  ip[8] = std::byte{1};
  ip[9] = std::byte{protocol_igmp};
  store_be32(ip + 12, local.v4.value);
  store_be32(ip + 16, routers.value);
  store_be32(ip + 20, 0x94040000); // router alert
  store_be16(ip + 10, checksum_finish(checksum_add(0, {ip, ip_size})));
  igmp[0] = std::byte{type_report};
  igmp[7] = std::byte{1}; // one record
  igmp[8] = std::byte{listening ? changed_to_all_sources : changed_to_no_source};
  store_be32(igmp + 12, group.value);
  store_be16(igmp + 2, checksum_finish(checksum_add(0, {igmp, size})));
  return std::max(local.link_header() + ip_size + size, min_frame);
}

} // namespace

void frame::write_link_header(std::byte *at, const LocalSide &local, const Mac &to,
                              std::uint16_t type) {
  to.store(at);
  local.mac.store(at + 6);
  if (local.vlan) {
    store_be16(at + 12, type_vlan);
    store_be16(at + 14, local.vlan);
    at += vlan_tag_size;
  }
  store_be16(at + 12, type);
}

Drop frame::parse_udp(Bytes ip_payload, ReceivedFrame &out) {
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

std::string_view to_string(Drop drop) {
  static constexpr std::string_view names[] = {
      "none",        "truncated",   "other_vlan",  "other_mac",  "other_protocol", "ip_header",
      "ip_checksum", "ip_fragment", "other_ip",    "bad_source", "udp_length",     "udp_checksum",
      "arp_fields",  "nd_fields",   "icmp_fields", "other_port", "offload",        "inbox_full"};
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
  if (type == type_experimental && to == Mac::broadcast())
    return parse_farewell(frame.subspan(link_header), out);
  return parse_protocol(type, to, frame, local, out);
}

Mac source_mac(const std::byte *frame) { return Mac::load(frame + 6); }

std::uint32_t write_question(std::byte *at, const LocalSide &local, const Mac &to,
                             const Ip &target) {
  return local.is_v6 ? write_solicitation(at, local, to, target)
                     : write_arp(at, local, arp_request, to, {}, target.v4());
}

std::uint32_t write_answer(std::byte *at, const LocalSide &local, const Mac &to, const Ip &asker) {
  return local.is_v6 ? write_advertisement(at, local, to, asker)
                     : write_arp(at, local, arp_reply, to, to, asker.v4());
}

std::uint32_t write_announcement(std::byte *at, const LocalSide &local) {
  return local.is_v6 ? write_advertisement(at, local, {}, {})
                     : write_arp(at, local, arp_request, Mac::broadcast(), {}, local.v4);
}

std::uint32_t write_group_report(std::byte *at, const LocalSide &local, const Ip &group,
                                 bool listening) {
  return local.is_v6 ? write_listener_report(at, local, group, listening)
                     : write_igmp_report(at, local, group.v4(), listening);
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
