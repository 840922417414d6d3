// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The sockets through which frames of kernel interfaces come, one for each queue. DPDK's
// drivers keep theirs to themselves, yet they are what a receiver can sleep on: readable
// exactly while the device has frames that no burst has taken. And a filter on
// them keeps traffic that isn't ours from being copied and from filling the ring.
#pragma once

#include "dpdkx/net/ip.h"

#include <cstdint>
#include <span>
#include <vector>

namespace dpdkx::link {

class TapSocket {
public:
  // Called before the device is made; find() afterwards looks for the sockets that have come.
  void remember_open_files();
  void find(unsigned interface_index);
  void adopt(int fd) { // a packet socket of our own
    fds_.push_back(fd);
    packet_ = true;
  }

  bool valid() const { return !fds_.empty(); }
  std::span<const int> fds() const { return fds_; } // the driver's: to poll, nothing else

  // From now on the device shows only what arrives for `ip` and these UDP ports, and besides ARP
  // and ICMP, or with an IPv6 address ICMPv6; with `groups` also all datagrams to any group.
  // Packet sockets only; else, and on failure, it shows everything.
  void filter(const net::Ip &ip, std::span<const std::uint16_t> ports, bool groups);

private:
  std::vector<int> before_, fds_;
  bool packet_ = false;
};

} // namespace dpdkx::link
