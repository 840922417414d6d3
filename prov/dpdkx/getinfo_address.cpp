// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/getinfo_address.h"

#include "dpdkx/address_format.h"
#include "dpdkx/link/host/host_link.h"
#include "dpdkx/own_address.h"
#include "dpdkx/provider.h"
#include "util_ext/info.h"

#include <arpa/inet.h>
#include <cstdlib>
#include <cstring>
#include <new>

namespace dpdkx {

namespace {

bool is_numeric(const char *node) {
  in6_addr ip;
  return inet_pton(AF_INET, node, &ip) == 1 || inet_pton(AF_INET6, node, &ip) == 1;
}

int families(std::uint32_t format, const int *&list) {
  static constexpr int v4_then_v6[] = {AF_INET, AF_INET6}, v6[] = {AF_INET6};
  list = format == FI_SOCKADDR_IN6 ? v6 : v4_then_v6;
  return format == FI_SOCKADDR_IN || format == FI_SOCKADDR_IN6 ? 1 : 2;
}

int resolve(const char *node, const char *service, std::uint64_t flags, std::uint32_t format,
            Address &out) {
  const bool is_text = std::strstr(node, "://");
  if ((flags & FI_NUMERICHOST) && !is_text && !is_numeric(node))
    return -FI_ENODATA;
  const int *family;
  int rc = -FI_ENODATA;
  for (int n = families(format, family); n > 0 && rc != 0; --n, ++family) {
    util_ext::SockAddr found{};
    rc = util_ext::resolve(node, service, *family, found);
    if (rc == 0)
      out = to_address(found);
  }
  return rc;
}

// Without a node: all of this host's own addresses, or the one that stands for
// this host as a peer.
int resolve_service(const char *service, bool own, std::uint32_t format, Address &out) {
  const bool v6 = format == FI_SOCKADDR_IN6;
  return resolve(own ? (v6 ? "::" : "0.0.0.0") : (v6 ? "::1" : "127.0.0.1"), service, 0, format,
                 out);
}

int read_hint(const char *name, const fi_info &hints, const void *address, std::size_t len,
              std::optional<Address> &out) {
  if (!address)
    return 0;
  Address found;
  const std::uint32_t format = hints.addr_format ? hints.addr_format : std::uint32_t{FI_SOCKADDR};
  if (read_address(format, address, format == FI_ADDR_STR && !len ? SIZE_MAX : len, found) != 0)
    return util_ext::refuse_hint(provider, name, len, "bytes that are no address of the format",
                                 format);
  out = found;
  return 0;
}

// fi_freeinfo() frees it.
void assign(void *&place, std::size_t &len, const AddressBytes &bytes) {
  void *copy = std::malloc(bytes.size());
  if (!copy)
    throw std::bad_alloc();
  std::memcpy(copy, bytes.data(), bytes.size());
  place = copy;
  len = bytes.size();
}

} // namespace

int Wanted::read(const char *node, const char *service, std::uint64_t flags, const fi_info *hints) {
  if ((flags & FI_SOURCE) && !node && !service)
    return -FI_EINVAL;
  const std::uint32_t asked = hints ? hints->addr_format : 0u;
  if (asked && !known_format(asked))
    return util_ext::refuse_hint(provider, "addr_format", asked,
                                 "allowed: FI_SOCKADDR_IN, _IN6, FI_SOCKADDR, FI_ADDR_STR, such as",
                                 FI_SOCKADDR_IN);

  const bool names_source = flags & FI_SOURCE, names_dest = !names_source && (node || service);
  if (hints && !names_source)
    if (const int rc = read_hint("src_addr", *hints, hints->src_addr, hints->src_addrlen, source))
      return rc;
  if (hints && !names_dest)
    if (const int rc = read_hint("dest_addr", *hints, hints->dest_addr, hints->dest_addrlen, dest))
      return rc;
  if (node || service) {
    Address found;
    const int rc = node ? resolve(node, service, flags, asked, found)
                        : resolve_service(service, names_source, asked, found);
    if (rc) {
      FI_INFO(&provider, FI_LOG_CORE, "node '%s', service '%s': %s\n", node ? node : "",
              service ? service : "", fi_strerror(-rc));
      return rc == -FI_EINVAL ? rc : -FI_ENODATA;
    }
    (names_source ? source : dest) = found;
  }
  format = asked;
  if (format == FI_SOCKADDR_IN && names_v6())
    return util_ext::refuse_hint(provider, "addr_format", asked,
                                 "the addresses are IPv6:", FI_SOCKADDR_IN6);
  return 0;
}

std::optional<net::Family> Wanted::family() const {
  if (format == FI_SOCKADDR_IN)
    return net::Family::v4;
  if (format == FI_SOCKADDR_IN6 || names_v6())
    return net::Family::v6;
  if ((source && !source->is_any()) || dest)
    return net::Family::v4;
  return std::nullopt;
}

bool Wanted::suits_device(const Address &device) const {
  if (format == FI_SOCKADDR_IN && !device.is_v4()) {
    util_ext::refuse_hint(provider, "addr_format", format,
                          "the device's address is IPv6:", FI_SOCKADDR_IN6);
    return false;
  }
  return !source || source->is_any() || source->ip == device.ip;
}

bool Wanted::suits_host() const {
  return !source || source->is_any() || link::host_address_is_local(*source);
}

Address Wanted::host_address() const { return primary_address(family() == net::Family::v6); }

void Wanted::fill(const Address &own, fi_info &info) const {
  const bool v6 = !own.is_v4() || names_v6();
  info.addr_format = format ? format : std::uint32_t{v6 ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN};
  Address from = source.value_or(own);
  if (from.is_any() && !own.is_v4())
    from = {{}, from.port}; // 0.0.0.0 was meant as any
  assign(info.src_addr, info.src_addrlen, write_address(info.addr_format, from));
  if (dest)
    assign(info.dest_addr, info.dest_addrlen, write_address(info.addr_format, *dest));
}

} // namespace dpdkx
