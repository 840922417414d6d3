// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/collc/slow_simulation.h"

#include "collc/simulate/outline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

using namespace collc;

namespace {

struct message {
  picoseconds time;
  std::int64_t to;
  std::size_t channel; // among those that the receiver's text names
  std::uint32_t number;
  int kind;
  std::uint64_t size;
  std::int64_t from, path;
  std::uint64_t value; // added to the receiver's tank
  [[nodiscard]] auto order() const { return std::tuple(time, to, channel, number, kind, size); }
  bool operator<(const message &o) const { return order() < o.order(); }
};

struct rank_state {
  picoseconds send_free = 0, receive_free = 0, cpu_free = 0, done = 0;
  std::vector<channel_key> channels;
};

class slow_model {
public:
  slow_model(const compiler &c, const loggops &how) : how_(how), c_(c) {
    const uniform_loops loops(c.source());
    for (std::int64_t rank = 0; rank < c.asked().ranks; ++rank) {
      programs_.push_back(c.program(rank));
      states_.emplace_back();
      states_.back().channels = outline_of(c.source(), loops, c.asked(), rank).channels;
    }
  }
  virtual ~slow_model() = default;

  std::vector<picoseconds> run() {
    for (const auto &p : programs_)
      start(p.rank);
    while (!queue_.empty()) {
      const message m = *queue_.begin();
      queue_.erase(queue_.begin());
      rank_state &s = state(m.to);
      const picoseconds come = std::max(m.time, s.receive_free);
      const picoseconds there = come + port(on_wire(m));
      s.receive_free = there + ps(how_.gap);
      take(m, there);
    }
    std::vector<picoseconds> all;
    for (const auto &p : programs_) {
      const rank_state &s = state(p.rank);
      all.push_back(std::max(s.done, s.cpu_free) + copy(p.finish));
    }
    return all;
  }

protected:
  virtual void start(std::int64_t rank) = 0;
  virtual void take(const message &m, picoseconds there) = 0;
  [[nodiscard]] virtual std::uint64_t on_wire(const message &m) const { return m.size; }

  static picoseconds ps(double ns) { return static_cast<picoseconds>(std::llround(ns * 1000)); }
  [[nodiscard]] picoseconds port(std::uint64_t size) const {
    return ps(how_.gap_per_byte * static_cast<double>(std::max<std::uint64_t>(size, 1) - 1));
  }
  [[nodiscard]] picoseconds cpu(std::uint64_t size) const {
    return ps(how_.overhead_per_byte * static_cast<double>(std::max<std::uint64_t>(size, 1) - 1));
  }
  [[nodiscard]] picoseconds copy(const std::vector<piece> &pieces) const {
    return cpu(bytes_of(pieces));
  }

  rank_state &state(std::int64_t rank) { return states_[static_cast<std::size_t>(rank)]; }
  const rank_program &program(std::int64_t rank) {
    return programs_[static_cast<std::size_t>(rank)];
  }

  picoseconds leave(std::int64_t rank, picoseconds ready, std::uint64_t size) {
    rank_state &s = state(rank);
    const picoseconds at = std::max(ready, s.send_free);
    s.send_free = at + port(size) + ps(how_.gap);
    s.done = std::max(s.done, at + port(size));
    return at;
  }

  void post(message m, picoseconds ready) {
    const auto &theirs = state(m.to).channels;
    m.channel = static_cast<std::size_t>(
        std::ranges::find(theirs, channel_key{static_cast<std::uint32_t>(m.from),
                                              static_cast<std::uint32_t>(m.path)}) -
        theirs.begin());
    m.time = leave(m.from, ready, on_wire(m)) + ps(how_.latency);
    queue_.insert(m);
  }

  loggops how_;
  const compiler &c_;

private:
  std::vector<rank_program> programs_;
  std::vector<rank_state> states_;
  std::multiset<message> queue_;
};

class slow_triggered_model : public slow_model {
public:
  slow_triggered_model(compiler &c, const loggops &how)
      : slow_model(c, how), schedules_(unit::schedules(c)) {}

private:
  enum { ready, part, arrival };
  struct tank_state {
    std::uint64_t level = 0;
    picoseconds time = 0;
    std::size_t next = 0; // of the rank's works of this path
  };

  void start(std::int64_t rank) override {
    const auto &s = schedules_[static_cast<std::size_t>(rank)];
    const picoseconds now = copy(program(rank).start) + (s.tanks.empty() ? 0 : ps(how_.overhead));
    state(rank).done = now;
    for (const tank &t : s.tanks) {
      tanks_[{rank, t.id.path}].time = now;
      fire(rank, t.id.path);
    }
  }

  void take(const message &m, picoseconds there) override {
    if (m.value == 0)
      return;
    tank_state &t = tanks_[{m.to, m.path}];
    t.level += m.value;
    t.time = std::max(t.time, there);
    fire(m.to, m.path);
  }

  void fire(std::int64_t rank, std::int64_t path) {
    std::vector<const work *> works;
    for (const work &w : schedules_[static_cast<std::size_t>(rank)].works)
      if (w.trigger.path == path)
        works.push_back(&w);
    tank_state &t = tanks_[{rank, path}];
    picoseconds combined = 0;
    for (; t.next < works.size() && works[t.next]->threshold <= t.level; ++t.next) {
      const work &w = *works[t.next];
      const picoseconds when = t.time + ps(how_.fire);
      const std::uint64_t size = std::max<std::uint64_t>(w.moved.from.length, 1);
      if (w.why == role::finish)
        continue;
      if (w.why == role::reduce) {
        combined = leave(rank, when, size) + port(size);
      } else if (w.why == role::reduced) {
        t.time = std::max(when, combined);
        t.level += w.value;
      } else {
        const int kind = w.why == role::ready ? ready : w.value == 0 ? part : arrival;
        post({0, w.peer, 0, w.ordinal, kind, size, rank, path, w.value}, when);
      }
    }
    state(rank).done = std::max(state(rank).done, t.time);
  }

  std::vector<rank_schedule> schedules_;
  std::map<std::pair<std::int64_t, std::int64_t>, tank_state> tanks_; // by rank and path
};

class slow_driven_model : public slow_model {
public:
  using slow_model::slow_model;

private:
  enum { arrival, request, answer, data };
  // What a path's CPU has to do, in this order, when all that stands up to `need` has come.
  struct step {
    position need, at;
    const sending *s = nullptr;
    const receiving *r = nullptr;
    const combining *c = nullptr;
    bool last = false; // of a round's combinations
  };
  struct path_state {
    std::vector<step> steps;       // not done yet
    std::vector<position> missing; // what is still to come
  };
  using key = std::pair<std::int64_t, std::int64_t>; // rank, path
  using message_key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::uint32_t>;

  [[nodiscard]] bool by_rendezvous(std::uint64_t bytes) const {
    return std::max<std::uint64_t>(bytes, 1) >= static_cast<std::uint64_t>(how_.rendezvous);
  }
  [[nodiscard]] std::uint64_t on_wire(const message &m) const override {
    return m.kind == request || m.kind == answer ? 1 : m.size;
  }

  void start(std::int64_t rank) override {
    const rank_program &p = program(rank);
    state(rank).cpu_free = copy(p.start);
    for (const auto &path : p.paths) {
      path_state &s = paths_[{rank, path.number}];
      for (const auto &r : path.receives) {
        s.missing.push_back({r.round, event_kind::arrival});
        if (by_rendezvous(bytes_of(r.places)))
          s.steps.push_back({{p.ready == readiness::each ? r.after : -1, event_kind::delivered},
                             {r.round, event_kind::ready},
                             nullptr,
                             &r});
      }
      for (const auto &m : path.sends)
        s.steps.push_back({{m.after, event_kind::delivered}, {m.round, event_kind::arrival}, &m});
      for (std::size_t i = 0; i < path.combines.size(); ++i) {
        const auto &c = path.combines[i];
        const bool last = i + 1 == path.combines.size() || path.combines[i + 1].round != c.round;
        s.steps.push_back({{c.round, event_kind::arrival},
                           {c.round, event_kind::reduced},
                           nullptr,
                           nullptr,
                           &c,
                           last});
        if (last)
          s.missing.push_back({c.round, event_kind::reduced});
      }
    }
    for (const auto &path : p.paths)
      proceed(rank, path.number, state(rank).cpu_free);
  }

  picoseconds use_cpu(std::int64_t rank, picoseconds ready, std::uint64_t size) {
    rank_state &s = state(rank);
    return s.cpu_free = std::max(s.cpu_free, ready) + ps(how_.overhead) + cpu(size);
  }

  void send(message m, picoseconds now) { post(m, use_cpu(m.from, now, on_wire(m))); }

  void take(const message &m, picoseconds there) override {
    const picoseconds now = use_cpu(m.to, there, on_wire(m));
    const message back{0,      m.from, 0,      m.number, m.kind == request ? answer : data,
                       m.size, m.to,   m.path, 0};
    if (m.kind == request) {
      if (!halves_.insert({m.to, m.path, m.from, m.number}).second)
        send(back, now);
      return;
    }
    if (m.kind == answer) {
      send(back, now);
      return;
    }
    for (const auto &path : program(m.to).paths)
      if (path.number == m.path)
        for (const auto &r : path.receives)
          if (r.peer == m.from && r.ordinal == m.number)
            come(m.to, m.path, {r.round, event_kind::arrival});
    proceed(m.to, m.path, now);
  }

  void come(std::int64_t rank, std::int64_t path, position what) {
    auto &missing = paths_[{rank, path}].missing;
    missing.erase(std::ranges::find(missing, what));
  }

  // The first by what it needs, then by round and kind, then by the text.
  void proceed(std::int64_t rank, std::int64_t path, picoseconds now) {
    path_state &s = paths_[{rank, path}];
    // Needs are the same where nothing is missing between them.
    const auto needed = [&](const step &x) {
      std::vector<position> all;
      for (const auto &p : program(rank).paths)
        if (p.number == path) {
          for (const auto &r : p.receives)
            all.push_back({r.round, event_kind::arrival});
          for (std::size_t i = 0; i < p.combines.size(); ++i)
            if (i + 1 == p.combines.size() || p.combines[i + 1].round != p.combines[i].round)
              all.push_back({p.combines[i].round, event_kind::reduced});
        }
      return std::ranges::count_if(all, [&](position e) { return e <= x.need; });
    };
    for (;;) {
      auto best = s.steps.end();
      for (auto x = s.steps.begin(); x != s.steps.end(); ++x) {
        if (std::ranges::any_of(s.missing, [&](position e) { return e <= x->need; }))
          continue;
        if (best == s.steps.end() ||
            std::tuple(needed(*x), x->at) < std::tuple(needed(*best), best->at))
          best = x;
      }
      if (best == s.steps.end())
        return;
      const step x = *best;
      s.steps.erase(best);
      act(rank, path, x, now);
    }
  }

  void act(std::int64_t rank, std::int64_t path, const step &x, picoseconds now) {
    if (x.r != nullptr) {
      if (!halves_.insert({rank, path, x.r->peer, x.r->ordinal}).second)
        send({0, x.r->peer, 0, x.r->ordinal, answer, bytes_of(x.r->places), rank, path, 0}, now);
    } else if (x.s != nullptr) {
      const std::uint64_t bytes = std::max<std::uint64_t>(bytes_of(x.s->pieces), 1);
      send({0, x.s->peer, 0, x.s->ordinal, by_rendezvous(bytes) ? request : arrival, bytes, rank,
            path, 0},
           now);
    } else {
      if (x.c->what.from.length > 0)
        use_cpu(rank, now, x.c->what.from.length);
      if (x.last)
        come(rank, path, {x.c->round, event_kind::reduced});
    }
  }

  std::map<key, path_state> paths_;
  std::set<message_key> halves_; // of rendezvous: asked for, or waited for
};

} // namespace

namespace unit {

std::vector<picoseconds> slow_triggered(compiler &c, const loggops &how) {
  return slow_triggered_model(c, how).run();
}

std::vector<picoseconds> slow_driven(compiler &c, const loggops &how) {
  return slow_driven_model(c, how).run();
}

} // namespace unit
