// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Pre-matched, for comparison: each round has counters of its own, so that what comes is known by
// the counter that it raises. "data" of a round counts what arrives, and once more when the round
// before is over; "ready" counts peers that may be written to, and the same; "sent" counts what has
// left.
#include "collc/lower/lower.h"

#include <algorithm>
#include <map>
#include <utility>

namespace collc {

namespace {

class prematched_lowering {
public:
  prematched_lowering(compiler &c, const rank_program &p, const path_program &path,
                      rank_schedule &out)
      : c_(c), p_(p), path_(path), out_(out) {}

  void run() {
    for (const auto &s : path_.sends)
      rounds_[s.round].sends.push_back(&s);
    for (const auto &r : path_.receives)
      rounds_[r.round].receives.push_back(&r);
    for (const auto &k : path_.combines)
      rounds_[k.round].combines.push_back(&k);
    for (const auto &[number, r] : rounds_) {
      tell_ready(number, r);
      if (!r.receives.empty() || !r.combines.empty())
        close(number, r);
      for (const auto what :
           {counter_id::role::ready, counter_id::role::data, counter_id::role::sent})
        out_.counters.push_back(id(what, number));
    }
    for (const auto &[number, r] : rounds_)
      send(number, r);
    std::ranges::stable_sort(out_.works, {},
                             [](const work &w) { return std::pair(w.trigger.path, w.round); });
  }

private:
  struct parts {
    std::vector<const sending *> sends;
    std::vector<const receiving *> receives;
    std::vector<const combining *> combines;
  };
  // A counter that stands at `count` when all rounds so far are over; count 0: from the start.
  struct state {
    counter_id counter;
    std::uint64_t count = 0;
  };

  counter_id id(counter_id::role what, std::int64_t round) const {
    return {what, path_.number, round};
  }

  work begin(const state &when, operation what, role why, std::int64_t round) const {
    work w;
    w.trigger = when.counter;
    w.threshold = when.count;
    w.what = what;
    w.why = why;
    w.round = w.real_round = round;
    return w;
  }

  // The state once all rounds up to there are over.
  state after(std::int64_t round) const {
    const auto next = over_.upper_bound(round);
    return next == over_.begin() ? state{id(counter_id::role::data, 0), 0}
                                 : std::prev(next)->second;
  }

  void chain(const state &from, counter_id to, std::int64_t round) {
    work w = begin(from, operation::local_add, role::chain, round);
    w.value = 1;
    w.target = to;
    out_.works.push_back(w);
  }

  void add(const state &when, role why, std::int64_t round, std::int64_t peer, counter_id target,
           std::uint32_t ordinal, const std::string &note) {
    work w = begin(when, operation::remote_add, why, round);
    w.peer = peer;
    w.value = 1;
    w.target = target;
    w.ordinal = ordinal;
    w.note = note;
    out_.works.push_back(std::move(w));
  }

  void tell_ready(std::int64_t number, const parts &r) {
    for (const receiving *m : r.receives)
      if (m->has_data && p_.ready != readiness::never) {
        const std::int64_t there = c_.round_of_sending(m->peer, path_.number, p_.rank, m->ordinal);
        add(p_.ready == readiness::each ? after(m->after) : state{after(0).counter, 0}, role::ready,
            number, m->peer, id(counter_id::role::ready, there), m->ordinal, m->note);
      }
  }

  void send(std::int64_t number, const parts &r) {
    std::uint64_t told = 0;
    std::int64_t latest = 0;
    for (const sending *s : r.sends)
      if (s->has_data && p_.ready != readiness::never) {
        ++told;
        latest = std::max(latest, s->after);
      }
    const counter_id ready = id(counter_id::role::ready, number);
    const state before = after(latest);
    if (told > 0 && before.count > 0)
      chain(before, ready, number);
    const state all_told{ready, told + (before.count > 0 ? 1 : 0)};
    for (const sending *s : r.sends) {
      const state when = told > 0 && s->has_data ? all_told : after(s->after);
      write(*s, when, number);
      const std::int64_t there = c_.round_of_receiving(s->peer, path_.number, p_.rank, s->ordinal);
      add(when, s->has_data ? role::end : role::signal, number, s->peer,
          id(counter_id::role::data, there), s->ordinal, s->note);
    }
  }

  void write(const sending &s, const state &when, std::int64_t number) {
    for (const piece &m : s.pieces) {
      work w = begin(when, s.combines ? operation::atomic : operation::write, role::data, number);
      w.peer = s.peer;
      w.moved = m;
      w.completion = id(counter_id::role::sent, number);
      w.makes = {number, event_kind::arrival};
      w.ordinal = s.ordinal;
      out_.works.push_back(std::move(w));
      ++out_.transfers;
    }
  }

  void close(std::int64_t number, const parts &r) {
    const counter_id data = id(counter_id::role::data, number);
    const state before = after(number - 1);
    state now{data, r.receives.size()};
    if (before.count > 0) {
      chain(before, data, number);
      ++now.count;
    }
    for (const combining *k : r.combines) {
      work w = begin(now, operation::atomic, role::reduce, number);
      w.peer = p_.rank;
      w.moved = k->what;
      out_.works.push_back(std::move(w));
      ++out_.transfers;
    }
    if (!r.combines.empty()) {
      add(now, role::reduced, number, p_.rank, data, 0, {});
      ++now.count;
    }
    over_[number] = now;
  }

  compiler &c_;
  const rank_program &p_;
  const path_program &path_;
  rank_schedule &out_;
  std::map<std::int64_t, parts> rounds_;
  std::map<std::int64_t, state> over_;
};

} // namespace

rank_schedule lower_prematched(compiler &c, const rank_program &p) {
  rank_schedule out;
  out.rank = p.rank;
  for (const auto &path : p.paths)
    prematched_lowering(c, p, path, out).run();
  return out;
}

} // namespace collc
