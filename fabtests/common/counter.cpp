// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "counter.h"

namespace fabtest {

owned_fid<fid_cntr> open_counter(fid_domain *domain, fi_wait_obj wait) {
  owned_fid<fid_cntr> cntr;
  fi_cntr_attr attr{};
  attr.wait_obj = wait;
  CHECK_OK(fi_cntr_open(domain, &attr, cntr.out(), nullptr));
  return cntr;
}

fi_dpdkx_ops_cntr &counter_ops(fid_domain *domain) {
  fi_dpdkx_ops_cntr *ops = nullptr;
  const int rc =
      fi_open_ops(&domain->fid, FI_DPDKX_OPS_CNTR, 0, reinterpret_cast<void **>(&ops), nullptr);
  if (rc == -FI_ENOSYS)
    skip("the provider has no FI_DPDKX_OPS_CNTR");
  CHECK_OK(rc);
  CHECK(ops->size >= sizeof *ops);
  return *ops;
}

std::uint64_t export_counter(fid_domain *domain, fid_cntr *cntr) {
  std::uint64_t key = 0;
  CHECK_OK(counter_ops(domain).export_cntr(cntr, FI_REMOTE_WRITE, FI_KEY_NOTAVAIL, 0, &key));
  return key;
}

} // namespace fabtest
