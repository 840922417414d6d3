// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What ranks give to a collective in each epoch, and what has to come of it: every value tells its
// epoch, rank and place.
#pragma once

#include "collc/lang/ast.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace collc::run {

struct shape {
  collective what = collective::barrier;
  std::int64_t ranks = 0, root = 0;
  std::uint64_t bytes = 0; // of a block; of reductions a multiple of 8, of int64 that are added
};

class data {
public:
  data(const shape &s, std::int64_t rank);

  void fill(std::uint64_t epoch); // in, and out of a broadcast's root; out of others is cleared
  bool right(std::uint64_t epoch) const;

  const std::vector<std::byte> &in() const { return in_; }
  std::vector<std::byte> &out() { return out_; }

private:
  struct block {            // of `bytes`
    std::int64_t from;      // the rank that gives it; -1: the sum of all
    std::int64_t index = 0; // which of its blocks
  };
  std::vector<block> given() const;
  std::vector<block> expected() const;
  void write(std::vector<std::byte> &to, const std::vector<block> &, std::uint64_t epoch) const;

  const shape shape_;
  const std::int64_t rank_;
  std::vector<std::byte> in_, out_;
};

} // namespace collc::run
