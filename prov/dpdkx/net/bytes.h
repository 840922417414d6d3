// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Big-endian numbers at any alignment.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dpdkx::net {

static_assert(std::endian::native == std::endian::little);

inline std::uint16_t load_be16(const std::byte *p) {
  std::uint16_t v;
  std::memcpy(&v, p, sizeof(v));
  return __builtin_bswap16(v);
}

inline std::uint32_t load_be32(const std::byte *p) {
  std::uint32_t v;
  std::memcpy(&v, p, sizeof(v));
  return __builtin_bswap32(v);
}

inline void store_be16(std::byte *p, std::uint16_t v) {
  v = __builtin_bswap16(v);
  std::memcpy(p, &v, sizeof(v));
}

inline void store_be32(std::byte *p, std::uint32_t v) {
  v = __builtin_bswap32(v);
  std::memcpy(p, &v, sizeof(v));
}

} // namespace dpdkx::net
