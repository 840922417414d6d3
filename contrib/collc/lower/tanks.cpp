// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The water tank: each path of a rank has a tank, into which whatever the rank waits for pours.
#include "collc/lower/lower.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace collc {

namespace {

constexpr event_kind last_slot = event_kind::delivered;

constexpr std::uint32_t own_ordinal(std::int64_t round) {
  return static_cast<std::uint32_t>(round);
}

class tank_lowering {
public:
  tank_lowering(compiler &c, const rank_program &p, const path_program &path, rank_schedule &out)
      : c_(c), how_(c.how()), p_(p), path_(path), plan_(p, path, c.how()), points_(p, c.how()),
        out_(out) {}

  void run() {
    made_.reserve(path_.receives.size() + 2 * path_.sends.size() + 2 * path_.combines.size() + 1);
    for (const auto &r : path_.receives)
      tell_ready(r);
    for (const auto &s : path_.sends)
      send(s);
    for (std::uint32_t i = 0; i < path_.combines.size(); ++i)
      combine(i);
    for (const event &e : plan_.of().events)
      if (e.at.slot == event_kind::raise)
        raise(e);
    // What fires at the same level does so in the order of the rounds.
    order_.resize(made_.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::stable_sort(order_, {}, [this](std::uint32_t i) {
      const made &m = made_[i];
      return std::tuple(m.level, m.at, m.what.why == role::signal ? role::ready : m.what.why);
    });
    finish();
    move_out();
  }

private:
  struct made {
    std::uint64_t level; // of the tank, also where another counter is the trigger
    position at;
    work what;
  };

  [[nodiscard]] counter_id tank() const { return plan_.of().id; }
  [[nodiscard]] counter_id deliveries() const {
    return {counter_id::role::deliveries, path_.number, 0};
  }
  [[nodiscard]] std::uint64_t after_rounds(std::int64_t round) const {
    return plan_.level({round, last_slot});
  }

  work begin(std::uint64_t threshold, operation what, role why, std::int64_t round) const {
    work w;
    w.trigger = tank();
    w.target = tank();
    w.threshold = threshold;
    w.what = what;
    w.why = why;
    w.round = round;
    if (why == role::data && how_.wait_for_delivery)
      w.completion = deliveries();
    return w;
  }

  void put(position at, work w) { put(w.threshold, at, std::move(w)); }
  void put(std::uint64_t level, position at, work w) {
    w.real_round = points_.of(at.slot) > 0 && at.round > 0 ? points_.number(at) : 0;
    made_.push_back({level, at, std::move(w)});
  }

  // An addition to the tank of another rank, or the own one.
  void pour(std::uint64_t level, position at, work w, std::int64_t peer, event_kind what,
            std::uint32_t ordinal) {
    w.peer = peer;
    w.makes = {at.round, what};
    w.ordinal = ordinal;
    if (p_.rounds >= 0) { // no need to look at the peer: its rounds are the same
      w.value = bucket_of(p_, how_, w.makes);
    } else {
      const event there = c_.find(peer, path_.number, what, p_.rank, ordinal);
      w.value = there.weight;
      w.makes = there.at;
    }
    put(level, at, std::move(w));
  }

  void tell_ready(const receiving &r) {
    if (!r.has_data || p_.ready == readiness::never)
      return;
    const bool once = p_.ready == readiness::once;
    if (once && !told_.insert(r.peer).second)
      return;
    const std::int64_t round = once ? 0 : r.round;
    const std::uint64_t level =
        p_.ready == readiness::each ? after_rounds(r.after) : plan_.of().start;
    work w = begin(level, operation::remote_add, role::ready, round);
    w.ahead = how_.ahead;
    pour(level, {round, event_kind::ready}, std::move(w), r.peer, event_kind::ready, r.ordinal);
  }

  void send(const sending &s) {
    // What it waits for may be of its own round, but not that it is delivered itself.
    position when{s.after, s.after >= s.round ? event_kind::reduced : last_slot};
    if (s.has_data && p_.ready != readiness::never)
      when = std::max(when, {p_.ready == readiness::once ? 0 : s.round, event_kind::ready});
    const std::uint64_t level = plan_.level(when);
    const position at{s.round, event_kind::arrival};
    if (p_.ready == readiness::never && how_.counted_writes && !s.combines &&
        !how_.wait_for_delivery && s.pieces.size() <= 1 && c_.counts(s.peer, path_.number)) {
      counted_write(at, level, s);
      return;
    }
    for (const piece &m : s.pieces) {
      work w = begin(level, s.combines ? operation::atomic : operation::write, role::data, s.round);
      w.peer = s.peer;
      w.moved = m;
      w.ordinal = s.ordinal;
      w.makes = at;
      w.note = s.note;
      put(at, std::move(w));
      ++out_.transfers;
    }
    work w = begin(level, operation::remote_add, s.has_data ? role::end : role::signal, s.round);
    w.note = s.note;
    if (how_.wait_for_delivery && s.has_data) {
      // Once the data of this round, and of all before it, have been delivered.
      w.trigger = deliveries();
      w.threshold = delivered_with(s.round);
      if (delivering_.insert(s.round).second)
        tell_delivered(level, s.round, w.threshold);
    }
    pour(level, at, std::move(w), s.peer, event_kind::arrival, s.ordinal);
  }

  void counted_write(position at, std::uint64_t level, const sending &s) {
    work w = begin(level, operation::write, s.has_data ? role::data : role::signal, s.round);
    w.peer = s.peer;
    const event there = c_.find(s.peer, path_.number, event_kind::arrival, p_.rank, s.ordinal);
    w.value = there.weight;
    w.makes = there.at;
    if (!s.pieces.empty())
      w.moved = s.pieces.front();
    w.ordinal = s.ordinal;
    w.note = s.note;
    put(at, std::move(w));
    ++out_.transfers;
  }

  [[nodiscard]] std::uint64_t delivered_with(std::int64_t round) const {
    std::uint64_t writes = 0;
    for (const auto &s : path_.sends)
      if (s.round <= round)
        writes += s.pieces.size();
    return writes;
  }

  void tell_delivered(std::uint64_t level, std::int64_t round, std::uint64_t threshold) {
    work w = begin(threshold, operation::local_add, role::delivered, round);
    w.trigger = deliveries();
    w.value = plan_.find(event_kind::delivered, p_.rank, own_ordinal(round)).weight;
    w.makes = {round, event_kind::delivered};
    put(level, {round, event_kind::delivered}, std::move(w));
  }

  void combine(std::uint32_t i) {
    const combining &c = path_.combines[i];
    const std::uint64_t level = plan_.level({c.round, event_kind::arrival});
    const position at{c.round, event_kind::reduced};
    if (c.what.from.length > 0) {
      work w = begin(level, operation::atomic, role::reduce, c.round);
      w.peer = p_.rank;
      w.moved = c.what;
      w.makes = at;
      put(at, std::move(w));
      ++out_.transfers;
    }
    if (i + 1 == path_.combines.size() || path_.combines[i + 1].round != c.round) {
      work w = begin(level, operation::remote_add, role::reduced, c.round);
      w.peer = p_.rank;
      w.makes = at;
      w.value = plan_.find(event_kind::reduced, p_.rank, own_ordinal(c.round)).weight;
      put(at, std::move(w));
    }
  }

  void raise(const event &e) {
    work w = begin(plan_.level({e.at.round, event_kind::arrival}), operation::local_add,
                   role::raise, e.at.round);
    w.value = e.weight;
    w.makes = e.at;
    put(e.at, std::move(w));
  }

  // Of the tanks whose senders have to be told, the schedule takes the level back itself.
  void finish() {
    const std::uint64_t full = plan_.of().full;
    if (p_.ready == readiness::never && !p_.barrier)
      return;
    work w = begin(full, operation::remote_add, role::finish, 0);
    w.peer = p_.rank;
    w.value = 0 - full;
    w.real_round = p_.rounds >= 0 ? p_.rounds * points_.each() + 1 : 0;
    order_.push_back(static_cast<std::uint32_t>(made_.size()));
    made_.push_back({full, {}, std::move(w)}); // the last, whatever fires at its level
  }

  void move_out() {
    out_.tanks.push_back(plan_.of());
    out_.counters.push_back(tank());
    for (unsigned turn = 1; turn < how_.tanks; ++turn)
      out_.counters.push_back({counter_id::role::tank, path_.number, turn});
    if (!delivering_.empty())
      out_.counters.push_back(deliveries());
    out_.works.reserve(out_.works.size() + made_.size());
    for (const std::uint32_t i : order_)
      out_.works.push_back(std::move(made_[i].what));
  }

  compiler &c_;
  const lowering &how_;
  const rank_program &p_;
  const path_program &path_;
  tank_plan plan_;
  check_points points_;
  rank_schedule &out_;
  std::vector<made> made_;
  std::vector<std::uint32_t> order_; // in which they fire
  std::set<std::int64_t> told_, delivering_;
};

} // namespace

rank_schedule lower_to_tanks(compiler &c, const rank_program &p) {
  rank_schedule out;
  out.rank = p.rank;
  out.barrier = p.barrier;
  out.single_source = p.ready == readiness::never && !p.barrier;
  for (const auto &path : p.paths)
    tank_lowering(c, p, path, out).run();
  return out;
}

} // namespace collc
