// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What may stand behind the fixed part of a body: extensions {u16 type, u16
// length, bytes}, of which padding is one.
#pragma once

#include "dpdkx/wire/bytes.h"

#include <cstring>
#include <span>

namespace dpdkx::wire {

inline constexpr std::size_t extension_head_size = 4;

namespace extension {
inline constexpr std::uint16_t padding = 0;
}

// `padding`: of bytes, head included; less than a head: none.
inline std::byte *put_padding(std::byte *out, std::uint32_t padding) {
  if (padding < extension_head_size)
    return out;
  bytes::put(out, extension::padding);
  bytes::put(out + 2, static_cast<std::uint16_t>(padding - extension_head_size));
  std::memset(out + extension_head_size, 0, padding - extension_head_size);
  return out + padding;
}

// Walks them all; tells how much of it was padding. False: malformed.
inline bool skip_extensions(std::span<const std::byte> in, std::uint32_t &padding) {
  padding = 0;
  while (!in.empty()) {
    if (in.size() < extension_head_size)
      return false;
    const auto type = bytes::get<std::uint16_t>(in.data());
    const std::size_t size = extension_head_size + bytes::get<std::uint16_t>(in.data() + 2);
    if (in.size() < size)
      return false;
    if (type == extension::padding)
      padding += static_cast<std::uint32_t>(size);
    in = in.subspan(size);
  }
  return true;
}

} // namespace dpdkx::wire
