// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/checksum.h"

#include "dpdkx/net/bytes.h"

namespace dpdkx::net {

std::uint64_t checksum_add(std::uint64_t sum, std::span<const std::byte> bytes) {
  while (bytes.size() >= 4) {
    sum = checksum_add32(sum, load_be32(bytes.data()));
    bytes = bytes.subspan(4);
  }
  if (bytes.size() >= 2) {
    sum += load_be16(bytes.data());
    bytes = bytes.subspan(2);
  }
  if (!bytes.empty())
    sum += std::to_integer<std::uint64_t>(bytes[0]) << 8;
  return sum;
}

} // namespace dpdkx::net
