// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/multicast.h"

#include "dpdkx/provider.h"

#include <rdma/fi_eq.h>

namespace dpdkx {

int Multicast::join(EndpointHandle &handle, const void *address, std::uint64_t flags, fid_mc **out,
                    void *context) {
  constexpr std::uint64_t directions = FI_SEND | FI_RECV;
  if (!out || !address)
    return -FI_EINVAL;
  if (flags & FI_COLLECTIVE)
    return -FI_ENOSYS;
  const Endpoint &endpoint = handle.endpoint;
  if (flags & ~directions || !endpoint.may(flags)) {
    FI_WARN(&provider, FI_LOG_EP_CTRL,
            "fi_join: flags %#llx; allowed: those of FI_SEND and FI_RECV that the endpoint has\n",
            static_cast<unsigned long long>(flags));
    return -FI_EINVAL;
  }
  Address group;
  if (const int rc = endpoint.read_group(address, group))
    return rc;
  if (flags == 0)
    flags = (endpoint.may(FI_SEND) ? FI_SEND : 0) | (endpoint.may(FI_RECV) ? FI_RECV : 0);
  return make(out, handle, group, flags, context);
}

Multicast::Multicast(EndpointHandle &handle, const Address &group, std::uint64_t flags,
                     void *context)
    : endpoint_(handle.endpoint), group_(group), flags_(flags) {
  fid = {FI_CLASS_MC, context, fid_ops()};
}

int Multicast::start() {
  if (const int rc = endpoint_.join(group_, flags_ & FI_SEND, flags_ & FI_RECV, fi_addr))
    return rc;
  joined_ = true;
  fi_eq_entry entry{};
  entry.fid = &fid;
  entry.context = fid.context;
  return endpoint_.event_queue()->write(FI_JOIN_COMPLETE, &entry, sizeof entry);
}

Multicast::~Multicast() {
  if (!joined_)
    return;
  endpoint_.event_queue()->forget(&fid);
  endpoint_.leave(fi_addr);
}

} // namespace dpdkx
