// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// One run of a collective, and what it tells about all others: which works come after which,
// however the network and the ranks take their time.
#pragma once

#include "collc/check/finding.h"
#include "collc/check/world.h"

namespace collc {

class execution {
public:
  explicit execution(const world &w);

  // Works in the order in which they fired; where not all did, stuck() says why.
  [[nodiscard]] const std::vector<work_number> &order() const { return order_; }
  [[nodiscard]] std::vector<finding> stuck() const;

  // In every run...
  // ... the rank has started when the work fires;
  [[nodiscard]] bool after_start(work_number w, std::int64_t rank) const;
  // ... what `a` moves has arrived when `b` fires;
  [[nodiscard]] bool moved_before(work_number a, work_number b) const;
  // ... the rank has started when the other one's request completes.
  [[nodiscard]] bool complete_after_start(std::int64_t complete, std::int64_t started) const;

private:
  using clock = std::vector<std::uint32_t>; // by counter: how many of its works have fired

  bool fire_ready(std::size_t counter);
  void fire(work_number w, std::size_t counter);
  void tell_ends(work_number w);
  [[nodiscard]] std::string missing(work_number w, work_number &next) const;

  const world &w_;
  std::vector<std::uint64_t> level_;
  std::vector<std::size_t> next_; // of each counter's works
  std::vector<bool> fired_;
  std::vector<clock> clocks_;        // of each work
  std::vector<std::uint32_t> place_; // of each work among its counter's, from 1
  // For each work that moves data: the additions after which they are there.
  std::vector<std::vector<std::pair<std::size_t, work_number>>> ends_;
  std::vector<work_number> order_;
};

} // namespace collc
