// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/endpoint_text.h"

#include "dpdkx/net/ip.h"
#include "dpdkx/net/text.h"

#include <sys/un.h>

namespace dpdkx::daemon {

bool check_socket(std::string_view socket, std::string &error) {
  constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  if (socket.size() > 1 && socket.size() <= longest &&
      (socket.front() == '@' || (socket.front() == '/' && socket.back() != '/')))
    return true;
  error = "socket: '" + std::string(socket) +
          "'; allowed: @NAME, or the path of a file from / on, of " + std::to_string(longest) +
          " characters at most";
  return false;
}

bool parse_tcp_address(std::string_view text, Address &out, std::string &error) {
  const auto colon = text.rfind(':');
  auto host = text.substr(0, std::min(colon, text.size()));
  const bool brackets = host.starts_with('[') && host.ends_with(']');
  if (brackets)
    host = host.substr(1, host.size() - 2);
  net::Ip ip;
  if (colon != std::string_view::npos && net::parse_ip(host, ip) && ip.is_v4() != brackets &&
      ip.is_loopback() && net::parse_number(text.substr(colon + 1), out.port) && out.port != 0) {
    out.ip = ip.bytes;
    return true;
  }
  error = "metrics: '" + std::string(text) +
          "'; allowed: address:port of this host alone, for example 127.0.0.1:9100 or [::1]:9100";
  return false;
}

} // namespace dpdkx::daemon
