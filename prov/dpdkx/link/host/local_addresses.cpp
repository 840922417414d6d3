// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/host/local_addresses.h"

#include "dpdkx/link/host/fork_guard.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <new>

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

// Under a lock that a child never finds taken. What was known stays so if there is no memory to
// look again.
const std::vector<Address> &known(const ForkHold &) noexcept {
  static auto *const list = new std::vector<Address>; // never destroyed: threads may outlive main()
  static Time read_at{};
  const Time now = SystemClock::instance().now();
  if (list->empty() || now - read_at >= std::chrono::seconds(1)) {
    try {
      *list = read_interfaces();
      read_at = now;
    } catch (const std::bad_alloc &) {
    }
  }
  return *list;
}

} // namespace

std::vector<Address> local_addresses() {
  const ForkHold lock;
  return known(lock);
}

} // namespace host

bool host_address_is_local(const Address &address) {
  if (address.is_loopback())
    return true;
  const host::ForkHold lock;
  return std::ranges::any_of(host::known(lock),
                             [&](const Address &a) { return a.ip == address.ip; });
}

} // namespace dpdkx::link
