// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/check/world.h"

#include "collc/report/names.h"

#include <algorithm>
#include <utility>

namespace collc {

namespace {

std::vector<rank_schedule> all_schedules(compiler &c) {
  std::vector<rank_schedule> all;
  for (std::int64_t rank = 0; rank < c.asked().ranks; ++rank)
    all.push_back(c.schedule(rank));
  return all;
}

} // namespace

world::world(compiler &c) : world(c, all_schedules(c)) {}

world::world(compiler &c, std::vector<rank_schedule> schedules)
    : c_(c), schedules_(std::move(schedules)) {
  for (std::int64_t rank = 0; rank < ranks(); ++rank) {
    programs_.push_back(c.program(rank));
    first_.push_back(static_cast<work_number>(rank_of_.size()));
    rank_of_.resize(rank_of_.size() + schedule(rank).works.size(), rank);
  }
  after_.resize(works());
  trigger_.resize(works());
  effects_.resize(works());
  for (std::int64_t rank = 0; rank < ranks(); ++rank)
    for (const tank &t : schedule(rank).tanks)
      counters_[counter(rank, t.id)].start = t.start;
  for (work_number w = 0; w < works(); ++w) {
    trigger_[w] = counter(rank_of(w), at(w).trigger);
    counters_[trigger_[w]].works.push_back(w);
    after_[w] = after(w);
    add_effects(w);
  }
}

std::size_t world::counter(std::int64_t rank, const counter_id &id) {
  const auto [found, fresh] = numbers_.try_emplace({rank, id}, counters_.size());
  if (fresh)
    counters_.push_back({rank, id, 0, {}, {}});
  return found->second;
}

void world::add_effects(work_number w) {
  const work &k = at(w);
  if (k.why == role::finish)
    return; // of the next start
  const auto raises = [&](std::size_t counter, std::uint64_t value, bool completion) {
    effects_[w].push_back({counter, value, completion});
    counters_[counter].additions.push_back({w, value, completion});
  };
  if (k.value != 0)
    raises(counter(k.peer < 0 ? rank_of(w) : k.peer, k.target), k.value, false);
  if (k.what == operation::write || k.what == operation::atomic)
    raises(counter(rank_of(w), k.completion), 1, true);
}

const path_program *world::path(std::int64_t rank, std::int64_t number) const {
  const auto &all = program(rank).paths;
  const auto found = std::ranges::find(all, number, &path_program::number);
  return found == all.end() ? nullptr : &*found;
}

// Rounds that the algorithm has the work wait for.
std::int64_t world::after(work_number w) const {
  const work &k = at(w);
  const path_program *p = path(rank_of(w), k.trigger.path);
  const auto is_it = [&](const auto &m) { return m.peer == k.peer && m.ordinal == k.ordinal; };
  if (k.why == role::ready) {
    const auto r = std::ranges::find_if(p->receives, is_it);
    return r == p->receives.end() ? 0 : r->after;
  }
  if (k.why == role::data || k.why == role::end || k.why == role::signal) {
    const auto s = std::ranges::find_if(p->sends, is_it);
    return s == p->sends.end() ? 0 : s->after;
  }
  return k.round;
}

bool world::needs(work_number w, const addition &a) const {
  const work &k = at(w);
  if (how().how == scheme::prematched)
    return k.threshold > 0 && !(k.why == role::reduce && at(a.by).why == role::reduced) &&
           a.by != w;
  if (a.completion) // of data, where their end waits for that
    return at(a.by).round <= k.round;
  return needs_in_tank(w, a.by);
}

bool world::needs_in_tank(work_number w, work_number by) const {
  const work &k = at(w);
  const position p = at(by).makes;
  const readiness ready = program(rank_of(w)).ready;
  if (p.slot == event_kind::raise)
    return k.why == role::finish; // what a branch needs is what it is raised for
  switch (k.why) {
  case role::finish:
    return true;
  case role::ready:
    return ready == readiness::each && p.round <= after_[w];
  case role::data:
  case role::end:
    if (p.slot == event_kind::ready && rank_of(by) == k.peer &&
        (ready == readiness::once || at(by).ordinal == k.ordinal))
      return true;
    [[fallthrough]];
  case role::signal:
    return p.round <= after_[w] && !(p.slot == event_kind::delivered && p.round >= k.round);
  case role::reduce:
  case role::reduced:
  case role::raise:
    return p.round < k.round || (p.round == k.round && p.slot == event_kind::arrival);
  case role::delivered:
  case role::chain:
    break;
  }
  return false;
}

std::string world::name(work_number w) const {
  const work &k = at(w);
  std::string text = "rank " + std::to_string(rank_of(w)) + "'s " + name_of(k.why);
  if (k.round > 0)
    text += std::to_string(k.round);
  if (k.peer >= 0 && k.peer != rank_of(w))
    text += " to rank " + std::to_string(k.peer);
  return text;
}

std::string world::where(place at) const {
  return source().file + ':' + std::to_string(at.line) + ':' + std::to_string(at.column);
}

} // namespace collc
