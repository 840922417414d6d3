// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// This program's operator new counts what it has out, and fails when told to.
#pragma once

#include <cstddef>

namespace allocations {

std::size_t live(); // blocks that have been given out and not back

// While it lives, operator new that answers null instead of throwing does so.
class NoMemory {
public:
  NoMemory();
  ~NoMemory();
};

// What a scenario keeps after its end: blocks, once pools have grown to what it
// needs. 0: it gives back everything.
template <class F> std::size_t kept_by(F &&scenario) {
  constexpr int warm_up = 3, more = 130; // more than two chunks of any pool
  for (int i = 0; i < warm_up; ++i)
    scenario();
  const std::size_t before = live();
  for (int i = 0; i < more; ++i)
    scenario();
  return live() - before;
}

} // namespace allocations
