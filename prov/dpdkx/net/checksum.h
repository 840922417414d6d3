// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The Internet checksum (RFC 1071).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace dpdkx::net {

// Sums may be added up and folded at the end. Every block but the last must be
// of even length.
std::uint64_t checksum_add(std::uint64_t sum, std::span<const std::byte>);

inline std::uint64_t checksum_add32(std::uint64_t sum, std::uint32_t value) {
  return sum + (value >> 16) + (value & 0xffff);
}

// The field's value: the folded sum's complement.
inline std::uint16_t checksum_finish(std::uint64_t sum) {
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

// True if the bytes, their checksum field among them, add up.
inline bool checksum_holds(std::span<const std::byte> bytes) {
  return checksum_finish(checksum_add(0, bytes)) == 0;
}

// The same for an IPv4 header without options, whose 20 bytes are looked at in each packet.
inline bool ipv4_checksum_holds(const std::byte *header) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < 20; at += 4) {
    std::uint32_t word;
    std::memcpy(&word, header + at, sizeof(word));
    sum += word; // in whatever byte order: a sum of ones is one in each
  }
  return checksum_finish(sum) == 0;
}

} // namespace dpdkx::net
