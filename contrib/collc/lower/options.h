// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How operations become deferred work, and what the machine has room for.
#pragma once

#include "collc/lower/atomics.h"

#include <cstdint>
#include <optional>

namespace collc {

enum class scheme : std::uint8_t {
  water_tank, // one counter, whose level tells what has come
  prematched  // counters for each round: one for what is sent, two for what is received
};

struct lowering {
  scheme how = scheme::water_tank;
  // The network keeps the order of what one rank sends to another.
  bool ordered = true;
  // The end of data is told once the data are known to be there; else the provider sees to it that
  // an addition comes after the data before it.
  bool wait_for_delivery = false;
  // Start itself pours a bucket, without which nothing fires: works can be queued before it.
  bool own_start = false;
  // Where all that comes adds 1: writes that the target counts, in place of writes and additions.
  bool counted_writes = true;
  // A counter fires one work for each step of its level: it is raised by as many as there are.
  bool raise_for_branches = true;
  unsigned width = 64; // bits of a counter
  std::optional<std::uint64_t> most_works, most_counters;
  atomic_kind combining; // of reductions
  unsigned tanks = 2;    // of each path, used in turn: one for each of so many epochs
  // Data land in memory that is used in turn as well: see landing.h. A rank tells others that they
  // may write in the epoch that is so many later; else in this one.
  bool landing = false;
  unsigned ahead = 0;
  // An epoch is complete once what was sent in the one that is so many before it has been
  // delivered; until then, its memory is being read.
  unsigned lag = 0;
};

} // namespace collc
