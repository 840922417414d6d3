// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/own_address.h"

#include "dpdkx/address_format.h"
#include "dpdkx/link/host/local_addresses.h"

#include <arpa/inet.h>
#include <optional>
#include <sys/socket.h>
#include <unistd.h>

namespace dpdkx {

namespace {

// Addresses set aside for documentation, 198.51.100.1 and 2001:db8::1: distant
// from everywhere.
const Address distant = Address::v4(0xc6336401, 9);
const Address distant_v6 = {{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 9};

// Connecting a datagram socket chooses a route, no more.
std::optional<Address> source_towards(const Address &peer) {
  const util_ext::SockAddr to = to_sockaddr(peer);
  util_ext::SockAddr from{};
  const int fd = socket(to.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return std::nullopt;
  socklen_t len = sizeof(from);
  const bool found = connect(fd, &to.sa, static_cast<socklen_t>(util_ext::size_of(to))) == 0 &&
                     getsockname(fd, &from.sa, &len) == 0;
  close(fd);
  if (!found)
    return std::nullopt;
  Address address = to_address(from);
  address.port = 0;
  return address;
}

bool is_link_local(const Address &address) {
  return !address.is_v4() && address.ip[0] == 0xfe && (address.ip[1] & 0xc0) == 0x80;
}

std::optional<Address> first_of_interfaces(bool v6) {
  for (const Address &address : link::host::local_addresses())
    if (address.is_v4() != v6 && !address.is_loopback() && !is_link_local(address))
      return address;
  return std::nullopt;
}

} // namespace

Address primary_address(bool v6) {
  if (v6) {
    if (const auto address = source_towards(distant_v6))
      return *address;
    if (const auto address = first_of_interfaces(true))
      return *address;
  }
  if (const auto address = source_towards(distant))
    return *address;
  if (const auto address = first_of_interfaces(false))
    return *address;
  return Address::v4(INADDR_LOOPBACK, 0);
}

} // namespace dpdkx
