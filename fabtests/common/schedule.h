// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Collective operations as schedules of deferred work. A counter of each rank is a tank, its value
// the water in it: a step is done once the water stands at its level, and pours some into the tank
// of another rank, or back out of its own. A schedule needs one tank, however many messages it has.
#pragma once

#include <cstdint>
#include <vector>

namespace fabtest {

struct step {
  enum class kind : std::uint8_t {
    add,   // to a tank by a remote add; the rank's own included
    raise, // its own, by a local add
    write, // blocks of the rank's buffer to the same place of the peer's
  };
  std::uint64_t level;
  kind what;
  int peer = 0;
  std::uint64_t amount = 0;             // modulo 2^64
  int first_block = 0, block_count = 0; // of a write

  bool operator==(const step &) const = default;
};

// Steps in order of their levels; those of one level are done in the order given. The last one
// empties the tank: the operation is complete when all steps are.
using schedule = std::vector<step>;

// Everybody with everybody; `ranks`: a power of two. In round r (1, 2, ... n) a rank pours 2^(n-r)
// into the tank of the rank whose bit r-1 differs: no sum of later amounts makes up for an earlier
// one.
schedule barrier(int ranks, int rank);

// Each rank's block, by index, to all. A round is: ready to receive, data, end of data. For tanks
// that are used in turn: in one tank a rank which is ahead by a whole operation can be mistaken for
// one of the present.
schedule allgather(int ranks, int rank);

// Block 0 of rank 0 to all, down a binary tree. Rank 0 begins when all have come.
schedule branch(int ranks, int rank);

// Blocks of rank 0 to all, one after the other, from rank to rank.
schedule pipeline(int ranks, int rank, int blocks);

} // namespace fabtest
