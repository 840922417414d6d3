// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A packet socket takes a copy of each frame; the frame itself goes on into the kernel's IP, up to
// a socket that wants none of it, and mostly on the sender's processor (veth). A program at the
// interface's ingress, which comes between the two, drops it there: half a microsecond a frame.
// Needs a kernel with tcx (6.6) and the right to use it (CAP_BPF and CAP_NET_ADMIN); the kernel
// removes the program when the process ends, however it ends.
#pragma once

#include "dpdkx/base/address.h"

namespace dpdkx::link {

class IngressDrop {
public:
  IngressDrop() = default;
  ~IngressDrop();
  IngressDrop(const IngressDrop &) = delete;

  // Drops UDP datagrams to the address and port, if they are neither fragments nor tagged. 0, or a
  // negative errno: -EPERM; -EINVAL where the kernel has no tcx; -ERANGE with 64 there already.
  int attach(unsigned interface_index, const Address &);

private:
  int link_ = -1;
};

} // namespace dpdkx::link
