// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Memory that peers may access, and what they know of each other's.
#pragma once

#include "endpoint.h"

#include <rdma/fi_rma.h>

namespace fabtest {

inline constexpr std::uint64_t remote_access = FI_REMOTE_READ | FI_REMOTE_WRITE;

class exposed {
public:
  struct options {
    std::uint64_t access = remote_access;
    std::uint64_t requested_key = 0; // 0: one that this process has not used yet
    fid_cntr *reads = nullptr;       // bound to the region
    fid_cntr *writes = nullptr;      // bound to the region; may be the same
    std::size_t buffers = 1;         // that it is made of
  };

  exposed(endpoint &e, std::size_t size, const options &o);
  exposed(endpoint &e, std::size_t size) : exposed(e, size, options{}) {}

  [[nodiscard]] std::span<std::byte> span() { return memory_; }
  [[nodiscard]] std::span<std::byte> first(std::size_t n) { return span().first(n); }
  void clear();

  // Tells all ranks, and learns of theirs; collective.
  void meet(team &t);
  // A piece of a rank's, once met.
  [[nodiscard]] fi_rma_iov at(int rank, std::size_t offset, std::size_t len) const;
  [[nodiscard]] std::uint64_t addr(int rank) const { return at(rank, 0, 0).addr; }
  [[nodiscard]] std::uint64_t key(int rank) const { return at(rank, 0, 0).key; }

  void close() { mr_.close(); }

private:
  struct known {
    std::uint64_t addr, key;
  };

  std::vector<std::byte> memory_;
  owned_fid<fid_mr> mr_;
  known mine_{};
  std::vector<known> all_;
};

// Until a peer has written it.
void await_payload(std::span<const std::byte> memory, std::uint64_t message,
                   where at = where::current());

// A counter's values. Updates may take a moment to show (fi_cntr(3), NOTES).
void await_count(fid_cntr *cntr, std::uint64_t value, where at = where::current());
void await_error_count(fid_cntr *cntr, std::uint64_t value, where at = where::current());

} // namespace fabtest
