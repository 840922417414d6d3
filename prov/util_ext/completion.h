// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the data path tells completion objects. See cq.h, cntr.h for the
// objects themselves.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_eq.h>

#include <cstddef>
#include <cstdint>

namespace util_ext {

struct Completion {
  void *op_context = nullptr;
  std::uint64_t flags = 0; // FI_SEND | FI_MSG, FI_RECV | FI_TAGGED, ... as fi_cq(3) lists
  std::size_t len = 0;
  void *buf = nullptr;
  std::uint64_t data = 0;
  std::uint64_t tag = 0;
  fi_addr_t src = FI_ADDR_NOTAVAIL; // fi_cq_readfrom
};

struct CompletionError {
  Completion entry;
  std::size_t olen = 0;
  int err = 0;        // positive FI_E*
  int prov_errno = 0; // positive; fi_cq_strerror explains it
  // FI_SOURCE_ERR: raw address of an unknown source, copied; else size 0.
  const void *err_data = nullptr;
  std::size_t err_data_size = 0;
};

} // namespace util_ext
