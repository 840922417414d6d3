// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Rules of a NIC that send what comes for one UDP port to one of its queues. What a NIC takes is
// known when it is tried: each call may fail, and a rule may be gone without a word (the NIC has
// been reset). Then its packets come with all others.
#pragma once

#include <cstdint>

namespace dpdkx::link {

class FlowRules {
public:
  // Names a rule until it has been removed.
  using Handle = void *;

  virtual ~FlowRules() = default;
  // Whether there is any use in add().
  virtual bool supported() = 0;
  // 0 or a negative errno: -ENOSPC: no room for more; -EEXIST; what else the driver says.
  virtual int add(std::uint16_t udp_port, std::uint16_t queue, Handle &) = 0;
  // Likewise. The rule may be in force still, and the handle is good for another try.
  virtual int remove(Handle) = 0;
};

} // namespace dpdkx::link
