// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How much each event adds to a rank's tank: so much that whatever comes later in the order, or all
// of it, doesn't make up for what has not come yet.
#pragma once

#include "collc/ir/rank_program.h"
#include "collc/lower/options.h"
#include "collc/lower/schedule.h"

#include <cstdint>
#include <vector>

namespace collc {

// Of one path of one rank.
class tank_plan {
public:
  tank_plan(const rank_program &program, const path_program &path, const lowering &how);

  [[nodiscard]] const tank &of() const { return tank_; }
  // The level once all that stands up to there has come.
  [[nodiscard]] std::uint64_t level(position upto) const;
  // Throws error if no such event is expected.
  [[nodiscard]] const event &find(event_kind what, std::int64_t source,
                                  std::uint32_t ordinal) const;
  // All events add 1, but for the rank's own.
  [[nodiscard]] bool counts() const { return counts_; }

private:
  std::int64_t rank_;
  tank tank_;
  std::vector<std::uint64_t> levels_;        // after each event
  mutable std::vector<std::uint32_t> index_; // of events, by kind, source and ordinal; once asked
  bool counts_ = false;
};

// Check points of a round, and which of them an event is, from 1.
struct check_points {
  explicit check_points(const rank_program &program, const lowering &how);
  [[nodiscard]] std::int64_t each() const { return each_; }
  [[nodiscard]] std::int64_t of(event_kind k) const { return of_[static_cast<std::size_t>(k)]; }
  // Counted over all rounds, from 1.
  [[nodiscard]] std::int64_t number(position p) const { return (p.round - 1) * each_ + of(p.slot); }

private:
  std::int64_t each_ = 0;
  std::int64_t of_[5] = {};
};

// 2^n: the bucket of a position where the number of rounds is the same on all ranks.
std::uint64_t bucket_of(const rank_program &program, const lowering &how, position p);

} // namespace collc
