// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/group_membership.h"

#include <algorithm>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dpdkx::link {

GroupMembership::~GroupMembership() {
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

} // namespace dpdkx::link
