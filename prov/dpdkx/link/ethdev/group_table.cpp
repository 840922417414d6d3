// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/group_table.h"

#include <cerrno>
#include <new>

namespace dpdkx::link {

int GroupTable::join(EthdevPort &port, const Address &group, unsigned interface_index) {
  for (const Member &m : members_)
    if (m.port == &port && m.group == group)
      return -EADDRINUSE;
  IpMembership membership;
  if (interface_index != 0)
    if (const int rc = membership.join(interface_index, net::Ip::of(group)))
      return rc;
  try {
    members_.push_back({group, &port, std::move(membership)});
  } catch (const std::bad_alloc &) {
    return -ENOMEM;
  }
  return 0;
}

bool GroupTable::leave(const EthdevPort &port, const Address &group) {
  std::erase_if(members_, [&](const Member &m) { return m.port == &port && m.group == group; });
  return std::none_of(members_.begin(), members_.end(),
                      [&](const Member &m) { return m.group.ip == group.ip; });
}

const Address *GroupTable::any_of(const EthdevPort &port) const {
  const auto m = std::find_if(members_.begin(), members_.end(),
                              [&](const Member &o) { return o.port == &port; });
  return m == members_.end() ? nullptr : &m->group;
}

} // namespace dpdkx::link
