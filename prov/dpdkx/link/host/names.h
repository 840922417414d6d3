// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How ports find each other: abstract unix sockets named by address and port
// number. Such a name is unique in its network namespace, and free again the
// moment its owner is gone.
//
// As with UDP, 10.0.0.1:4000 and 10.0.0.2:4000 are two ports, and 0.0.0.0:4000
// stands in the way of both.
#pragma once

#include "dpdkx/base/address.h"
#include "dpdkx/link/host/fork_guard.h"

#include <string>

namespace dpdkx::link::host {

struct PortRange {
  std::uint16_t first, last;
};

// Binds and listens at `wanted`, or at a free port number of the range if its
// own is 0. `bound` is the address got. 0 or negative errno, with a text.
int listen_at(const Address &wanted, PortRange range, Fd &listener, Address &bound,
              std::string &error);

// Connects to whoever is reached as `peer`: the port bound to it, or the one
// bound to the any address if `peer` is this host. 0; -ECONNREFUSED, or
// -EHOSTUNREACH if the address isn't even this host's; -EAGAIN if it has more
// connections waiting than it may; -EMFILE.
int connect_to(const Address &peer, Fd &socket) noexcept;

// The any address of `address`'s family, with its port number.
Address any_address_like(const Address &address);

} // namespace dpdkx::link::host
