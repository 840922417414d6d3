// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/host/names.h"

#include "dpdkx/link/host/local_addresses.h"
#include "dpdkx/link/host/unix_socket.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <random>

namespace dpdkx::link::host {

namespace {

SocketName name_of(const Address &address) {
  return SocketName::abstract("dpdkx/" + to_string(address));
}

int connect_exactly(const Address &peer, Fd &socket) { return connect_to(name_of(peer), socket); }

// Only a connection tells: a name that is bound for a moment by someone who
// finds it in conflict, too, must not count.
bool someone_listens(const Address &address) {
  Fd socket;
  const int result = connect_exactly(address, socket);
  return result == 0 || result == -EAGAIN;
}

// Both sides of a conflict listen before they look, so at least one sees it.
bool conflicts(const Address &bound) {
  if (!bound.is_any())
    return someone_listens(any_address_like(bound));
  for (Address own : local_addresses()) {
    own.port = bound.port;
    if (own.is_v4() == bound.is_v4() && someone_listens(own))
      return true;
  }
  return false;
}

int listen_exactly(const Address &at, Fd &listener) {
  if (const int result = listen_at(name_of(at), listener); result != 0)
    return result;
  return conflicts(at) ? -EADDRINUSE : 0;
}

// A random place to begin, then every number once.
int listen_in_range(Address at, PortRange range, Fd &listener, Address &bound) {
  const std::uint32_t count = range.last - range.first + 1u;
  std::random_device seed;
  const std::uint32_t begin = std::uniform_int_distribution<std::uint32_t>(0, count - 1)(seed);
  for (std::uint32_t i = 0; i < count; ++i) {
    at.port = static_cast<std::uint16_t>(range.first + (begin + i) % count);
    const int result = listen_exactly(at, listener);
    if (result != -EADDRINUSE) {
      bound = at;
      return result;
    }
  }
  return -EADDRINUSE;
}

std::string failure_text(const Address &wanted, PortRange range, int result) {
  if (result == -EMFILE)
    return "can't open a socket: too many open files (RLIMIT_NOFILE)";
  if (result != -EADDRINUSE)
    return "can't bind " + to_string(wanted) + ": " + std::strerror(-result);
  if (wanted.port == 0)
    return "no port number is free for " + to_string(wanted) + " from " +
           std::to_string(range.first) + " to " + std::to_string(range.last);
  return to_string(wanted) + " is in use by another endpoint on this host";
}

} // namespace

Address any_address_like(const Address &address) {
  Address any = address.is_v4() ? Address::v4(0, 0) : Address{};
  any.port = address.port;
  return any;
}

int listen_at(const Address &wanted, PortRange range, Fd &listener, Address &bound,
              std::string &error) {
  int result;
  if (wanted.port != 0) {
    bound = wanted;
    result = listen_exactly(wanted, listener);
  } else {
    result = listen_in_range(wanted, range, listener, bound);
  }
  if (result != 0) {
    listener.reset();
    error = failure_text(wanted, range, result);
  }
  return result;
}

int connect_to(const Address &peer, Fd &socket) noexcept {
  try {
    const int result = connect_exactly(peer, socket);
    if (result != -ECONNREFUSED)
      return result;
    if (!host_address_is_local(peer))
      return -EHOSTUNREACH;
    return connect_exactly(any_address_like(peer), socket);
  } catch (const std::bad_alloc &) {
    return -ENOMEM;
  }
}

} // namespace dpdkx::link::host
