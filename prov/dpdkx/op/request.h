// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the face asks of the operation layer: one call of the application,
// already checked against the endpoint's attributes.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

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

// A read or write of a peer's registered memory. `flags`: FI_RMA, exactly one of FI_READ and
// FI_WRITE, FI_COMPLETION as above; also, FI_WRITE only, FI_REMOTE_CQ_DATA and FI_INJECT; FI_FENCE,
// FI_MORE, and at most one of the completion levels (what a write asks for beyond
// FI_DELIVERY_COMPLETE is refused by the face).
struct RmaRequest {
  const iovec *iov = nullptr; // copied; the memory it names must live until completion
  std::size_t iov_count = 0;  // <= max_iov
  std::size_t len = 0;        // sum of the iov lengths
  const fi_rma_iov *targets = nullptr;
  std::size_t target_count = 0; // <= max_targets; their lengths sum up to len
  fi_addr_t dest = FI_ADDR_UNSPEC;
  std::uint64_t data = 0; // with FI_REMOTE_CQ_DATA
  std::uint64_t flags = 0;
  void *context = nullptr;
};

// An atomic operation on it. `flags`: FI_ATOMIC, and FI_WRITE (plain) or FI_READ (fetch, compare);
// as above but that FI_INJECT may come with either, and is about operands and what is compared
// with. `len` is 1..max_atomic. FI_ATOMIC_READ has no operand: operand_count is 0.
struct AtomicRequest {
  fi_op op = FI_MIN;
  fi_datatype datatype = FI_INT8;
  const iovec *operand = nullptr, *compare = nullptr, *result = nullptr; // as bytes
  std::size_t operand_count = 0, compare_count = 0, result_count = 0;    // compare: only of those
  std::size_t len = 0;                 // bytes of the targets, and of each of the above that counts
  const fi_rma_iov *targets = nullptr; // `len` in bytes
  std::size_t target_count = 0;
  fi_addr_t dest = FI_ADDR_UNSPEC;
  std::uint64_t data = 0;
  std::uint64_t flags = 0;
  void *context = nullptr;
};

// Adds to a counter that the peer has exported, modulo 2^64. `flags`: FI_ATOMIC and FI_WRITE, as
// which it is told of and counted; FI_COMPLETION as above; FI_FENCE, FI_MORE, FI_DELIVERY_COMPLETE
// (which it has in any case: it only asks for haste).
struct CounterRequest {
  fi_addr_t dest = FI_ADDR_UNSPEC;
  std::uint64_t key = 0, value = 0;
  std::uint64_t flags = 0;
  void *context = nullptr;
};

inline constexpr std::size_t max_iov = 16;
inline constexpr std::size_t max_targets = 8;
// Bytes of an atomic's targets. With so much to compare with besides, and max_targets targets, it
// is one packet of the smallest size that a session may have (548, wire/protocol.md), and a
// multiple of every datatype's size.
inline constexpr std::size_t max_atomic = 128;

} // namespace dpdkx::op
