// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Whether two nodes reach each other, and how operations with a lost peer end.
#pragma once

#include "sim/common/world.h"

namespace sim {

inline constexpr Duration peer_timeout = 10s;
// From the last sign of life to the error completion.
inline constexpr Duration error_limit = peer_timeout + 2s;

// An exchange that works: `from` sends `size` bytes, `to` gets them.
void exchange(World &, NodeId from, NodeId to, std::size_t size, Duration limit = 1s);

// The same where `from` may still believe in a life of `to` that is over: what it sends into that
// one ends with an error, and then it knows.
void reach(World &, NodeId from, NodeId to, std::size_t size, Duration limit);

// Each ends within the limit, once.
void check_ended(World &, std::span<Op *const>, Duration limit);

} // namespace sim
