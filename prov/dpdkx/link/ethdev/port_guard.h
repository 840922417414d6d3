// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Where the kernel has the device's address, it would answer every datagram of
// ours with "port unreachable", and could give our port to somebody else. A UDP
// socket that is bound there, and whose filter drops everything, prevents both.
#pragma once

#include "dpdkx/base/address.h"

namespace dpdkx::link {

class PortGuard {
public:
  PortGuard() = default;
  ~PortGuard();
  PortGuard(const PortGuard &) = delete;

  int bind(const Address &); // 0, -EADDRINUSE, or another negative errno
  void release();

private:
  int fd_ = -1;
};

} // namespace dpdkx::link
