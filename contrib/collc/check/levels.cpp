// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/check/levels.h"

#include <algorithm>
#include <unordered_map>

namespace collc {

namespace {

// The highest levels of a rank's counters while one addition is missing.
class without {
public:
  without(const world &w, std::int64_t rank) : w_(w), rank_(rank) {
    for (std::size_t c = 0; c < w.counters().size(); ++c)
      if (w.counters()[c].rank == rank)
        counters_.push_back(c);
  }

  [[nodiscard]] const std::vector<std::size_t> &counters() const { return counters_; }
  [[nodiscard]] std::uint64_t level(std::size_t counter) const { return level_.at(counter); }

  void miss(std::size_t counter, const addition &missing) {
    level_.clear();
    for (const std::size_t c : counters_) {
      std::uint64_t &level = level_[c] = w_.counters()[c].start;
      for (const addition &a : w_.counters()[c].additions)
        if (w_.rank_of(a.by) != rank_ && !(c == counter && held_back(a, missing)))
          level += a.value;
    }
    fire(counter, missing);
  }

private:
  // Comes no earlier than the one that is missing.
  [[nodiscard]] bool held_back(const addition &a, const addition &missing) const {
    if (a.by == missing.by)
      return true;
    const work &later = w_.at(a.by), &first = w_.at(missing.by);
    return w_.how().ordered && w_.how().how == scheme::water_tank &&
           w_.rank_of(a.by) == w_.rank_of(missing.by) && later.makes.slot == event_kind::arrival &&
           first.makes.slot == event_kind::arrival && later.ordinal > first.ordinal;
  }

  // What the rank's own works add, as far as they fire.
  void fire(std::size_t counter, const addition &missing) {
    const work_number begin = w_.first(rank_);
    const std::size_t count = w_.schedule(rank_).works.size();
    std::vector<bool> fired(count);
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < count; ++i) {
        const auto k = static_cast<work_number>(begin + i);
        if (fired[i] || level_[w_.trigger(k)] < w_.at(k).threshold)
          continue;
        fired[i] = more = true;
        for (const auto &e : w_.effects(k))
          if (w_.counters()[e.counter].rank == rank_ &&
              !(e.counter == counter && k == missing.by && e.completion == missing.completion))
            level_[e.counter] += e.value;
      }
    }
  }

  const world &w_;
  std::int64_t rank_;
  std::vector<std::size_t> counters_;
  std::unordered_map<std::size_t, std::uint64_t> level_;
};

finding early(const world &w, work_number work, const addition &missing, std::uint64_t level) {
  return {"levels",
          w.name(work) + " may fire before " + w.name(missing.by) +
              (missing.completion ? " is complete" : " has come"),
          {"its threshold is " + std::to_string(w.at(work).threshold),
           "without the " + std::to_string(missing.value) + " of " + w.name(missing.by) +
               " the level can be " + std::to_string(level)}};
}

} // namespace

std::vector<finding> check_levels(const world &w) {
  for (std::int64_t rank = 0; rank < w.ranks(); ++rank) {
    without levels(w, rank);
    for (const std::size_t c : levels.counters()) {
      const counter_of_rank &counter = w.counters()[c];
      if (counter.works.empty())
        continue;
      for (const addition &missing : counter.additions) {
        levels.miss(c, missing);
        for (const work_number k : counter.works)
          if (w.needs(k, missing) && levels.level(c) >= w.at(k).threshold)
            return {early(w, k, missing, levels.level(c))};
      }
    }
  }
  return {};
}

} // namespace collc
