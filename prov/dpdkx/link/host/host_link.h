// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The link between processes of one host: a pair of rings in shared memory for
// each pair of endpoints. No device, no privileges, no set-up.
//
// Who can meet: processes of the same user in the same network namespace. A
// port is found by its IP address and port number, as a UDP socket would be; it
// needs neither to be known to the kernel. A path delivers every datagram, in
// order, for as long as both processes live; the death of one is told to the
// other as peer_gone. After fork() a child has no part in its parent's ports.
#pragma once

#include "dpdkx/base/clock.h"
#include "dpdkx/link/link.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace dpdkx::link {

struct HostOptions {
  // Room for datagrams under way, bytes in each direction of each path: a power
  // of two, from two memory pages to 1 GiB. The peer that opens a path decides.
  std::uint32_t ring_bytes = 128 * 1024;
  // Largest datagram, bytes: at most ring_bytes - 520.
  std::uint32_t max_datagram = 16 * 1024 + 256;
  // Where automatic ports are chosen from, both ends included.
  std::uint16_t first_port = 49152;
  std::uint16_t last_port = 65535;
  // A ring that nothing was sent through for so long gives its pages back.
  Duration idle_trim = std::chrono::seconds(10);
  // Once the port has slept, its peers look after each flush whether it sleeps again: until it has
  // polled so often without; and twice as often the next time.
  std::uint32_t calm_polls = 1u << 15;
};

// Binds a port to `wanted`. Port number 0: one of the range is chosen. The any
// address (0.0.0.0 or ::) stands for all of this host's addresses of its family.
// 0, or a negative errno and a text for the log in `error`: -EADDRINUSE, -EINVAL
// (an option out of range), -EMFILE, -ENOMEM. Thread-safe.
int open_host_port(const Address &wanted, const HostOptions &options, std::unique_ptr<Port> &port,
                   std::string &error);

// Whether the address is one of this host's own: loopback, or on an interface of
// this network namespace. The list is read at most once a second. Thread-safe.
bool host_address_is_local(const Address &address);

} // namespace dpdkx::link
