// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/check/reuse_model.h"

#include "collc/report/names.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace collc {

std::string text_of(const happening &h) {
  if (h.start)
    return 's' + std::to_string(h.source);
  return std::to_string(h.source) + '>' + std::to_string(h.target) +
         (h.place > 0 ? '#' + std::to_string(h.place) : "");
}

reuse_model::reuse_model(const world &w, const reuse_options &o)
    : w_(w), options_(o), ranks_(static_cast<std::size_t>(w.ranks())), paths_(1),
      tanks_(w.how().tanks), views_(w.works()), all_data_(ranks_), finishes_(ranks_) {
  if (w.how().how != scheme::water_tank)
    throw error("--epochs is for the scheme 'watertank'");
  if (w.how().most_works)
    throw error("--epochs is for works that are queued together, without --max-works");
  for (std::int64_t rank = 0; rank < w.ranks(); ++rank) {
    if (w.schedule(rank).works.size() > 64 || w.works() > 65535)
      throw error("--epochs is for at most 64 works of a rank; rank " + std::to_string(rank) +
                  " has " + std::to_string(w.schedule(rank).works.size()));
    for (const auto &p : w.program(rank).paths)
      paths_ = std::max(paths_, static_cast<std::size_t>(p.number) + 1);
  }
  if (paths_ > 64)
    throw error("--epochs is for paths up to number 63; there is number " +
                std::to_string(paths_ - 1));
  for (work_number k = 0; k < w.works(); ++k)
    view(k);
  for (work_number k = 0; k < w.works(); ++k)
    find_needed(k);
}

std::size_t reuse_model::counter(const counter_id &id, std::size_t turn) const {
  const auto path = static_cast<std::size_t>(id.path);
  return id.what == counter_id::role::tank ? path * tanks_ + turn : paths_ * tanks_ + path;
}

void reuse_model::view(work_number k) {
  const work &d = w_.at(k);
  work_view &v = views_[k];
  v.rank = static_cast<std::size_t>(w_.rank_of(k));
  v.local = d.what == operation::local_add;
  v.target = d.peer < 0 ? v.rank : static_cast<std::size_t>(d.peer);
  v.trigger = counter(d.trigger, 0);
  v.raises = counter(d.target, 0);
  v.adds = d.value != 0;
  if (d.what == operation::write || d.what == operation::atomic) {
    v.lands_as = std::popcount(all_data_[v.target]);
    if (v.lands_as == 64)
      throw error("--epochs is for at most 64 writes to a rank; rank " + std::to_string(v.target) +
                  " gets more");
    if (d.moved.from.length > 0)
      all_data_[v.target] |= std::uint64_t{1} << v.lands_as;
    else
      v.lands_as = -1;
  }
  finishes_[v.rank] += d.why == role::finish ? 1 : 0;
}

// The data of the messages whose arrival the work waits for.
void reuse_model::find_needed(work_number k) {
  if (w_.at(k).moved.from.length == 0)
    return;
  for (const addition &a : w_.counters()[w_.trigger(k)].additions) {
    if (a.completion || !w_.needs(k, a))
      continue;
    const work &by = w_.at(a.by);
    const std::int64_t rank = w_.rank_of(a.by);
    for (std::size_t i = 0; i < w_.schedule(rank).works.size(); ++i) {
      const auto n = static_cast<work_number>(w_.first(rank) + i);
      const work &d = w_.at(n);
      const bool same = d.why == role::data ? d.peer == w_.rank_of(k) && d.ordinal == by.ordinal &&
                                                  by.makes.slot == event_kind::arrival
                                            : d.why == role::reduce && by.why == role::reduced &&
                                                  d.round == by.round;
      if (same && d.trigger.path == by.trigger.path && views_[n].lands_as >= 0)
        views_[k].needed |= std::uint64_t{1} << views_[n].lands_as;
    }
  }
}

reuse_model::state reuse_model::first() const {
  state s;
  s.ranks.resize(ranks_);
  for (auto &r : s.ranks) {
    r.under_way.resize(tanks_);
    r.landed.resize(tanks_);
    r.levels.resize(paths_ * (tanks_ + 1));
  }
  s.between.resize(ranks_ * ranks_);
  return s;
}

std::vector<happening> reuse_model::next(const state &s) const {
  std::vector<happening> out;
  for (std::size_t from = 0; from < ranks_; ++from)
    for (std::size_t to = 0; to < ranks_; ++to) {
      bool writes = false; // before it, on the same way
      const auto &q = s.between[queue(from, to)];
      for (std::size_t i = 0; i < q.size(); ++i) {
        const bool moves = views_[q[i].work].lands_as >= 0;
        if (moves || !writes)
          out.push_back({false, static_cast<std::uint16_t>(from), static_cast<std::uint16_t>(to),
                         static_cast<std::uint16_t>(i)});
        writes |= moves;
        if (w_.how().ordered)
          break;
      }
    }
  for (std::size_t r = 0; r < ranks_; ++r)
    if (s.ranks[r].started == s.ranks[r].completed && s.ranks[r].started < options_.epochs)
      out.push_back({true, static_cast<std::uint16_t>(r), static_cast<std::uint16_t>(r), 0});
  return out;
}

std::string reuse_model::apply(state &s, const happening &h, std::vector<std::string> *log) const {
  return h.start ? start(s, h.source, log) : arrive(s, h, log);
}

std::string reuse_model::start(state &s, std::size_t rank, std::vector<std::string> *log) const {
  rank_state &r = s.ranks[rank];
  ++r.started;
  r.fired = 0;
  r.finished = 0;
  for (std::size_t p = 0; p < paths_; ++p)
    r.levels[paths_ * tanks_ + p] = 0;
  for (const tank &t : w_.schedule(static_cast<std::int64_t>(rank)).tanks)
    r.levels[counter(t.id, turn(r.started))] +=
        t.start + (r.started <= w_.how().ahead ? t.told : 0);
  if (log != nullptr)
    log->push_back("rank " + std::to_string(rank) + " starts epoch " + std::to_string(r.started));
  if (r.under_way[turn(r.started)] > 0)
    return "rank " + std::to_string(rank) + " starts epoch " + std::to_string(r.started) +
           " in memory that is still being sent";
  return settle(s, rank, log);
}

std::string reuse_model::arrive(state &s, const happening &h, std::vector<std::string> *log) const {
  auto &q = s.between[queue(h.source, h.target)];
  const item i = q[h.place];
  q.erase(q.begin() + h.place);
  const work_view &v = views_[i.work];
  const work &d = w_.at(i.work);
  rank_state &r = s.ranks[h.target];
  std::string line = w_.name(i.work) + " of epoch " + std::to_string(i.epoch) + " arrives";
  if (v.adds) {
    std::uint64_t &level =
        r.levels[v.raises +
                 (d.target.what == counter_id::role::tank ? turn(i.epoch + d.ahead) : 0)];
    line += ": " + signed_text(level) + (signed_text(d.value)[0] == '-' ? " " : " +") +
            signed_text(d.value) + " = " + signed_text(level + d.value);
    level += d.value;
  }
  if (log != nullptr)
    log->push_back(line);
  if (d.what == operation::write || d.what == operation::atomic) {
    rank_state &own = s.ranks[h.source];
    --own.under_way[turn(i.epoch)];
    if (d.completion.what == counter_id::role::deliveries)
      ++own.levels[counter(d.completion, 0)];
  }
  if (v.lands_as >= 0)
    if (std::string wrong = land(r, i, h.target); !wrong.empty())
      return wrong;
  if (d.why == role::finish)
    ++r.finished;
  std::string wrong = settle(s, h.target, log);
  if (wrong.empty() && h.source != h.target)
    wrong = settle(s, h.source, log); // its transfer is complete
  return wrong;
}

// Into the caller's buffers, in their epoch alone; or into memory that takes turns, once it is
// free.
std::string reuse_model::land(rank_state &r, const item &i, std::size_t rank) const {
  const bool free = w_.how().landing ? r.completed + tanks_ >= i.epoch : r.started == i.epoch;
  if (!free || r.completed >= i.epoch)
    return w_.name(i.work) + " of epoch " + std::to_string(i.epoch) + " lands at rank " +
           std::to_string(rank) + ", which " +
           (r.completed == r.started ? "has completed epoch " : "is in epoch ") +
           std::to_string(r.started);
  if (r.started < i.epoch && r.under_way[turn(i.epoch)] > 0)
    return w_.name(i.work) + " of epoch " + std::to_string(i.epoch) + " lands at rank " +
           std::to_string(rank) + " in memory that is still being sent";
  r.landed[turn(i.epoch)] |= std::uint64_t{1} << views_[i.work].lands_as;
  return {};
}

std::string reuse_model::settle(state &s, std::size_t rank, std::vector<std::string> *log) const {
  std::string wrong = fire(s, rank, log);
  return wrong.empty() ? complete(s, rank, log) : wrong;
}

std::string reuse_model::fire(state &s, std::size_t rank, std::vector<std::string> *log) const {
  rank_state &r = s.ranks[rank];
  if (r.started == r.completed)
    return {};
  const work_number begin = w_.first(static_cast<std::int64_t>(rank));
  const std::size_t count = w_.schedule(static_cast<std::int64_t>(rank)).works.size();
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < count; ++i) {
      const auto k = static_cast<work_number>(begin + i);
      const work &d = w_.at(k);
      const work_view &v = views_[k];
      const bool tank = d.trigger.what == counter_id::role::tank;
      if ((r.fired >> i & 1) != 0 ||
          r.levels[v.trigger + (tank ? turn(r.started) : 0)] < d.threshold)
        continue;
      r.fired |= std::uint64_t{1} << i;
      more = true;
      if (log != nullptr)
        log->push_back("    fires " + w_.name(k));
      if ((v.needed & ~r.landed[turn(r.started)]) != 0)
        return w_.name(k) + " fires in epoch " + std::to_string(r.started) +
               " before the data have come that it hands on";
      if (v.local)
        r.levels[v.raises + turn(r.started)] += d.value;
      else
        s.between[queue(rank, v.target)].push_back({static_cast<std::uint16_t>(k), r.started});
      if (d.what == operation::write || d.what == operation::atomic)
        ++r.under_way[turn(r.started)];
    }
  }
  return {};
}

bool reuse_model::is_complete(const rank_state &r, std::size_t rank) const {
  const auto &schedule = w_.schedule(static_cast<std::int64_t>(rank));
  const unsigned lag = w_.how().lag;
  if ((r.started > lag && r.under_way[turn(r.started - lag)] > 0) || r.finished < finishes_[rank] ||
      static_cast<std::size_t>(std::popcount(r.fired)) < schedule.works.size())
    return false;
  return finishes_[rank] > 0 || std::ranges::all_of(schedule.tanks, [&](const tank &t) {
           return r.levels[counter(t.id, turn(r.started))] >= t.full;
         });
}

std::string reuse_model::complete(state &s, std::size_t rank, std::vector<std::string> *log) const {
  rank_state &r = s.ranks[rank];
  if (r.started == r.completed || !is_complete(r, rank))
    return {};
  r.completed = r.started;
  if (log != nullptr)
    log->push_back("    rank " + std::to_string(rank) + " completes epoch " +
                   std::to_string(r.started));
  if (finishes_[rank] == 0)
    for (const tank &t : w_.schedule(static_cast<std::int64_t>(rank)).tanks)
      r.levels[counter(t.id, turn(r.started))] -= t.full;
  if (std::exchange(r.landed[turn(r.started)], 0) != all_data_[rank])
    return "rank " + std::to_string(rank) + " completes epoch " + std::to_string(r.started) +
           " before all its data have come";
  if (w_.source().what == collective::barrier)
    for (std::size_t other = 0; other < ranks_; ++other)
      if (s.ranks[other].started < r.started)
        return "rank " + std::to_string(rank) + " leaves barrier " + std::to_string(r.started) +
               " before rank " + std::to_string(other) + " has come";
  return {};
}

bool reuse_model::over(const state &s) const {
  return std::ranges::all_of(
      s.ranks, [this](const rank_state &r) { return r.completed == options_.epochs; });
}

std::string reuse_model::key(const state &s) const {
  std::string out;
  const auto put = [&out](const auto &v) {
    char bytes[sizeof v];
    std::memcpy(bytes, &v, sizeof v);
    out.append(bytes, sizeof v);
  };
  for (const rank_state &r : s.ranks) {
    put(r.started);
    put(r.completed);
    for (const std::uint8_t under_way : r.under_way)
      put(under_way);
    put(r.finished);
    put(r.fired);
    for (const std::uint64_t landed : r.landed)
      put(landed);
    for (const std::uint64_t level : r.levels)
      put(level);
  }
  for (const auto &q : s.between) {
    put(static_cast<std::uint8_t>(q.size()));
    for (const item &i : q) {
      put(i.work);
      put(i.epoch);
    }
  }
  return out;
}

} // namespace collc
