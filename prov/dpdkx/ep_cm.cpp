// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/address_format.h"
#include "dpdkx/multicast.h"
#include "dpdkx/provider.h"
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

int join(fid_ep *ep, const void *addr, std::uint64_t flags, fid_mc **mc, void *context) {
  return Multicast::join(EndpointHandle::from(ep), addr, flags, mc, context);
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

fi_ops_cm multicast_cm_ops = [] {
  fi_ops_cm t = names();
  t.join = join;
  return t;
}();

int Endpoint::set_name(const void *address, std::size_t len) {
  if (linked_ || (connection_ && connection_->own_name())) {
    FI_WARN(
        &provider, FI_LOG_EP_CTRL,
        "fi_setname: peers may know the endpoint's name already; allowed: before fi_getname and "
        "fi_enable\n");
    return -FI_EOPBADSTATE;
  }
  Address source;
  if (!address || read_address(format_, address, len, source) != 0)
    return refuse_address("fi_setname: the address", format_);
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

// ---- groups

int Endpoint::read_group(const void *address, Address &group) const {
  if (!engine_ || !eq_) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "fi_join: the endpoint %s\n",
            engine_ ? "has no event queue" : "is not enabled");
    return engine_ ? -FI_ENOEQ : -FI_EOPBADSTATE;
  }
  if (read_address(format_, address, SIZE_MAX, group) == 0 && net::Ip::of(group).is_multicast() &&
      group.is_v4() == self_.is_v4() && group.port != 0)
    return 0;
  FI_WARN(&provider, FI_LOG_EP_CTRL,
          "fi_join: %s; allowed: an address of the endpoint's format, %s, with a port\n",
          group.is_any() ? "no address of the endpoint's format" : to_string(group).c_str(),
          self_.is_v4() ? "in 224.0.0.0/4" : "in ff00::/8");
  return -FI_EINVAL;
}

int Endpoint::join(const Address &group, bool sends, bool receives, fi_addr_t &dest) {
  const std::lock_guard lock(engine_->mutex());
  const int rc = engine_->join(group, sends, receives, dest);
  if (rc == 0)
    ++groups_;
  else
    FI_WARN(&provider, FI_LOG_EP_CTRL, "fi_join: %s: %s\n", to_string(group).c_str(),
            fi_strerror(-rc));
  return rc;
}

void Endpoint::leave(fi_addr_t dest) {
  --groups_;
  if (domain_.inherited())
    return;
  const std::lock_guard lock(engine_->mutex());
  engine_->leave(dest);
}

} // namespace dpdkx
