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

// What to do at a peer's registered memory.
struct RemoteHow {
  std::uint64_t key = 0, addr = 0;
  std::optional<std::uint64_t> data{}; // FI_REMOTE_CQ_DATA
  std::uint64_t flags = 0;             // besides FI_COMPLETION
  std::size_t pieces = 1;              // that the memory here is cut into
  std::size_t targets = 1;             // ... and the memory there
  bool silent = false;                 // without FI_COMPLETION
};

struct AtomicHow {
  fi_op op = FI_SUM;
  fi_datatype datatype = FI_UINT64;
  bool fetch = false; // the former values come back; with a comparison they do so anyway
  RemoteHow at{};
};

// What to add to a peer's counter.
struct CounterHow {
  std::uint64_t key = 0, value = 1;
  std::uint64_t flags = 0; // besides FI_COMPLETION
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

// Memory there in `n` targets of about one size; the last takes the rest.
inline std::vector<fi_rma_iov> targets(const RemoteHow &how, std::size_t len) {
  std::vector<fi_rma_iov> out;
  const std::size_t each = len / how.targets;
  for (std::size_t i = 0; i < how.targets; ++i) {
    const std::size_t at = each * i;
    out.push_back({how.addr + at, i + 1 == how.targets ? len - at : each, how.key});
  }
  return out;
}

inline std::uint64_t flags(const RemoteHow &how) {
  return how.flags | (how.data ? FI_REMOTE_CQ_DATA : 0) | (how.silent ? 0 : FI_COMPLETION);
}

// `direction`: FI_READ or FI_WRITE.
inline dpdkx::op::RmaRequest request(std::span<const iovec> iov, std::span<const fi_rma_iov> there,
                                     fi_addr_t to, std::uint64_t direction, const RemoteHow &how,
                                     void *context) {
  return {.iov = iov.data(),
          .iov_count = iov.size(),
          .len = length(iov),
          .targets = there.data(),
          .target_count = there.size(),
          .dest = to,
          .data = how.data.value_or(0),
          .flags = flags(how) | FI_RMA | direction,
          .context = context};
}

// Vectors that are empty: there is none of that.
struct AtomicMemory {
  std::span<const iovec> operand, compare, result;
};

inline dpdkx::op::AtomicRequest request(const AtomicMemory &here, std::size_t len,
                                        std::span<const fi_rma_iov> there, fi_addr_t to,
                                        const AtomicHow &how, void *context) {
  return {.op = how.op,
          .datatype = how.datatype,
          .operand = here.operand.data(),
          .compare = here.compare.data(),
          .result = here.result.data(),
          .operand_count = here.operand.size(),
          .compare_count = here.compare.size(),
          .result_count = here.result.size(),
          .len = len,
          .targets = there.data(),
          .target_count = there.size(),
          .dest = to,
          .data = how.at.data.value_or(0),
          .flags = flags(how.at) | FI_ATOMIC | (here.result.empty() ? FI_WRITE : FI_READ),
          .context = context};
}

inline dpdkx::op::CounterRequest request(fi_addr_t to, const CounterHow &how, void *context) {
  return {.dest = to,
          .key = how.key,
          .value = how.value,
          .flags = FI_ATOMIC | FI_WRITE | FI_COMPLETION | how.flags,
          .context = context};
}

} // namespace harness
