// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/mac.h"

#include <charconv>
#include <cstdio>
#include <cstring>

namespace dpdkx::net {

Mac Mac::load(const std::byte *from) {
  Mac mac;
  std::memcpy(mac.bytes.data(), from, mac.bytes.size());
  return mac;
}

void Mac::store(std::byte *to) const { std::memcpy(to, bytes.data(), bytes.size()); }

Mac Mac::from_word(std::uint64_t word) {
  Mac mac;
  for (int i = 5; i >= 0; --i, word >>= 8)
    mac.bytes[i] = static_cast<std::uint8_t>(word);
  return mac;
}

std::uint64_t Mac::word() const {
  std::uint64_t word = 0;
  for (auto byte : bytes)
    word = word << 8 | byte;
  return word;
}

std::string to_string(const Mac &mac) {
  char text[18];
  const auto &b = mac.bytes;
  std::snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4],
                b[5]);
  return text;
}

bool parse_mac(std::string_view text, Mac &out) {
  if (text.size() != 17)
    return false;
  Mac mac;
  for (std::size_t i = 0; i < 6; ++i) {
    const char *at = text.data() + i * 3;
    auto [end, error] = std::from_chars(at, at + 2, mac.bytes[i], 16);
    if (error != std::errc{} || end != at + 2 || (i < 5 && at[2] != ':'))
      return false;
  }
  out = mac;
  return true;
}

} // namespace dpdkx::net
