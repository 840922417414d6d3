// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// An Ethernet address.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dpdkx::net {

struct Mac {
  std::array<std::uint8_t, 6> bytes{};

  static constexpr Mac broadcast() { return Mac{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}; }
  static Mac load(const std::byte *from);
  void store(std::byte *to) const;

  // The first byte on the wire in bits 40..47, so that a Mac fits one atomic word.
  static Mac from_word(std::uint64_t word);
  std::uint64_t word() const;

  bool is_multicast() const { return bytes[0] & 1; } // broadcast too
  bool is_zero() const { return *this == Mac{}; }

  friend bool operator==(const Mac &, const Mac &) = default;
};

std::string to_string(const Mac &); // "02:00:00:00:00:01"
bool parse_mac(std::string_view text, Mac &out);

} // namespace dpdkx::net
