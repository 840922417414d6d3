// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/group_membership.h"

#include <algorithm>
#include <cerrno>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dpdkx::link {

MembershipSocket::~MembershipSocket() {
  if (fd_ >= 0)
    close(fd_);
}

bool GroupMembership::join(unsigned interface_index, std::span<const net::Mac> groups) {
  if (fd_ < 0)
    fd_ = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0); // of no protocol: receives nothing
  return std::all_of(groups.begin(), groups.end(), [&](const net::Mac &group) {
    packet_mreq request{};
    request.mr_ifindex = static_cast<int>(interface_index);
    request.mr_type = PACKET_MR_MULTICAST;
    request.mr_alen = static_cast<unsigned short>(group.bytes.size());
    std::copy(group.bytes.begin(), group.bytes.end(), request.mr_address);
    return setsockopt(fd_, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof(request)) == 0;
  });
}

int IpMembership::join(unsigned interface_index, const net::Ip &group) {
  group_req request{};
  request.gr_interface = interface_index;
  const bool v4 = group.is_v4();
  if (v4) {
    auto &name = reinterpret_cast<sockaddr_in &>(request.gr_group);
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(group.v4().value);
  } else {
    auto &name = reinterpret_cast<sockaddr_in6 &>(request.gr_group);
    name.sin6_family = AF_INET6;
    std::copy(group.bytes.begin(), group.bytes.end(), name.sin6_addr.s6_addr);
  }
  fd_ = socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0); // bound nowhere
  return fd_ < 0 || setsockopt(fd_, v4 ? IPPROTO_IP : IPPROTO_IPV6, MCAST_JOIN_GROUP, &request,
                               sizeof(request)) != 0
             ? -errno
             : 0;
}

} // namespace dpdkx::link
