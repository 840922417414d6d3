// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Ethernet, ARP, IPv4, UDP and ICMP headers: received frames are checked here,
// wholly, before anything else reads them; sent ones are written here.
#pragma once

#include "dpdkx/net/ipv4.h"
#include "dpdkx/net/mac.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace dpdkx::net {

constexpr std::uint32_t ethernet_size = 14, vlan_tag_size = 4, ipv4_size = 20, udp_size = 8;
constexpr std::uint32_t ip_udp_size = ipv4_size + udp_size; // what an MTU loses to us
constexpr std::uint32_t arp_size = 28;
constexpr std::uint32_t min_frame = 60; // shorter ones are padded (no FCS)
constexpr std::uint32_t max_ip_packet = 65535;

// Our side of a link.
struct LocalSide {
  Mac mac;
  Ipv4 ip;
  std::uint16_t vlan = 0; // 0: untagged

  std::uint32_t link_header() const { return ethernet_size + (vlan ? vlan_tag_size : 0); }
  std::uint32_t headers() const { return link_header() + ip_udp_size; }
};

// Why a frame is of no use. Not every one is an error: an interface that is
// shared with the kernel shows everything that arrives there.
enum class Drop : std::uint8_t {
  none,
  truncated,      // shorter than its headers say
  other_vlan,     // tagged otherwise than we are
  other_mac,      // to another station, or multicast
  other_protocol, // not ARP, UDP, or an ICMP error
  ip_header,      // version, options, lengths
  ip_checksum,
  ip_fragment,
  other_ip,   // to another address
  bad_source, // from an address that no single host has, or from our own
  udp_length,
  arp_fields,
  icmp_fields, // checksum, or what it quotes isn't ours
  other_port,  // no endpoint here has it (found by the caller)
  offload,     // the device says a checksum is wrong, or split the frame (found by the caller)
  inbox_full,  // the endpoint doesn't poll (found by the caller)
  count_
};
std::string_view to_string(Drop); // "ip_checksum"

enum class FrameKind : std::uint8_t { udp, arp, icmp_unreachable, farewell };

enum class ArpOperation : std::uint16_t { request = 1, reply = 2 };

struct ArpPacket {
  ArpOperation operation{};
  Mac sender_mac;
  Ipv4 sender_ip; // 0.0.0.0: a probe (RFC 5227)
  Mac target_mac;
  Ipv4 target_ip;
};

// An ICMP "destination unreachable" for a datagram of ours.
struct IcmpUnreachable {
  static constexpr std::uint8_t port_unreachable = 3, fragmentation_needed = 4;
  std::uint8_t code = 0;
  std::uint16_t next_mtu = 0; // fragmentation_needed; 0: an old router
  Ipv4 to;                    // where our datagram went
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
  Ipv4 source;
  std::uint16_t source_port = 0, port = 0;
  std::uint16_t payload_len = 0;
  // the others
  ArpPacket arp;
  IcmpUnreachable icmp;
  Farewell farewell;
};

// Checks a frame as it came from the device, without FCS. On Drop::none `out`
// tells what it is (of its fields only those of its kind are set). A UDP
// checksum is not verified: datagrams carry a stronger one of their own, and a
// frame from a kernel next door may carry an unfinished one.
Drop parse_frame(std::span<const std::byte> frame, const LocalSide &, ReceivedFrame &out);

// Of a frame that parse_frame() took for UDP.
Mac source_mac(const std::byte *frame);

// Writes headers before payloads. Everything constant for a port is prepared once.
class UdpEncapsulation {
public:
  static constexpr std::uint8_t default_ttl = 64;

  UdpEncapsulation() = default;
  UdpEncapsulation(const LocalSide &, std::uint16_t port, std::uint8_t dscp);

  std::uint32_t header_size() const { return size_; }
  // `at` has header_size() bytes, the payload right behind. IPv4 with DF, no
  // options; UDP checksum 0 (none).
  void write(std::byte *at, const Mac &to_mac, Ipv4 to, std::uint16_t to_port,
             std::uint16_t payload_len) const;

private:
  std::byte header_[ethernet_size + vlan_tag_size + ip_udp_size] = {};
  std::uint32_t size_ = 0;
  std::uint32_t ip_at_ = 0;
  std::uint64_t ip_sum_ = 0; // of the constant fields
};

// `at` has room for min_frame bytes. Returns the length, padding included.
std::uint32_t write_arp(std::byte *at, const LocalSide &, ArpOperation, const Mac &to_mac,
                        const Mac &target_mac, Ipv4 target_ip);

// The same for a farewell, which goes to whoever is there.
std::uint32_t write_farewell(std::byte *at, const LocalSide &, const Farewell &);

} // namespace dpdkx::net
