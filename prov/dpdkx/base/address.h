// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Where an endpoint lives: an IP address and a UDP port.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

namespace dpdkx {

// IPv4 addresses are held as IPv4-mapped IPv6 (::ffff:a.b.c.d), so that one
// form serves tables, comparison and the wire.
struct Address {
  std::array<std::uint8_t, 16> ip{};
  std::uint16_t port = 0; // host byte order

  static Address v4(std::uint32_t ip_host_order, std::uint16_t port);
  bool is_v4() const;
  std::uint32_t v4_host_order() const; // meaningful if is_v4()
  bool is_any() const;                 // 0.0.0.0 or ::
  bool is_loopback() const;            // 127.0.0.0/8 or ::1

  friend bool operator==(const Address &, const Address &) = default;
};

std::string to_string(const Address &); // "10.0.0.1:4000", "[fd00::1]:4000"

struct AddressHash {
  std::size_t operator()(const Address &) const noexcept;
};

} // namespace dpdkx
