// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Makes a kernel interface take frames to groups that nobody else on this host is in. Ends with
// its socket.
#pragma once

#include "dpdkx/net/ip.h"
#include "dpdkx/net/mac.h"

#include <span>
#include <utility>

namespace dpdkx::link {

// A socket, or none.
class MembershipSocket {
public:
  MembershipSocket() = default;
  MembershipSocket(MembershipSocket &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  MembershipSocket &operator=(MembershipSocket &&other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~MembershipSocket();

protected:
  int fd_ = -1;
};

// Of Ethernet: those in which an IPv6 address that only we have is asked for.
class GroupMembership : MembershipSocket {
public:
  bool join(unsigned interface_index, std::span<const net::Mac> groups);
};

// Of IP: the kernel also tells routers and switches that we listen, and answers when they ask.
class IpMembership : MembershipSocket {
public:
  int join(unsigned interface_index, const net::Ip &group); // 0 or a negative errno
};

} // namespace dpdkx::link
