// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "common/address.h"

#include "common/check.h"

#include <cstring>

#include <arpa/inet.h>
#include <rdma/fabric.h>

namespace fabtest {

namespace {

template <class T> T as(const bytes &address) {
  T value{};
  if (address.size() < sizeof value)
    fail(fmt::format("an address of {} bytes", address.size()));
  std::memcpy(&value, address.data(), sizeof value);
  return value;
}

template <class T> bytes from(const T &value) {
  const auto *p = reinterpret_cast<const std::byte *>(&value);
  return {p, p + sizeof value};
}

} // namespace

bool is_socket_format(std::uint32_t addr_format) {
  return addr_format == FI_SOCKADDR || addr_format == FI_SOCKADDR_IN ||
         addr_format == FI_SOCKADDR_IN6;
}

bytes socket_address(const std::string &host, std::uint16_t port) {
  sockaddr_in v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    return from(v4);
  }
  sockaddr_in6 v6{};
  if (inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) != 1)
    fail(fmt::format("\"{}\" is no address", host));
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  return from(v6);
}

bytes with_port(const bytes &like, std::uint16_t port) {
  return socket_address(host_of(like), port);
}

int family_of(const bytes &address) { return as<sa_family_t>(address); }

std::uint16_t port_of(const bytes &address) {
  return ntohs(family_of(address) == AF_INET ? as<sockaddr_in>(address).sin_port
                                             : as<sockaddr_in6>(address).sin6_port);
}

std::string host_of(const bytes &address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (family_of(address) == AF_INET) {
    const auto v4 = as<sockaddr_in>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
  } else {
    const auto v6 = as<sockaddr_in6>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  }
  return text;
}

} // namespace fabtest
