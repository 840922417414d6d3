// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A rank's part in short: its peers, and what it does with them, in which many ranks are alike.
#pragma once

#include "collc/ir/request.h"
#include "collc/lang/ast.h"
#include "collc/simulate/uniform_loops.h"

#include <cstdint>
#include <vector>

namespace collc {

// Messages to and from one peer on one path.
struct channel_key {
  std::uint32_t peer = 0, path = 0;
  bool operator==(const channel_key &) const = default;
};

struct outline {
  std::vector<channel_key> channels; // in the order in which the text comes to them
  // Two ranks with the same shape do the same, in the same order, with the same channels by number.
  std::vector<std::int64_t> shape;
};

// Throws text_error where the text does what can't be, as expand(); later turns of uniform loops
// are left to that.
outline outline_of(const algorithm &a, const uniform_loops &loops, const request &q,
                   std::int64_t rank);

} // namespace collc
