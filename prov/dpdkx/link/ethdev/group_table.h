// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The groups of IP that a device's ports are in. The device's receive lock guards it.
#pragma once

#include "dpdkx/base/address.h"
#include "dpdkx/link/ethdev/group_membership.h"

#include <algorithm>
#include <vector>

namespace dpdkx::link {

class EthdevPort;

class GroupTable {
public:
  // `interface_index`: of the interface at which the kernel joins as well, 0: there is none. 0;
  // -EADDRINUSE: the port is in it; -ENOMEM; what the kernel says.
  int join(EthdevPort &port, const Address &group, unsigned interface_index);
  // Whether that address has no members left. It need not have had that one.
  bool leave(const EthdevPort &port, const Address &group);

  bool empty() const { return members_.empty(); }
  // One group that the port is in; null: none.
  const Address *any_of(const EthdevPort &port) const;
  // Calls `f(port)` for each member.
  template <class F> void members(const Address &group, F &&f) const {
    for (const Member &m : members_)
      if (m.group == group)
        f(*m.port);
  }
  // Calls `f(ip)` for each group once, whatever its ports.
  template <class F> void addresses(F &&f) const {
    for (auto m = members_.begin(); m != members_.end(); ++m)
      if (std::none_of(members_.begin(), m,
                       [m](const Member &o) { return o.group.ip == m->group.ip; }))
        f(net::Ip::of(m->group));
  }

private:
  struct Member {
    Address group;
    EthdevPort *port;
    IpMembership membership;
  };
  std::vector<Member> members_;
};

} // namespace dpdkx::link
