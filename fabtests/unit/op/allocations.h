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

// While it lives, allocations are counted that are made under a Watch, and `count` of them fail,
// from number `first` on, whether they answer null or throw.
class Shortage {
public:
  Shortage(std::size_t first, std::size_t count);
  ~Shortage();
  static std::size_t counted();
};

class Watch {
public:
  explicit Watch(bool on = true);
  ~Watch();
  Watch(const Watch &) = delete;

private:
  const bool before_;
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
