// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Ethernet, ARP, IPv4, IPv6, UDP and ICMP headers: received frames are checked
// here, wholly, before anything else reads them; frames without a payload are
// written here (those with one: encapsulation.h).
#pragma once

#include "dpdkx/net/ip.h"
#include "dpdkx/net/mac.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace dpdkx::net {

constexpr std::uint32_t ethernet_size = 14, vlan_tag_size = 4, ipv4_size = 20, ipv6_size = 40,
                        udp_size = 8;
constexpr std::uint32_t arp_size = 28, icmp6_size = 24; // of a question or an answer, no options
constexpr std::uint32_t min_frame = 60;                 // shorter ones are padded (no FCS)
constexpr std::uint32_t max_control_frame = 128;        // what this file writes is no longer
constexpr std::uint32_t max_ip_packet = 65535;

// Our side of a link: one address of one family.
struct LocalSide {
  LocalSide() = default;
  LocalSide(const Mac &m, const Ip &address, std::uint16_t tag = 0)
      : mac(m), ip(address), v4(address.v4()), is_v6(!address.is_v4()), vlan(tag) {}

  Mac mac;
  Ip ip;
  Ipv4 v4; // the same, unless is_v6
  bool is_v6 = false;
  std::uint16_t vlan = 0; // 0: untagged
  bool groups = false;    // datagrams to groups are of use, too: whoever asks knows to which

  std::uint32_t link_header() const { return ethernet_size + (vlan ? vlan_tag_size : 0); }
  std::uint32_t ip_udp() const { return (is_v6 ? ipv6_size : ipv4_size) + udp_size; }
  std::uint32_t headers() const { return link_header() + ip_udp(); }
};

// Why a frame is of no use. Not every one is an error: an interface that is
// shared with the kernel shows everything that arrives there.
enum class Drop : std::uint8_t {
  none,
  truncated,      // shorter than its headers say
  other_vlan,     // tagged otherwise than we are
  other_mac,      // to another station, or a group that isn't ours
  other_protocol, // not address resolution, UDP, or an ICMP error; not of our family
  ip_header,      // version, options or extension headers, lengths
  ip_checksum,
  ip_fragment,
  other_ip,   // to another address
  bad_source, // from an address that no single host has, or from our own
  udp_length,
  udp_checksum, // none, where IPv6 wants one
  arp_fields,
  nd_fields,   // neighbour discovery: hop limit, checksum, options, ...
  icmp_fields, // checksum, or what it quotes isn't ours
  other_port,  // no endpoint here has it (found by the caller)
  offload,     // the device says a checksum is wrong, or split the frame (found by the caller)
  inbox_full,  // the endpoint doesn't poll (found by the caller)
  count_
};
std::string_view to_string(Drop); // "ip_checksum"

enum class FrameKind : std::uint8_t { udp, neighbour, unreachable, farewell };

// What a neighbour asks or says: ARP, or of ICMPv6 neighbour solicitations and advertisements.
struct NeighbourMessage {
  bool question = false; // for target
  Ip sender;             // any: none yet (RFC 5227, RFC 4862); of an answer, who it is about
  Mac sender_mac;        // zero: not told
  bool weak = false;     // not to replace what is known (an advertisement without Override)
  Ip target;             // of a question
  Mac from;              // the frame's
};

// An ICMP "destination unreachable" or "packet too big" for a datagram of ours.
struct Unreachable {
  bool too_big = false;
  std::uint8_t code = 0;
  std::uint32_t next_mtu = 0; // too_big; 0: an old router
  Ip to;                      // where our datagram went
  std::uint16_t to_port = 0, from_port = 0;
};

// The other end of a point-to-point device is about to close it (`answer` false), or has
// read that we are, and doesn't touch the device any more.
struct Farewell {
  bool answer = false;
};

struct ReceivedFrame {
  FrameKind kind{};
  // udp. The payload starts after LocalSide::headers().
  bool to_group = false;
  Ip group; // if it is to one
  Ip source;
  std::uint16_t source_port = 0, port = 0;
  std::uint16_t payload_len = 0;
  // the others
  NeighbourMessage neighbour;
  Unreachable unreachable;
  Farewell farewell;
};

// Checks a frame as it came from the device, without FCS. On Drop::none `out`
// tells what it is (of its fields only those of its kind are set). A UDP
// checksum is not verified: datagrams carry a stronger one of their own, and a
// frame from a kernel next door may carry an unfinished one.
Drop parse_frame(std::span<const std::byte> frame, const LocalSide &, ReceivedFrame &out);

// Of a frame that parse_frame() took for UDP.
Mac source_mac(const std::byte *frame);

// Each of these writes at `at`, where max_control_frame bytes are, and returns the length,
// padding included. Address resolution is ARP or neighbour discovery, as our address has it.
//
// Who has `target`? `to`: the one that is thought to, or broadcast: whoever has it.
std::uint32_t write_question(std::byte *at, const LocalSide &, const Mac &to, const Ip &target);
// We have our address; said to who asked. An asker without an address: to all.
std::uint32_t write_answer(std::byte *at, const LocalSide &, const Mac &to, const Ip &asker);
// The same, unasked, to all.
std::uint32_t write_announcement(std::byte *at, const LocalSide &);
// For routers, and switches that look into who listens to which group (RFC 4541): we do, or don't
// any more. IGMPv3, or MLDv2.
std::uint32_t write_group_report(std::byte *at, const LocalSide &, const Ip &group, bool listening);
// To whoever is there.
std::uint32_t write_farewell(std::byte *at, const LocalSide &, const Farewell &);

} // namespace dpdkx::net
