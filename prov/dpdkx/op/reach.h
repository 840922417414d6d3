// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Registered memory of ours while a peer's operation is at it: rights and
// bounds have been checked, and a registration that is being closed waits.
#pragma once

#include "dpdkx/wire/packet.h"
#include "util_ext/mr_table.h"

#include <cstddef>
#include <cstdint>

namespace dpdkx::op {

// The part [offset, offset + n) of what the targets name, one after the other.
wire::Targets slice(const wire::Targets &, std::uint64_t offset, std::uint64_t n);

class Reach {
public:
  // 0, or a positive error number, and then nothing may be touched. All or none. `table` null:
  // nothing is registered. `rights`: FI_REMOTE_READ and/or FI_REMOTE_WRITE.
  int open(util_ext::MrTable *table, const wire::Targets &, std::uint64_t rights) noexcept;

  // Memory behind the position, as far as it lies in one piece; empty at the end.
  iovec piece(std::uint64_t offset) const noexcept;
  // As much as there is from `offset` on, up to `n` bytes.
  void put(std::uint64_t offset, const std::byte *from, std::size_t n) const noexcept;
  void get(std::uint64_t offset, std::byte *to, std::size_t n) const noexcept;

  // Tells the counters of the registrations, each once.
  void count(std::uint64_t right) const noexcept;

private:
  std::size_t count_ = 0;
  util_ext::MrTable::Access access_[wire::max_targets];
};

} // namespace dpdkx::op
