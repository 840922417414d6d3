// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// libfabric's objects with an owner.
#pragma once

#include <memory>

#include <rdma/fabric.h>

namespace collc::rt {

struct fid_closer {
  template <class T> void operator()(T *object) const noexcept { fi_close(&object->fid); }
};
template <class T> using owned = std::unique_ptr<T, fid_closer>;

struct info_freer {
  void operator()(fi_info *info) const noexcept { fi_freeinfo(info); }
};
using info_ptr = std::unique_ptr<fi_info, info_freer>;

} // namespace collc::rt
