// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the face asks of the operation layer: one call of the application,
// already checked against the endpoint's attributes.
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>
#include <sys/uio.h>

namespace dpdkx::op {

// `flags`, in both: exactly one of FI_MSG and FI_TAGGED; FI_COMPLETION if a CQ
// entry is wanted on success (selective completion and inject are decided by
// the face).
struct SendRequest {
  const iovec *iov = nullptr; // copied; the memory it names must live until completion
  std::size_t iov_count = 0;  // <= max_iov
  std::size_t len = 0;        // sum of the iov lengths
  fi_addr_t dest = FI_ADDR_UNSPEC;
  std::uint64_t tag = 0;
  std::uint64_t data = 0;  // with FI_REMOTE_CQ_DATA
  std::uint64_t flags = 0; // also FI_REMOTE_CQ_DATA, FI_INJECT, FI_FENCE, FI_MORE and at most one
                           // of FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE (the default),
                           // FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE
  void *context = nullptr;
};

struct ReceiveRequest {
  const iovec *iov = nullptr; // copied
  std::size_t iov_count = 0;
  std::size_t len = 0;
  fi_addr_t src = FI_ADDR_UNSPEC;
  std::uint64_t tag = 0, ignore = 0;
  std::uint64_t flags = 0; // also FI_MULTI_RECV, FI_PEEK, FI_CLAIM, FI_DISCARD
  void *context = nullptr;
};

inline constexpr std::size_t max_iov = 16;

} // namespace dpdkx::op
