// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/address_format.h"

#include "dpdkx/provider.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <rdma/fi_errno.h>

namespace dpdkx {

namespace {

util_ext::SockAddr to_sockaddr_in6(const Address &address) {
  util_ext::SockAddr sa{};
  sa.in6.sin6_family = AF_INET6;
  sa.in6.sin6_port = htons(address.port);
  std::memcpy(&sa.in6.sin6_addr, address.ip.data(), address.ip.size());
  return sa;
}

AddressBytes bytes_of(const void *from, std::size_t len) {
  const auto *bytes = static_cast<const std::byte *>(from);
  return {bytes, bytes + len};
}

} // namespace

bool known_format(std::uint32_t format) {
  return format == FI_SOCKADDR || format == FI_SOCKADDR_IN || format == FI_SOCKADDR_IN6 ||
         format == FI_ADDR_STR;
}

int check_format(std::uint32_t format) {
  if (known_format(format))
    return 0;
  FI_WARN(&provider, FI_LOG_EP_CTRL,
          "address format %u; allowed: FI_SOCKADDR_IN, FI_SOCKADDR_IN6, FI_SOCKADDR, "
          "FI_ADDR_STR\n",
          format);
  return -FI_EINVAL;
}

Address to_address(const util_ext::SockAddr &sa) {
  if (sa.sa.sa_family != AF_INET6)
    return Address::v4(ntohl(sa.in.sin_addr.s_addr), ntohs(sa.in.sin_port));
  Address address;
  std::memcpy(address.ip.data(), &sa.in6.sin6_addr, address.ip.size());
  address.port = ntohs(sa.in6.sin6_port);
  return address;
}

util_ext::SockAddr to_sockaddr(const Address &address) {
  if (!address.is_v4())
    return to_sockaddr_in6(address);
  util_ext::SockAddr sa{};
  sa.in.sin_family = AF_INET;
  sa.in.sin_port = htons(address.port);
  sa.in.sin_addr.s_addr = htonl(address.v4_host_order());
  return sa;
}

int read_address(std::uint32_t format, const void *from, std::size_t len, Address &out) {
  util_ext::SockAddr sa{};
  if (format == FI_ADDR_STR) {
    // The text may lack its zero, where a length was given.
    const auto *text = static_cast<const char *>(from);
    if (const int rc = util_ext::from_text(std::string(text, strnlen(text, len)).c_str(), sa))
      return rc;
  } else if (!util_ext::read_sockaddr(from, len, sa) ||
             (format == FI_SOCKADDR_IN && sa.sa.sa_family != AF_INET) ||
             (format == FI_SOCKADDR_IN6 && sa.sa.sa_family != AF_INET6)) {
    return -FI_EINVAL;
  }
  out = to_address(sa);
  return 0;
}

int refuse_address(const char *what, std::uint32_t format) {
  char name[64];
  fi_tostr_r(name, sizeof name, &format, FI_TYPE_ADDR_FORMAT);
  FI_WARN(&provider, FI_LOG_EP_CTRL, "%s: not a whole address of the format of its fi_info, %s\n",
          what, name);
  return -FI_EINVAL;
}

int read_source(const fi_info &info, Address &source) {
  if (!info.src_addr ||
      read_address(info.addr_format, info.src_addr, info.src_addrlen, source) == 0)
    return 0;
  return refuse_address("the source address (src_addr, src_addrlen)", info.addr_format);
}

AddressBytes write_address(std::uint32_t format, const Address &address) {
  if (format == FI_ADDR_STR) {
    const std::string text = util_ext::to_text(to_sockaddr(address));
    return bytes_of(text.c_str(), text.size() + 1);
  }
  if (format == FI_SOCKADDR_IN && !address.is_v4())
    return {};
  const util_ext::SockAddr sa =
      format == FI_SOCKADDR_IN6 ? to_sockaddr_in6(address) : to_sockaddr(address);
  return bytes_of(&sa, util_ext::size_of(sa));
}

int give_name(std::uint32_t format, const Address &address, void *to, std::size_t *len) {
  const AddressBytes bytes = write_address(format, address);
  if (bytes.empty())
    return -FI_EADDRNOTAVAIL;
  const std::size_t room = *len;
  if (const std::size_t n = std::min(room, bytes.size()))
    std::memcpy(to, bytes.data(), n);
  *len = bytes.size();
  return room < bytes.size() ? -FI_ETOOSMALL : 0;
}

} // namespace dpdkx
