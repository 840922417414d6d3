// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/ep.h"
#include "dpdkx/provider.h"
#include "util_ext/ops.h"

#include <algorithm>
#include <cstring>

namespace dpdkx {

namespace {

int setname(fid_t f, void *address, std::size_t len) {
  return util_ext::guard([&] { return EndpointHandle::from(f).endpoint.set_name(address, len); });
}

int getname(fid_t f, void *address, std::size_t *len) {
  return util_ext::guard([&] { return EndpointHandle::from(f).endpoint.get_name(address, len); });
}

} // namespace

fi_ops_cm cm_ops = [] {
  auto t = util_ext::all_missing<fi_ops_cm>();
  t.setname = setname;
  t.getname = getname;
  return t;
}();

int Endpoint::set_name(const void *address, std::size_t len) {
  if (linked_)
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
  if (const int rc = open_links())
    return rc;
  const AddressBytes bytes = write_address(format_, self_);
  if (bytes.empty())
    return -FI_EADDRNOTAVAIL;
  const std::size_t room = *len;
  if (const std::size_t n = std::min(room, bytes.size()))
    std::memcpy(address, bytes.data(), n);
  *len = bytes.size();
  return room < bytes.size() ? -FI_ETOOSMALL : 0;
}

} // namespace dpdkx
