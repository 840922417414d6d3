// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// An application's calls as the tests of the provider's inside make them, and
// what comes of each.
#pragma once

#include "dpdkx/op/request.h"

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace harness {

// What to send beyond the bytes.
struct SendHow {
  std::optional<std::uint64_t> tag{};  // tagged
  std::optional<std::uint64_t> data{}; // FI_REMOTE_CQ_DATA
  std::uint64_t flags = 0;             // besides FI_COMPLETION
  std::size_t pieces = 1;              // iov entries that the memory is cut into
  bool silent = false;                 // without FI_COMPLETION
};

struct ReceiveHow {
  std::optional<std::uint64_t> tag{};
  std::uint64_t ignore = 0;
  fi_addr_t src = FI_ADDR_UNSPEC;
  std::uint64_t flags = 0; // besides FI_COMPLETION
  std::size_t pieces = 1;
};

// One completion, as read from the CQ.
struct Done {
  std::uint64_t flags = 0;
  std::size_t len = 0;
  std::byte *buf = nullptr;
  std::uint64_t data = 0, tag = 0;
  fi_addr_t src = FI_ADDR_NOTAVAIL;
  int err = 0; // positive
  std::size_t olen = 0;
  std::vector<std::byte> err_data{};
};

inline std::size_t length(std::span<const iovec> iov) {
  std::size_t len = 0;
  for (const iovec &v : iov)
    len += v.iov_len;
  return len;
}

inline dpdkx::op::SendRequest request(std::span<const iovec> iov, fi_addr_t to, const SendHow &how,
                                      void *context) {
  return {.iov = iov.data(),
          .iov_count = iov.size(),
          .len = length(iov),
          .dest = to,
          .tag = how.tag.value_or(0),
          .data = how.data.value_or(0),
          .flags = how.flags | (how.tag ? FI_TAGGED : FI_MSG) | (how.data ? FI_REMOTE_CQ_DATA : 0) |
                   (how.silent ? 0 : FI_COMPLETION),
          .context = context};
}

inline dpdkx::op::ReceiveRequest request(std::span<const iovec> iov, const ReceiveHow &how,
                                         void *context) {
  return {.iov = iov.data(),
          .iov_count = iov.size(),
          .len = length(iov),
          .src = how.src,
          .tag = how.tag.value_or(0),
          .ignore = how.ignore,
          .flags = how.flags | (how.tag ? FI_TAGGED : FI_MSG) | FI_COMPLETION,
          .context = context};
}

} // namespace harness
