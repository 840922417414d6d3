// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/fabric.h"

#include "util_ext/cntr.h"
#include "util_ext/cq.h"
#include "util_ext/eq.h"
#include "util_ext/wait_set.h"

namespace util_ext {

static int try_wait(struct fid *f) noexcept {
  switch (f ? f->fclass : 0) {
  case FI_CLASS_CQ:
    return Cq::from(f)->try_wait();
  case FI_CLASS_EQ:
    return Eq::from(f)->try_wait();
  case FI_CLASS_CNTR:
    return Cntr::from(f)->try_wait();
  case FI_CLASS_WAIT:
    return WaitSet::from(f)->try_wait();
  default:
    return -FI_EINVAL;
  }
}

int Fabric::trywait(fid_fabric *, struct fid **fids, int count) noexcept {
  if (count < 0 || (count && !fids))
    return -FI_EINVAL;
  for (int i = 0; i < count; ++i)
    if (const int rc = try_wait(fids[i]); rc != 0)
      return rc;
  return 0;
}

} // namespace util_ext
