// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/address.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <charconv>
#include <cstring>
#include <string_view>

namespace util_ext {

std::size_t size_of(const SockAddr &a) {
  switch (a.sa.sa_family) {
  case AF_INET:
    return sizeof(sockaddr_in);
  case AF_INET6:
    return sizeof(sockaddr_in6);
  default:
    return 0;
  }
}

// At the same place in both families.
static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));

std::uint16_t port_of(const SockAddr &a) { return ntohs(a.in.sin_port); }
void set_port(SockAddr &a, std::uint16_t port) { a.in.sin_port = htons(port); }

bool read_sockaddr(const void *from, std::size_t len, SockAddr &a) {
  sa_family_t family;
  if (len < sizeof family)
    return false;
  std::memcpy(&family, from, sizeof family);
  a = {};
  a.sa.sa_family = family;
  const std::size_t size = size_of(a);
  if (size == 0 || len < size)
    return false;
  std::memcpy(&a, from, size);
  if (family == AF_INET)
    std::memset(a.in.sin_zero, 0, sizeof a.in.sin_zero);
  else
    a.in6.sin6_flowinfo = 0;
  return true;
}

namespace {

// An address in the form in which it is compared.
struct Key {
  std::uint64_t ip[2];
  std::uint32_t port, scope;

  explicit Key(const SockAddr &a) : ip{}, port(a.in.sin_port), scope(0) {
    if (a.sa.sa_family == AF_INET) {
      const std::uint32_t mapped[2] = {htonl(0xffff), a.in.sin_addr.s_addr};
      std::memcpy(&ip[1], mapped, sizeof mapped);
    } else {
      std::memcpy(ip, &a.in6.sin6_addr, sizeof ip);
      scope = a.in6.sin6_scope_id;
    }
  }
};

} // namespace

bool same_address(const SockAddr &a, const SockAddr &b) {
  const Key x(a), y(b);
  return x.ip[0] == y.ip[0] && x.ip[1] == y.ip[1] && x.port == y.port && x.scope == y.scope;
}

std::uint64_t hash_address(const SockAddr &a) {
  const Key k(a);
  std::uint64_t h = k.ip[0] * 0x9e3779b97f4a7c15 + k.ip[1];
  h = (h ^ h >> 32) * 0xd6e8feb86659fd93 + (std::uint64_t{k.port} << 32 | k.scope);
  h = (h ^ h >> 29) * 0x9e3779b97f4a7c15;
  return h ^ h >> 32;
}

std::string to_text(const SockAddr &a) {
  char ip[INET6_ADDRSTRLEN] = "?";
  std::string text;
  if (a.sa.sa_family == AF_INET) {
    inet_ntop(AF_INET, &a.in.sin_addr, ip, sizeof ip);
    text.append("fi_sockaddr_in://").append(ip);
  } else {
    inet_ntop(AF_INET6, &a.in6.sin6_addr, ip, sizeof ip);
    text.append("fi_sockaddr_in6://[").append(ip).append("]");
  }
  return text.append(":").append(std::to_string(port_of(a)));
}

int from_text(const char *text, SockAddr &a) {
  if (!text)
    return -FI_EINVAL;
  std::string_view rest(text);
  int family = AF_UNSPEC;
  if (const auto scheme = rest.find("://"); scheme != rest.npos) {
    const std::string_view name = rest.substr(0, scheme);
    family = name == "fi_sockaddr_in" ? AF_INET : name == "fi_sockaddr_in6" ? AF_INET6 : AF_UNSPEC;
    if (family == AF_UNSPEC && name != "fi_sockaddr")
      return -FI_EINVAL;
    rest.remove_prefix(scheme + 3);
    rest = rest.substr(0, rest.find_first_of("/?")); // further fields are not of the address
  }

  std::string_view node, service;
  if (rest.starts_with('[')) {
    const auto end = rest.find(']');
    if (end == rest.npos)
      return -FI_EINVAL;
    node = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    if (!rest.empty() && rest.front() != ':')
      return -FI_EINVAL;
    service = rest.empty() ? rest : rest.substr(1);
  } else {
    const auto colon = rest.find(':');
    node = rest.substr(0, colon);
    service = colon == rest.npos ? std::string_view() : rest.substr(colon + 1);
  }
  const std::string n(node), s(service);
  return resolve(n.empty() ? nullptr : n.c_str(), s.empty() ? nullptr : s.c_str(), family, a);
}

// getaddrinfo makes a port of any number, by its last 16 bits.
static bool is_beyond_ports(const char *service) {
  const std::string_view s(service ? service : "");
  std::uint32_t port = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), port);
  return end == s.data() + s.size() && !s.empty() &&
         (error == std::errc::result_out_of_range || port > 65535);
}

static int lookup(const char *node, const char *service, int family, int flags, SockAddr &a) {
  if (is_beyond_ports(service))
    return -FI_ENODATA;
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = family;
  hints.ai_socktype = SOCK_DGRAM; // one answer an address, not one for each type
  hints.ai_flags = flags;
  switch (getaddrinfo(node, service, &hints, &found)) {
  case 0:
    break;
  case EAI_MEMORY:
    return -FI_ENOMEM;
  case EAI_AGAIN:
    return -FI_EAGAIN;
  default:
    return -FI_ENODATA;
  }
  const bool ok = found && read_sockaddr(found->ai_addr, found->ai_addrlen, a);
  freeaddrinfo(found);
  return ok ? 0 : -FI_ENODATA;
}

int resolve_numeric(const char *node, const char *service, int family, SockAddr &a) {
  if (!node && !service)
    return -FI_EINVAL;
  if (node && std::strstr(node, "://"))
    return service ? -FI_EINVAL : from_text(node, a);
  return lookup(node, service, family, AI_NUMERICHOST, a);
}

int resolve(const char *node, const char *service, int family, SockAddr &a) {
  // A numeric address must not cost a question to a name server.
  const int rc = resolve_numeric(node, service, family, a);
  return rc != -FI_ENODATA || !node || std::strstr(node, "://")
             ? rc
             : lookup(node, service, family, 0, a);
}

bool advance_ip(SockAddr &a, std::uint64_t n) {
  if (a.sa.sa_family == AF_INET) {
    const std::uint64_t ip = ntohl(a.in.sin_addr.s_addr) + n;
    a.in.sin_addr.s_addr = htonl(static_cast<std::uint32_t>(ip));
    return ip <= 0xffffffff;
  }
  auto &bytes = a.in6.sin6_addr.s6_addr;
  for (int i = 15; i >= 0 && n; --i) {
    n += bytes[i];
    bytes[i] = static_cast<std::uint8_t>(n);
    n >>= 8;
  }
  return n == 0;
}

} // namespace util_ext
