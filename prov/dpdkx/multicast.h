// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// An endpoint's membership in a group of IP: fi_join(3). Of endpoints for datagrams on a device.
#pragma once

#include "dpdkx/ep.h"

#include <rdma/fi_cm.h>

namespace dpdkx {

class Multicast final : public util_ext::Object<Multicast, fid_mc> {
public:
  static int join(EndpointHandle &, const void *address, std::uint64_t flags, fid_mc **,
                  void *context);

private:
  friend Object;
  Multicast(EndpointHandle &, const Address &group, std::uint64_t flags, void *context);
  ~Multicast();
  int start();

  Endpoint &endpoint_;
  const Address group_;
  const std::uint64_t flags_; // FI_SEND, FI_RECV
  bool joined_ = false;
};

} // namespace dpdkx
