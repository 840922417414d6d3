// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A collective as it is asked for: checked, and completed by what is chosen where it leaves
// something open.
#pragma once

#include "collc/collc_runtime.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace collc::rt {

struct collective_request {
  collc_rt_kind kind = COLLC_RT_BARRIER;
  std::uint64_t bytes = 0;
  std::int64_t root = 0;
  const std::byte *in = nullptr;
  std::byte *out = nullptr;
  std::string operation, type, algorithm;
  std::vector<std::pair<std::string, std::int64_t>> parameters;
  int ready = 0;
  bool direct = false; // data don't land elsewhere first

  // What this rank has of each; 0: it may be null.
  std::uint64_t in_length = 0, out_length = 0;
  // in is copied at each start, as what is written to out would change it.
  bool copies_in = false;
};

// Throws failure, with what is allowed.
collective_request read_collective(const collc_rt_collective *asked, std::int64_t ranks,
                                   std::int64_t rank);

const char *name_of(collc_rt_kind kind);

} // namespace collc::rt
