// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Datagrams of one size from one port to another, the last perhaps shorter, as one frame: the first
// one's headers, with the length of all, and the payloads one behind the other. So the kernel takes
// and gives them (UDP segmentation offload), in one go; on a wire each has headers of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dpdkx::net {

// The headers of a frame with a UDP datagram, Ethernet's with a VLAN tag or without, IPv4's without
// options: their size, or 0 if it is none.
std::uint32_t udp_headers(std::span<const std::byte> frame);

// Of a frame with so many bytes of UDP headers: its datagram's payload, as they say.
std::uint32_t udp_payload(const std::byte *frame, std::uint32_t headers);

// Whether two frames with so many bytes of UDP headers differ in their lengths alone.
bool same_headers(const std::byte *a, const std::byte *b, std::uint32_t headers);

// Makes the headers those of a datagram of `payload` bytes; `joined`: of several, whose UDP
// checksum is begun for who ends it (the sum of the addresses, the protocol and the length).
void set_udp_payload(std::byte *frame, std::uint32_t headers, std::uint32_t payload, bool joined);

} // namespace dpdkx::net
