// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/address.h"

#include <arpa/inet.h>

namespace dpdkx {

namespace {
constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
}

Address Address::v4(std::uint32_t ip_host_order, std::uint16_t port) {
  Address a;
  std::memcpy(a.ip.data(), mapped_prefix.data(), mapped_prefix.size());
  const std::uint32_t be = htonl(ip_host_order);
  std::memcpy(a.ip.data() + 12, &be, sizeof(be));
  a.port = port;
  return a;
}

bool Address::is_v4() const {
  return std::memcmp(ip.data(), mapped_prefix.data(), mapped_prefix.size()) == 0;
}

std::uint32_t Address::v4_host_order() const {
  std::uint32_t be;
  std::memcpy(&be, ip.data() + 12, sizeof(be));
  return ntohl(be);
}

bool Address::is_any() const {
  return is_v4() ? v4_host_order() == 0 : ip == std::array<std::uint8_t, 16>{};
}

bool Address::is_loopback() const {
  if (is_v4())
    return v4_host_order() >> 24 == 127;
  std::array<std::uint8_t, 16> one{};
  one[15] = 1;
  return ip == one;
}

std::string to_string(const Address &a) {
  char text[INET6_ADDRSTRLEN] = "";
  if (a.is_v4()) {
    inet_ntop(AF_INET, a.ip.data() + 12, text, sizeof(text));
    return std::string(text) + ":" + std::to_string(a.port);
  }
  inet_ntop(AF_INET6, a.ip.data(), text, sizeof(text));
  return "[" + std::string(text) + "]:" + std::to_string(a.port);
}

std::size_t AddressHash::operator()(const Address &a) const noexcept {
  std::uint64_t hi, lo;
  std::memcpy(&hi, a.ip.data(), 8);
  std::memcpy(&lo, a.ip.data() + 8, 8);
  std::uint64_t h = hi ^ (lo * 0x9e3779b97f4a7c15ull) ^ (std::uint64_t{a.port} << 48);
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ull;
  h ^= h >> 32;
  return static_cast<std::size_t>(h);
}

} // namespace dpdkx
