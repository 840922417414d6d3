// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Makes a kernel interface take frames to Ethernet groups that the kernel itself isn't in:
// those in which an IPv6 address that only we have is asked for. Ends with its socket.
#pragma once

#include "dpdkx/net/mac.h"

#include <span>

namespace dpdkx::link {

class GroupMembership {
public:
  GroupMembership() = default;
  ~GroupMembership();
  GroupMembership(const GroupMembership &) = delete;

  bool join(unsigned interface_index, std::span<const net::Mac> groups);

private:
  int fd_ = -1;
};

} // namespace dpdkx::link
