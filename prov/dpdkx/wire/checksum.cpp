// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/wire/packet.h"

#include <isa-l/crc.h>

namespace dpdkx::wire {

namespace {

constexpr std::size_t checksum_offset = 4;
constexpr std::uint32_t initial = 0xffffffff;

// ISA-L neither inverts at the start nor at the end.
std::uint32_t add(std::uint32_t crc, const std::byte *from, std::size_t len) {
  auto *bytes = const_cast<unsigned char *>(reinterpret_cast<const unsigned char *>(from));
  return crc32_iscsi(bytes, static_cast<int>(len), crc);
}

// Over the datagram as if its checksum field were 0.
std::uint32_t datagram_crc(std::span<const std::byte> d) {
  constexpr std::byte zeros[4] = {};
  const std::size_t behind = checksum_offset + sizeof(zeros);
  std::uint32_t crc = add(initial, d.data(), checksum_offset);
  crc = add(crc, zeros, sizeof(zeros));
  return ~add(crc, d.data() + behind, d.size() - behind);
}

} // namespace

std::uint32_t crc32c(std::span<const std::byte> data) {
  return ~add(initial, data.data(), data.size());
}

void seal(std::span<std::byte> datagram) {
  bytes::put(datagram.data() + 2,
             static_cast<std::uint8_t>(bytes::get<std::uint8_t>(datagram.data() + 2) |
                                       packet_flag::checksummed));
  bytes::put(datagram.data() + checksum_offset, datagram_crc(datagram));
}

bool verify(std::span<const std::byte> datagram) {
  return datagram.size() >= packet_header_size &&
         bytes::get<std::uint32_t>(datagram.data() + checksum_offset) == datagram_crc(datagram);
}

} // namespace dpdkx::wire
