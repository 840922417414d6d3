// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/fabric.h"

#include "dpdkx/domain.h"
#include "dpdkx/provider.h"
#include "util_ext/eq.h"
#include "util_ext/ops.h"
#include "util_ext/wait_set.h"

#include <cstring>

namespace dpdkx {

namespace {

int open_domain(fid_fabric *fabric, fi_info *info, fid_domain **domain, void *context) {
  return util_ext::guard([&] { return Domain::open(Fabric::from(fabric), info, domain, context); });
}

int open_domain2(fid_fabric *fabric, fi_info *info, fid_domain **domain, std::uint64_t flags,
                 void *context) {
  return flags ? -FI_EINVAL : open_domain(fabric, info, domain, context); // no peer transfers
}

int open_eq(fid_fabric *fabric, fi_eq_attr *attr, fid_eq **eq, void *context) {
  return util_ext::Eq::open(Fabric::from(fabric), attr, eq, context);
}

int open_wait_set(fid_fabric *fabric, fi_wait_attr *attr, fid_wait **set) {
  return util_ext::WaitSet::open(Fabric::from(fabric), attr, set);
}

} // namespace

Fabric::Fabric(std::uint32_t api_version, Settings settings, void *context)
    : util_ext::Fabric(dpdkx::provider, api_version), handle_{{}, *this},
      settings_(std::move(settings)) {
  static fi_ops fid_ops = [] {
    auto t = util_ext::all_missing<fi_ops>();
    t.close = close;
    return t;
  }();
  static fi_ops_fabric fabric_ops = [] {
    auto t = util_ext::all_missing<fi_ops_fabric>();
    t.domain = open_domain;
    t.domain2 = open_domain2;
    t.eq_open = open_eq;
    t.wait_open = open_wait_set;
    t.trywait = util_ext::Fabric::trywait;
    return t;
  }();
  handle_.fid = {FI_CLASS_FABRIC, context, &fid_ops};
  handle_.ops = &fabric_ops;
  handle_.api_version = api_version;
}

int Fabric::open(const fi_fabric_attr &attr, fid_fabric **out, void *context) {
  if (attr.name && std::strcmp(attr.name, fabric_name) != 0) {
    FI_WARN(&dpdkx::provider, FI_LOG_FABRIC, "no fabric '%s'; allowed: '%s'\n", attr.name,
            fabric_name);
    return -FI_ENODATA;
  }
  Settings settings;
  if (const int rc = current_settings(settings))
    return rc;
  *out = &(new Fabric(attr.api_version, std::move(settings), context))->handle_;
  return 0;
}

int Fabric::close(struct fid *f) {
  Fabric &self = from(f);
  if (self.in_use())
    return -FI_EBUSY;
  delete &self;
  return 0;
}

int open_fabric(fi_fabric_attr *attr, fid_fabric **fabric, void *context) {
  if (!attr || !fabric)
    return -FI_EINVAL;
  return util_ext::guard([&] { return Fabric::open(*attr, fabric, context); });
}

} // namespace dpdkx
