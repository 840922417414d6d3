// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/check/command/hosts.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <string_view>
#include <sys/socket.h>

namespace dpdkx::check {

namespace {

// Takes ":PORT" off the end. False: what stands there is none.
bool cut_port(std::string_view &name, std::uint16_t &port) {
  const bool bracketed = name.starts_with('[');
  const auto end = bracketed ? name.find(']') : name.rfind(':');
  if (bracketed && end == std::string_view::npos)
    return false;
  std::string_view rest;
  if (bracketed) {
    rest = name.substr(end + 1);
    name = name.substr(1, end - 1);
  } else if (end != std::string_view::npos && name.find(':') == end) { // else IPv6, bare
    rest = name.substr(end);
    name = name.substr(0, end);
  }
  if (rest.empty())
    return true;
  const char *const last = rest.data() + rest.size();
  const auto [at, fault] = std::from_chars(rest.data() + 1, last, port);
  return rest[0] == ':' && fault == std::errc{} && at == last && port != 0;
}

Address address_of(const addrinfo &info) {
  Address out;
  if (info.ai_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, info.ai_addr, sizeof(in));
    return Address::v4(ntohl(in.sin_addr.s_addr), 0);
  }
  sockaddr_in6 in{};
  std::memcpy(&in, info.ai_addr, sizeof(in));
  std::copy_n(in.sin6_addr.s6_addr, out.ip.size(), out.ip.begin());
  return out;
}

} // namespace

bool find_host(const std::string &text, std::uint16_t preset_port, bool v4, Address &out,
               std::string &error) {
  std::string_view name = text;
  std::uint16_t port = preset_port;
  if (!cut_port(name, port) || name.empty()) {
    error = "HOST '" + text + "'; allowed: NAME, ADDRESS, NAME:PORT, [IPV6-ADDRESS]:PORT";
    return false;
  }
  addrinfo hints{};
  hints.ai_family = v4 ? AF_INET : AF_INET6;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo *found = nullptr;
  const int rc = getaddrinfo(std::string(name).c_str(), nullptr, &hints, &found);
  if (rc != 0) {
    error = "HOST '" + text + "': " + gai_strerror(rc) + "; allowed: what has an IPv" +
            (v4 ? "4" : "6") + " address, as the device has";
    return false;
  }
  out = address_of(*found);
  out.port = port;
  freeaddrinfo(found);
  return true;
}

} // namespace dpdkx::check
