// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What fi_rma(3) and fi_atomic(3) make of a piece of memory, one operation after the other, in the
// simplest way.
#pragma once

#include "dpdkx/link/sim/random.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sim {

class MemoryModel {
public:
  using Bytes = std::vector<std::byte>;
  struct Atomic {
    fi_op op;
    fi_datatype datatype;
    bool fetch; // the former values are asked for
    std::size_t addr;
    Bytes operand, compare;
  };

  explicit MemoryModel(std::size_t size) : bytes_(size) {}

  const Bytes &bytes() const { return bytes_; }
  void write(std::size_t addr, const Bytes &);
  Bytes read(std::size_t addr, std::size_t n) const;
  Bytes execute(const Atomic &); // what was there

  // One on aligned elements of a memory of `size`, of `most` bytes.
  static Atomic random_atomic(dpdkx::link::sim::Random &, std::size_t size, std::size_t most);

private:
  Bytes bytes_;
};

} // namespace sim
