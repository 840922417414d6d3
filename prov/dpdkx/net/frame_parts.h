// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the readers and writers of frames share. For the files of this room.
#pragma once

#include "dpdkx/net/bytes.h"
#include "dpdkx/net/frame.h"

namespace dpdkx::net::frame {

using Bytes = std::span<const std::byte>;

constexpr std::uint16_t type_ipv4 = 0x0800, type_arp = 0x0806, type_vlan = 0x8100,
                        type_ipv6 = 0x86dd;
constexpr std::uint8_t protocol_icmp = 1, protocol_udp = 17, protocol_icmp6 = 58;
constexpr std::uint8_t version_and_length = 0x45; // IPv4, no options
constexpr std::uint32_t icmp_header = 8, quoted_transport = 8;

inline std::uint8_t u8(const std::byte *p) { return std::to_integer<std::uint8_t>(*p); }

void write_link_header(std::byte *at, const LocalSide &, const Mac &to, std::uint16_t type);

// Of the whole IP payload. The source address is the caller's to check.
Drop parse_udp(Bytes ip_payload, ReceivedFrame &out);

// `group`: the frame went to a group's MAC address; `from`: whose frame it is.
Drop parse_ipv6(Bytes packet, const LocalSide &, bool group, const Mac &from, ReceivedFrame &out);

// Of a record in a report of either protocol (RFC 3376, 4.2.12): which sources are listened to.
constexpr std::uint8_t changed_to_no_source = 3, changed_to_all_sources = 4;
std::uint32_t write_listener_report(std::byte *at, const LocalSide &, const Ip &group,
                                    bool listening);

std::uint32_t write_solicitation(std::byte *at, const LocalSide &, const Mac &to, const Ip &target);
std::uint32_t write_advertisement(std::byte *at, const LocalSide &, const Mac &to, const Ip &asker);

} // namespace dpdkx::net::frame
