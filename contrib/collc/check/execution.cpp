// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/check/execution.h"

#include <algorithm>
#include <deque>
#include <set>

namespace collc {

execution::execution(const world &w)
    : w_(w), level_(w.counters().size()), next_(w.counters().size()), fired_(w.works()),
      clocks_(w.works()), place_(w.works()), ends_(w.works()) {
  for (std::size_t c = 0; c < level_.size(); ++c)
    level_[c] = w.counters()[c].start;
  for (work_number k = 0; k < w.works(); ++k)
    tell_ends(k);
  for (bool more = true; more;) {
    more = false;
    for (std::size_t c = 0; c < level_.size(); ++c)
      more |= fire_ready(c);
  }
}

// Its own addition, or the next one to the same peer that tells of the same message; or, where
// works wait for it, its completion.
void execution::tell_ends(work_number k) {
  const work &d = w_.at(k);
  if (d.what != operation::write && d.what != operation::atomic)
    return;
  for (const auto &e : w_.effects(k))
    if (!e.completion || !w_.counters()[e.counter].works.empty())
      ends_[k].emplace_back(e.counter, k);
  const std::int64_t rank = w_.rank_of(k);
  const auto end = static_cast<work_number>(w_.first(rank) + w_.schedule(rank).works.size());
  for (work_number n = k + 1; n < end; ++n) {
    const work &o = w_.at(n);
    if (o.trigger.path != d.trigger.path || o.peer != d.peer || o.what != operation::remote_add)
      continue;
    if (!(d.why == role::data && o.why == role::end && o.ordinal == d.ordinal) &&
        !(d.why == role::reduce && o.why == role::reduced && o.round == d.round))
      continue;
    for (const auto &e : w_.effects(n))
      ends_[k].emplace_back(e.counter, n);
    return;
  }
}

bool execution::fire_ready(std::size_t c) {
  const auto &works = w_.counters()[c].works;
  bool any = false;
  while (next_[c] < works.size()) {
    const work_number k = works[next_[c]];
    if (level_[c] < w_.at(k).threshold)
      break;
    ++next_[c];
    fire(k, c);
    any = true;
  }
  return any;
}

void execution::fire(work_number k, std::size_t c) {
  fired_[k] = true;
  order_.push_back(k);
  const auto &counter = w_.counters()[c];
  place_[k] = static_cast<std::uint32_t>(next_[c]);
  clock now = place_[k] > 1 ? clocks_[counter.works[place_[k] - 2]] : clock(level_.size());
  for (const addition &a : counter.additions) {
    if (!w_.needs(k, a) || !fired_[a.by] || w_.at(a.by).ahead > 0)
      continue; // what was told ahead, in an epoch before, comes after nothing in this one
    const clock &theirs = clocks_[a.by];
    for (std::size_t i = 0; i < now.size(); ++i)
      now[i] = std::max(now[i], theirs[i]);
  }
  now[c] = place_[k];
  clocks_[k] = std::move(now);
  for (const auto &e : w_.effects(k))
    level_[e.counter] += e.value;
}

bool execution::after_start(work_number k, std::int64_t rank) const {
  for (std::size_t c = 0; c < level_.size(); ++c)
    if (w_.counters()[c].rank == rank && clocks_[k][c] > 0)
      return true;
  return w_.rank_of(k) == rank;
}

bool execution::moved_before(work_number a, work_number b) const {
  for (const auto &[counter, by] : ends_[a]) {
    const auto &works = w_.counters()[counter].works;
    for (std::uint32_t i = 0; i < clocks_[b][counter]; ++i) {
      const auto &additions = w_.counters()[counter].additions;
      const auto addition =
          std::ranges::find_if(additions, [by = by](const auto &x) { return x.by == by; });
      if (addition != additions.end() && w_.needs(works[i], *addition))
        return true;
    }
  }
  return false;
}

bool execution::complete_after_start(std::int64_t complete, std::int64_t started) const {
  if (complete == started)
    return true;
  for (const auto &counter : w_.counters())
    if (counter.rank == complete)
      for (const addition &a : counter.additions)
        if (fired_[a.by] && w_.at(a.by).ahead == 0 && after_start(a.by, started))
          return true;
  return false;
}

// What the work waits for, and the work that would bring it.
std::string execution::missing(work_number k, work_number &next) const {
  const std::size_t c = w_.trigger(k);
  for (const addition &a : w_.counters()[c].additions)
    if (!fired_[a.by] && w_.needs(k, a)) {
      next = a.by;
      return w_.name(k) + " waits for " + w_.name(a.by);
    }
  for (const addition &a : w_.counters()[c].additions)
    if (!fired_[a.by]) {
      next = a.by;
      return w_.name(k) + " waits for level " + std::to_string(w_.at(k).threshold) + ", at " +
             std::to_string(level_[c]) + ", and so for " + w_.name(a.by);
    }
  next = k;
  return w_.name(k) + " waits for level " + std::to_string(w_.at(k).threshold) + ", at " +
         std::to_string(level_[c]) + ", and nobody is left to raise it";
}

std::vector<finding> execution::stuck() const {
  const auto first = std::ranges::find(fired_, false);
  if (first == fired_.end())
    return {};
  std::vector<std::string> trace;
  std::set<work_number> seen;
  auto k = static_cast<work_number>(first - fired_.begin());
  while (seen.insert(k).second) {
    work_number next = k;
    trace.push_back(missing(k, next));
    k = next;
  }
  const auto left = std::ranges::count(fired_, false);
  return {{"deadlock",
           std::to_string(left) + " of " + std::to_string(fired_.size()) + " works never fire; " +
               w_.name(static_cast<work_number>(first - fired_.begin())) + " is the first of them",
           std::move(trace)}};
}

} // namespace collc
