// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/host/local_addresses.h"

#include "dpdkx/link/host/fork_guard.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <netinet/in.h>

namespace dpdkx::link {

namespace host {

namespace {

bool address_of(const sockaddr *from, Address &to) {
  if (from == nullptr)
    return false;
  if (from->sa_family == AF_INET) {
    const auto *in = reinterpret_cast<const sockaddr_in *>(from);
    to = Address::v4(ntohl(in->sin_addr.s_addr), 0);
    return true;
  }
  if (from->sa_family == AF_INET6) {
    const auto *in6 = reinterpret_cast<const sockaddr_in6 *>(from);
    to = Address{};
    std::memcpy(to.ip.data(), &in6->sin6_addr, to.ip.size());
    return true;
  }
  return false;
}

std::vector<Address> read_interfaces() {
  std::vector<Address> found;
  ifaddrs *list = nullptr;
  if (getifaddrs(&list) != 0)
    return found;
  for (const ifaddrs *entry = list; entry != nullptr; entry = entry->ifa_next)
    if (Address address; address_of(entry->ifa_addr, address))
      found.push_back(address);
  freeifaddrs(list);
  return found;
}

} // namespace

std::vector<Address> local_addresses() {
  static auto *const known = new std::vector<Address>;
  static Time read_at{};
  const ForkHold lock; // a lock that a child never finds taken
  const Time now = SystemClock::instance().now();
  if (known->empty() || now - read_at >= std::chrono::seconds(1)) {
    *known = read_interfaces();
    read_at = now;
  }
  return *known;
}

} // namespace host

bool host_address_is_local(const Address &address) {
  if (address.is_loopback())
    return true;
  const std::vector<Address> own = host::local_addresses();
  return std::any_of(own.begin(), own.end(), [&](const Address &a) { return a.ip == address.ip; });
}

} // namespace dpdkx::link
