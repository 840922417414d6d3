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

// One's complement addition: what is carried out comes in again.
std::uint64_t add_around(std::uint64_t a, std::uint64_t b) {
  a += b;
  return a + (a < b);
}

} // namespace

// Summed up in the machine's own byte order, in which the sum is the same but for its own bytes
// (RFC 1071, 2B), and in several sums at a time (2C).
std::uint64_t checksum_add(std::uint64_t sum, std::span<const std::byte> bytes) {
  const auto *p = bytes.data();
  auto left = bytes.size();
  std::uint64_t a = 0, b = 0, c = 0, d = 0;
  for (; left >= 32; left -= 32, p += 32) {
    a = add_around(a, load<std::uint64_t>(p));
    b = add_around(b, load<std::uint64_t>(p + 8));
    c = add_around(c, load<std::uint64_t>(p + 16));
    d = add_around(d, load<std::uint64_t>(p + 24));
  }
  for (; left >= 4; left -= 4, p += 4)
    a = add_around(a, load<std::uint32_t>(p));
  if (left >= 2) {
    b = add_around(b, load<std::uint16_t>(p));
    left -= 2, p += 2;
  }
  if (left != 0)
    c = add_around(c, std::to_integer<std::uint64_t>(*p));
  auto all = add_around(add_around(a, b), add_around(c, d));
  return sum + __builtin_bswap16(static_cast<std::uint16_t>(~checksum_finish(all)));
}

} // namespace dpdkx::net
