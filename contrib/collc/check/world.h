// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// All ranks of a collective with their works, and how these depend on each other.
#pragma once

#include "collc/lower/lower.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace collc {

// A work by number, over all ranks.
using work_number = std::uint32_t;

// What raises a counter of a rank: an addition, a write that is counted, a completion.
struct addition {
  work_number by = 0;
  std::uint64_t value = 0;
  bool completion = false;
};

// A counter of a rank, and the works that it triggers, in the order in which they fire.
struct counter_of_rank {
  std::int64_t rank = 0;
  counter_id id;
  std::uint64_t start = 0; // poured by Start
  std::vector<addition> additions;
  std::vector<work_number> works;
};

class world {
public:
  // Throws error, as the compiler does.
  explicit world(compiler &c);
  // With schedules that may be others than the compiler's.
  world(compiler &c, std::vector<rank_schedule> schedules);

  [[nodiscard]] const algorithm &source() const { return c_.source(); }
  [[nodiscard]] const request &asked() const { return c_.asked(); }
  [[nodiscard]] const lowering &how() const { return c_.how(); }
  [[nodiscard]] std::int64_t ranks() const { return c_.asked().ranks; }

  [[nodiscard]] const rank_program &program(std::int64_t rank) const {
    return programs_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] const path_program *path(std::int64_t rank, std::int64_t number) const;
  [[nodiscard]] const rank_schedule &schedule(std::int64_t rank) const {
    return schedules_[static_cast<std::size_t>(rank)];
  }

  [[nodiscard]] std::size_t works() const { return rank_of_.size(); }
  [[nodiscard]] std::int64_t rank_of(work_number w) const { return rank_of_[w]; }
  [[nodiscard]] const work &at(work_number w) const {
    const std::int64_t rank = rank_of_[w];
    return schedule(rank).works[w - first_[static_cast<std::size_t>(rank)]];
  }
  [[nodiscard]] work_number first(std::int64_t rank) const {
    return first_[static_cast<std::size_t>(rank)];
  }

  [[nodiscard]] const std::vector<counter_of_rank> &counters() const { return counters_; }
  // The counter that triggers the work, by number; and what the work adds to.
  [[nodiscard]] std::size_t trigger(work_number w) const { return trigger_[w]; }
  struct effect {
    std::size_t counter;
    std::uint64_t value;
    bool completion;
  };
  [[nodiscard]] const std::vector<effect> &effects(work_number w) const { return effects_[w]; }

  // The algorithm wants the work to come after that addition to its trigger.
  [[nodiscard]] bool needs(work_number w, const addition &a) const;

  // "rank 3's DAT2 to rank 1".
  [[nodiscard]] std::string name(work_number w) const;
  [[nodiscard]] std::string where(place at) const;

private:
  std::size_t counter(std::int64_t rank, const counter_id &id);
  void add_effects(work_number w);
  [[nodiscard]] bool needs_in_tank(work_number w, work_number by) const;
  [[nodiscard]] std::int64_t after(work_number w) const;

  compiler &c_;
  std::vector<rank_program> programs_;
  std::vector<rank_schedule> schedules_;
  std::vector<work_number> first_;            // of each rank
  std::vector<std::int64_t> rank_of_, after_; // of each work
  std::vector<std::size_t> trigger_;
  std::vector<std::vector<effect>> effects_;
  std::vector<counter_of_rank> counters_;
  std::map<std::pair<std::int64_t, counter_id>, std::size_t> numbers_;
};

} // namespace collc
