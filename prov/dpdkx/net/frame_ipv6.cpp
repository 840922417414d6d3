// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// IPv6 (RFC 8200), and of ICMPv6 (RFC 4443) errors and neighbour discovery (RFC 4861).
// Extension headers are refused: nobody sends us any that we need.
#include "dpdkx/net/checksum.h"
#include "dpdkx/net/frame_parts.h"

#include <cstring>

namespace dpdkx::net::frame {

namespace {

constexpr std::uint8_t version = 6;
constexpr std::uint8_t next_hop_by_hop = 0, next_routing = 43, next_fragment = 44, next_ah = 51,
                       next_destination = 60;
constexpr std::uint8_t type_unreachable = 1, type_too_big = 2, type_solicitation = 135,
                       type_advertisement = 136, type_report = 143;
constexpr std::uint8_t option_source_mac = 1, option_target_mac = 2;
constexpr std::uint8_t flag_solicited = 0x40, flag_override = 0x20;
constexpr std::uint8_t neighbour_hops = 255; // proves that no router has passed it on
constexpr std::uint32_t mac_option_size = 8;

// The checksum of ICMPv6 covers the addresses too (RFC 8200, 8.1). `payload` is the IP
// packet's, whose header stands before it.
std::uint16_t icmp_checksum(Bytes payload) {
  auto sum =
      checksum_add(payload.size() + protocol_icmp6, {payload.data() - 2 * Ip::size, 2 * Ip::size});
  return checksum_finish(checksum_add(sum, payload));
}

Drop parse_unreachable(Bytes payload, const LocalSide &local, ReceivedFrame &out) {
  if (payload.size() < icmp_header + ipv6_size + quoted_transport || icmp_checksum(payload) != 0)
    return Drop::icmp_fields;
  const auto *p = payload.data();
  const auto *quoted = p + icmp_header;
  if (u8(quoted) >> 4 != version || u8(quoted + 6) != protocol_udp ||
      Ip::load(quoted + 8) != local.ip)
    return Drop::icmp_fields;
  out.kind = FrameKind::unreachable;
  out.unreachable = {.too_big = u8(p) == type_too_big,
                     .code = u8(p + 1),
                     .next_mtu = load_be32(p + 4),
                     .to = Ip::load(quoted + 8 + Ip::size),
                     .to_port = load_be16(quoted + ipv6_size + 2),
                     .from_port = load_be16(quoted + ipv6_size)};
  return Drop::none;
}

// The MAC address in the option of type `wanted`, zero without one. False: malformed.
bool parse_options(Bytes options, std::uint8_t wanted, Mac &out) {
  while (!options.empty()) {
    auto size = options.size() < 2 ? 0u : u8(options.data() + 1) * 8u;
    if (size == 0 || size > options.size())
      return false;
    if (u8(options.data()) == wanted) {
      out = Mac::load(options.data() + 2);
      if (size != mac_option_size || out.is_multicast() || out.is_zero())
        return false;
    }
    options = options.subspan(size);
  }
  return true;
}

// RFC 4861, 7.1: all that it wants checked. `to`: the packet's destination.
Drop parse_neighbour(Bytes payload, std::uint8_t hops, const Ip &to, const Mac &from,
                     ReceivedFrame &out) {
  const auto *p = payload.data();
  bool question = u8(p) == type_solicitation;
  if (payload.size() < icmp6_size || hops != neighbour_hops || u8(p + 1) != 0 ||
      icmp_checksum(payload) != 0)
    return Drop::nd_fields;
  auto target = Ip::load(p + 8);
  Mac mac;
  if (!target.is_host() || target.is_v4() ||
      !parse_options(payload.subspan(icmp6_size), question ? option_source_mac : option_target_mac,
                     mac))
    return Drop::nd_fields;
  auto source = out.source;
  bool no_source = source.is_any();
  if (!no_source && (!source.is_host() || source.is_v4()))
    return Drop::bad_source;
  // Who has no address yet asks a group, and can't be told by an option where it is.
  if (question ? no_source && (!to.is_multicast() || to == all_nodes || !mac.is_zero())
               : no_source || (to.is_multicast() && u8(p + 4) & flag_solicited))
    return Drop::nd_fields;
  out.kind = FrameKind::neighbour;
  out.neighbour = {.question = question,
                   .sender = question ? source : target,
                   .sender_mac = mac,
                   .weak = !question && (mac.is_zero() || !(u8(p + 4) & flag_override)),
                   .target = target,
                   .from = from};
  return Drop::none;
}

Drop parse_icmp(Bytes payload, std::uint8_t hops, const Ip &to, const LocalSide &local,
                const Mac &from, ReceivedFrame &out) {
  if (payload.size() < icmp_header)
    return Drop::other_protocol;
  switch (u8(payload.data())) {
  case type_unreachable:
  case type_too_big:
    return to == local.ip ? parse_unreachable(payload, local, out) : Drop::other_ip;
  case type_solicitation:
  case type_advertisement:
    return parse_neighbour(payload, hops, to, from, out);
  default:
    return Drop::other_protocol;
  }
}

// A checksum of 0 is for tunnels only (RFC 6935); others are not verified, see parse_frame().
Drop parse_datagram(Bytes payload, const LocalSide &local, ReceivedFrame &out) {
  const auto &source = out.source;
  // A link-local address means nothing to the layers above: no interface is part of theirs.
  if (!source.is_host() || source.is_v4() || source.is_link_local() || source == local.ip)
    return Drop::bad_source;
  auto drop = parse_udp(payload, out);
  return drop == Drop::none && load_be16(payload.data() + 6) == 0 ? Drop::udp_checksum : drop;
}

// Writes an IPv6 header, and the ICMPv6 checksum of the payload behind it.
std::uint32_t finish_icmp(std::byte *at, const LocalSide &local, const Mac &to_mac, const Ip &from,
                          const Ip &to, std::uint32_t payload) {
  write_link_header(at, local, to_mac, type_ipv6);
  auto *ip = at + local.link_header();
  store_be32(ip, std::uint32_t{version} << 28);
  store_be16(ip + 4, static_cast<std::uint16_t>(payload));
  ip[6] = std::byte{protocol_icmp6};
  ip[7] = std::byte{neighbour_hops};
  from.store(ip + 8);
  to.store(ip + 8 + Ip::size);
  auto *icmp = ip + ipv6_size;
  store_be16(icmp + 2, 0);
  store_be16(icmp + 2, icmp_checksum({icmp, payload}));
  return local.link_header() + ipv6_size + payload;
}

std::uint32_t write_neighbour(std::byte *at, const LocalSide &local, const Mac &to_mac,
                              const Ip &to, std::uint8_t type, std::uint8_t flags,
                              const Ip &target) {
  constexpr auto size = icmp6_size + mac_option_size;
  auto *icmp = at + local.link_header() + ipv6_size;
  std::memset(icmp, 0, size);
  icmp[0] = std::byte{type};
  icmp[4] = std::byte{flags};
  target.store(icmp + 8);
  icmp[icmp6_size] = std::byte{type == type_solicitation ? option_source_mac : option_target_mac};
  icmp[icmp6_size + 1] = std::byte{mac_option_size / 8};
  local.mac.store(icmp + icmp6_size + 2);
  return finish_icmp(at, local, to_mac, local.ip, to, size);
}

} // namespace

Drop parse_ipv6(Bytes packet, const LocalSide &local, bool group, const Mac &from,
                ReceivedFrame &out) {
  if (packet.size() < ipv6_size)
    return Drop::truncated;
  const auto *p = packet.data();
  std::size_t size = load_be16(p + 4); // 0: a jumbogram, or nothing
  if (u8(p) >> 4 != version || size == 0)
    return Drop::ip_header;
  if (size > packet.size() - ipv6_size)
    return Drop::truncated;
  auto payload = packet.subspan(ipv6_size, size);
  auto to = Ip::load(p + 8 + Ip::size);
  bool ours = to == local.ip && !group;
  bool asked_here = to == all_nodes || to == solicited_node(local.ip);
  bool to_group = local.groups && group && to.is_multicast();
  if (!ours && !asked_here && !to_group)
    return Drop::other_ip;
  out.source = Ip::load(p + 8);
  switch (u8(p + 6)) {
  case protocol_udp:
    out.to_group = !ours;
    if (to_group)
      out.group = to;
    return ours || to_group ? parse_datagram(payload, local, out) : Drop::other_ip;
  case protocol_icmp6:
    if (!ours && !asked_here)
      return Drop::other_ip;
    return parse_icmp(payload, u8(p + 7), to, local, from, out);
  case next_fragment:
    return Drop::ip_fragment;
  case next_hop_by_hop:
  case next_routing:
  case next_ah:
  case next_destination:
    return Drop::ip_header;
  default:
    return Drop::other_protocol;
  }
}

std::uint32_t write_solicitation(std::byte *at, const LocalSide &local, const Mac &to,
                                 const Ip &target) {
  bool all = to == Mac::broadcast();
  auto group = solicited_node(target);
  return write_neighbour(at, local, all ? group_mac(group) : to, all ? group : target,
                         type_solicitation, 0, target);
}

std::uint32_t write_advertisement(std::byte *at, const LocalSide &local, const Mac &to,
                                  const Ip &asker) {
  if (asker.is_any())
    return write_neighbour(at, local, group_mac(all_nodes), all_nodes, type_advertisement,
                           flag_override, local.ip);
  return write_neighbour(at, local, to, asker, type_advertisement, flag_solicited | flag_override,
                         local.ip);
}

// MLDv2 (RFC 3810, 5.2) wants a router alert before it, and from who has no link-local address,
// no address at all.
std::uint32_t write_listener_report(std::byte *at, const LocalSide &local, const Ip &group,
                                    bool listening) {
  constexpr Ip routers{
      std::array<std::uint8_t, 16>{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x16}};
  constexpr std::uint32_t size = 8 + 4 + Ip::size, alert_size = 8;
  auto *ip = at + local.link_header(), *icmp = ip + ipv6_size;
  std::memset(icmp, 0, size + alert_size);
  icmp[0] = std::byte{type_report};
  icmp[7] = std::byte{1}; // one record
  icmp[8] = std::byte{listening ? changed_to_all_sources : changed_to_no_source};
  group.store(icmp + 12);
  auto end = finish_icmp(at, local, group_mac(routers), {}, routers, size);
  // The checksum doesn't cover what now comes between.
  std::memmove(icmp + alert_size, icmp, size);
  constexpr std::uint8_t alert[alert_size] = {protocol_icmp6, 0, 5, 2, 0, 0, 1, 0}; // and padding
  std::memcpy(icmp, alert, alert_size);
  store_be16(ip + 4, size + alert_size);
  ip[6] = std::byte{next_hop_by_hop};
  ip[7] = std::byte{1}; // hop: it stays on the link
  return end + alert_size;
}

} // namespace dpdkx::net::frame
