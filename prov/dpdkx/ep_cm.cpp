// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/address_format.h"
#include "dpdkx/ep.h"
#include "util_ext/ops.h"

namespace dpdkx {

namespace {

int setname(fid_t f, void *address, std::size_t len) {
  return util_ext::guard([&] { return EndpointHandle::from(f).endpoint.set_name(address, len); });
}

int getname(fid_t f, void *address, std::size_t *len) {
  return util_ext::guard([&] { return EndpointHandle::from(f).endpoint.get_name(address, len); });
}

int connect(fid_ep *ep, const void *addr, const void *data, std::size_t len) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  return util_ext::guard([&] { return handle.endpoint.connect(handle, addr, data, len); });
}

int accept(fid_ep *ep, const void *data, std::size_t len) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  return util_ext::guard([&] { return handle.endpoint.accept(handle, data, len); });
}

int shutdown(fid_ep *ep, std::uint64_t flags) {
  if (flags)
    return -FI_EINVAL;
  return util_ext::guard([&] { return EndpointHandle::from(ep).endpoint.shutdown(); });
}

int get_peer(fid_ep *ep, void *address, std::size_t *len) {
  return util_ext::guard([&] { return EndpointHandle::from(ep).endpoint.get_peer(address, len); });
}

fi_ops_cm names() {
  auto t = util_ext::all_missing<fi_ops_cm>();
  t.setname = setname;
  t.getname = getname;
  return t;
}

} // namespace

fi_ops_cm cm_ops = names();

fi_ops_cm connected_cm_ops = [] {
  fi_ops_cm t = names();
  t.connect = connect;
  t.accept = accept;
  t.shutdown = shutdown;
  t.getpeer = get_peer;
  return t;
}();

int Endpoint::set_name(const void *address, std::size_t len) {
  if (linked_ || (connection_ && connection_->own_name()))
    return -FI_EOPBADSTATE; // peers may know the name already
  Address source;
  if (!address || read_address(format_, address, len, source) != 0)
    return -FI_EINVAL;
  source_ = source;
  return 0;
}

// Before enable, asking for the name is what settles it.
int Endpoint::get_name(void *address, std::size_t *len) {
  if (!len || (*len && !address))
    return -FI_EINVAL;
  if (connection_ && connection_->own_name())
    return give_name(format_, *connection_->own_name(), address, len);
  if (const int rc = open_links())
    return rc;
  return give_name(format_, self_, address, len);
}

} // namespace dpdkx
