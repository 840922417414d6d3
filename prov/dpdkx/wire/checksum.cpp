// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/wire/packet.h"

#include <cstring>
#include <isa-l/crc.h>
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace dpdkx::wire {

namespace {

constexpr std::size_t checksum_offset = 4;
constexpr std::uint32_t initial = 0xffffffff;

// What ISA-L needs to get going, the processor's own instruction does a short datagram in.
#if defined(__x86_64__)
constexpr std::size_t short_length = 192;
const bool has_instruction = __builtin_cpu_supports("sse4.2");

__attribute__((target("sse4.2"))) std::uint32_t add_short(std::uint32_t crc, const std::byte *from,
                                                          std::size_t len) {
  std::uint64_t state = crc;
  for (; len >= sizeof(state); from += sizeof(state), len -= sizeof(state))
    state = _mm_crc32_u64(state, bytes::get<std::uint64_t>(from));
  crc = static_cast<std::uint32_t>(state);
  for (; len != 0; ++from, --len)
    crc = _mm_crc32_u8(crc, bytes::get<std::uint8_t>(from));
  return crc;
}
#else
constexpr std::size_t short_length = 0;
constexpr bool has_instruction = false;
std::uint32_t add_short(std::uint32_t crc, const std::byte *, std::size_t) { return crc; }
#endif

// Inverts neither at the start nor at the end.
std::uint32_t add(std::uint32_t crc, const std::byte *from, std::size_t len) {
  if (len <= short_length && has_instruction)
    return add_short(crc, from, len);
  auto *bytes = const_cast<unsigned char *>(reinterpret_cast<const unsigned char *>(from));
  return crc32_iscsi(bytes, static_cast<int>(len), crc);
}

// Over the datagram as if its checksum field were 0.
std::uint32_t datagram_crc(std::span<const std::byte> d) {
  std::byte head[checksum_offset + sizeof(std::uint32_t)] = {};
  std::memcpy(head, d.data(), checksum_offset);
  const std::uint32_t crc = add(initial, head, sizeof(head));
  return ~add(crc, d.data() + sizeof(head), d.size() - sizeof(head));
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
