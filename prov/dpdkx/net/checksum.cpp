// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/checksum.h"

#include "dpdkx/net/bytes.h"

namespace dpdkx::net {

namespace {

template <class Word> Word load(const std::byte *p) {
  Word word;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

} // namespace

// Payloads are summed up in the machine's own byte order, in which the sum is the same but for
// its own bytes (RFC 1071, 2B), and several words at a time (2C).
std::uint64_t checksum_add(std::uint64_t sum, std::span<const std::byte> bytes) {
  const auto *p = bytes.data();
  auto left = bytes.size();
  std::uint64_t low = 0, high = 0;
  for (; left >= 16; left -= 16, p += 16) {
    auto a = load<std::uint64_t>(p), b = load<std::uint64_t>(p + 8);
    low += (a & 0xffffffff) + (b & 0xffffffff);
    high += (a >> 32) + (b >> 32);
  }
  for (; left >= 4; left -= 4, p += 4)
    low += load<std::uint32_t>(p);
  if (left >= 2) {
    high += load<std::uint16_t>(p);
    left -= 2, p += 2;
  }
  if (left != 0)
    high += std::to_integer<std::uint64_t>(*p);
  auto folded = static_cast<std::uint16_t>(~checksum_finish(low + high));
  return sum + __builtin_bswap16(folded);
}

} // namespace dpdkx::net
