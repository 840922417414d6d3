// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Addresses as libfabric's users give them: FI_SOCKADDR_IN, FI_SOCKADDR_IN6,
// and their text.
#pragma once

#include <rdma/fabric.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace util_ext {

union SockAddr {
  sockaddr_in6 in6; // the longest: {} clears no more than the first
  sockaddr_in in;
  sockaddr sa;
};
static_assert(sizeof(SockAddr) == 28);

std::size_t size_of(const SockAddr &); // of the structure that its family has; 0: another family
std::uint16_t port_of(const SockAddr &);
void set_port(SockAddr &, std::uint16_t);

// Reads a sockaddr of at most `len` bytes, without what is not part of the
// address (padding, flow label). False: neither IPv4 nor IPv6, or too short.
bool read_sockaddr(const void *from, std::size_t len, SockAddr &);

// Both are, or are the same, also where one is an IPv4-mapped IPv6 address.
bool same_address(const SockAddr &, const SockAddr &);
std::uint64_t hash_address(const SockAddr &);

// "fi_sockaddr_in://10.0.0.1:4000", "fi_sockaddr_in6://[fe80::1]:4000", as
// FI_ADDR_STR in fi_getinfo(3).
std::string to_text(const SockAddr &);

// The address in such a text, or in one without its scheme. 0, or a negative
// FI_E*: -FI_EINVAL, no such form.
int from_text(const char *, SockAddr &);

// What node and service name: numbers first, then names (getaddrinfo). Either
// may be null; node may be a text as above, then service must be null.
// 0, or a negative FI_E*: -FI_EINVAL, -FI_ENODATA (no such name), ...
// `family`: AF_INET, AF_INET6, or AF_UNSPEC for the first that is found.
int resolve(const char *node, const char *service, int family, SockAddr &);
int resolve_numeric(const char *node, const char *service, int family, SockAddr &);

// The `n`-th address after this one. False: there is none.
bool advance_ip(SockAddr &, std::uint64_t n);

} // namespace util_ext
