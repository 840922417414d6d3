// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/simulate/engine.h"

#include "collc/lang/error.h"
#include "collc/simulate/sort_by_receiver.h"
#include "collc/simulate/window_queue.h"

#include <algorithm>
#include <bit>
#include <string>
#include <tuple>
#include <utility>

namespace collc {

namespace {

// A message whose first byte reaches its receiver.
struct coming {
  enum class kind : std::uint8_t {
    ready,   // RTR
    part,    // of a message that is not known to be there yet
    arrival, // the message, or what says that it is there
    request, // for a message by rendezvous, of `size`
    answer,
    data // by rendezvous
  };
  picoseconds time = 0;
  std::uint32_t to = 0;      // where the receiver's state lies
  std::uint32_t channel = 0; // of the receiver's
  std::uint32_t number = 0;  // of the message on the channel
  std::uint32_t size : 24 = 0;
  std::uint32_t what : 8 = 0;

  [[nodiscard]] kind kind_of() const { return static_cast<kind>(what); }
  [[nodiscard]] auto order() const {
    return std::tuple(time, channel, number, std::uint32_t{what}, std::uint32_t{size});
  }
};
static_assert(sizeof(coming) == 24);

template <progress how> class engine {
public:
  engine(const cast &c, const costs &cost)
      : cast_(c), cost_(cost), queue_(width(cost)), begin_(std::size_t{c.ranks()} + 1) {
    for (std::uint32_t rank = 0; rank < c.ranks(); ++rank) {
      const part &p = c.part_of(rank);
      const std::size_t size = (std::size_t{p.of(how).words} + line - 1) / line;
      if (size > ~std::uint32_t{0} - begin_[rank])
        throw limit_error("the state of the ranks takes more than 256 GiB");
      begin_[rank + 1] = begin_[rank] + static_cast<std::uint32_t>(size);
    }
    lines_.resize(begin_.back());
    for (std::uint32_t rank = 0; rank < c.ranks(); ++rank)
      introduce(rank);
  }

  run_result run() {
    for (std::uint32_t rank = 0; rank < cast_.ranks(); ++rank)
      start(view_of(begin_[rank]));
    std::vector<coming> window, room;
    while (queue_.take(window)) {
      sort_by_receiver(window, room, begin_.back());
      constexpr std::size_t ahead = 12;
      for (std::size_t i = 0; i < window.size(); ++i) {
        // Here, as GCC takes a function that does no more than this for one that does nothing.
        if (i + ahead < window.size()) {
          const cache_line *const soon = &lines_[window[i + ahead].to];
          __builtin_prefetch(soon, 1);
          __builtin_prefetch(soon + 1, 1);
        }
        take(window[i]);
      }
    }
    return finish();
  }

private:
  static constexpr bool triggered = how == progress::triggered;

  // All that a rank has of its own is in one place, which begins with a line of the cache: its
  // state, and then its links, a word each.
  static constexpr std::size_t line = 8; // words
  struct alignas(64) cache_line {
    std::uint64_t words[line] = {};
  };

  // A rank that is about to do something.
  struct view {
    const part &p;
    const script &s;
    std::uint64_t *words;
  };
  struct far_end {
    std::uint32_t at, channel;
    bool counts;
  };

  static unsigned width(const costs &cost) {
    return static_cast<unsigned>(
               std::bit_width(cost.latency + (triggered ? cost.fire : 2 * cost.overhead))) -
           1;
  }

  [[nodiscard]] view view_of(std::uint32_t at) {
    std::uint64_t *const words = lines_[at].words;
    const part &p = cast_.parts()[words[state::part]];
    return {p, p.of(how), words};
  }

  void introduce(std::uint32_t rank) {
    std::uint64_t *const words = lines_[begin_[rank]].words;
    words[state::part] = cast_.of(rank).part;
    const part &p = cast_.part_of(rank);
    for (std::uint32_t i = 0; i < p.channels.size(); ++i) {
      const link &l = cast_.link_of(rank, i);
      words[p.of(how).links + i] =
          std::uint64_t{l.counts} << 63 | std::uint64_t{l.channel} << 32 | begin_[l.peer];
    }
  }
  [[nodiscard]] static far_end far_end_of(const view &v, std::uint32_t channel) {
    const std::uint64_t word = v.words[v.s.links + channel];
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32) & 0x7fffffff,
            word >> 63 != 0};
  }

  void start(const view &v) {
    picoseconds now = v.p.start > 0 ? cost_.cpu[v.p.start_size] : 0;
    if (triggered && !v.s.paths.empty())
      now += cost_.overhead;
    v.words[state::cpu_free] = now;
    for (const script::path &p : v.s.paths)
      proceed(v, p, {.level = 0, .next = p.begin & 0x7fffffff, .ahead = 0}, now);
  }

  void take(const coming &m) {
    const view v = view_of(m.to);
    const auto kind = m.kind_of();
    const bool bare = kind == coming::kind::request || kind == coming::kind::answer;
    const std::uint32_t size = bare ? message_sizes::signal : m.size;
    const picoseconds come = std::max(m.time, v.words[state::receive_free]);
    picoseconds there = come + cost_.port[size];
    v.words[state::receive_free] = there + cost_.gap;
    if constexpr (!triggered)
      there = use_cpu(v, there, size);
    const part::channel &c = v.p.channels[m.channel];
    switch (kind) {
    case coming::kind::ready:
      happen(v, c.path, v.s.ready_of[c.first_sent + m.number], there);
      break;
    case coming::kind::part:
      break;
    case coming::kind::arrival:
    case coming::kind::data:
      happen(v, c.path, v.s.arrival_of[c.first_received + m.number], there);
      break;
    case coming::kind::request:
      if (both(v, c.first_received + m.number))
        send(v, there, m.channel, m.number, m.size, coming::kind::answer);
      break;
    case coming::kind::answer:
      send(v, there, m.channel, m.number, m.size, coming::kind::data);
      break;
    }
  }

  // Whether a message has been both asked for and waited for, now that one of that has come.
  static bool both(const view &v, std::uint32_t received) {
    std::uint64_t &word = v.words[v.s.posted + received / 64];
    const std::uint64_t bit = std::uint64_t{1} << received % 64;
    return ((word ^= bit) & bit) == 0;
  }

  // How far a path is.
  struct position_in {
    std::uint32_t level;     // how many of its first events have come
    std::uint32_t next : 31; // action
    std::uint32_t ahead : 1; // events have come before others that stand before them
  };
  static position_in position_of(const view &v, const script::path &p) {
    return std::bit_cast<position_in>(v.words[p.level]);
  }

  void happen(const view &v, std::uint32_t path, std::uint32_t event, picoseconds now) {
    const script::path &p = v.s.paths[path];
    position_in at = position_of(v, p);
    if (event != at.level) {
      v.words[p.came + event / 64] |= std::uint64_t{1} << event % 64;
      at.ahead = 1;
      v.words[p.level] = std::bit_cast<std::uint64_t>(at);
      return;
    }
    raise(v, p, at);
    proceed(v, p, at, p.time != 0 ? std::max(now, v.words[p.time]) : now);
  }

  // Once its next event has come, as those after it may have.
  static void raise(const view &v, const script::path &p, position_in &at) {
    ++at.level;
    if (at.ahead != 0)
      while (at.level < p.events && (v.words[p.came + at.level / 64] >> at.level % 64 & 1) != 0)
        ++at.level;
  }

  // Does what has become possible.
  void proceed(const view &v, const script::path &p, position_in at, picoseconds now) {
    picoseconds combined = 0;
    while (at.next < p.end && v.s.actions[at.next].need <= at.level) {
      const action &a = v.s.actions[at.next++];
      if (a.what == action::kind::combine) {
        combined = combine(v, now, a.size);
      } else if (a.what == action::kind::combined) {
        now = std::max(triggered ? now + cost_.fire : now, combined);
        combined = 0;
        raise(v, p, at);
      } else {
        act(v, a, now);
      }
    }
    if (p.time != 0)
      v.words[p.time] = now;
    v.words[p.level] = std::bit_cast<std::uint64_t>(at);
    v.words[state::done] = std::max(v.words[state::done], now);
  }

  void act(const view &v, const action &a, picoseconds now) {
    switch (a.what) {
    case action::kind::tell_ready:
      send(v, now, a.channel, a.number, a.size, coming::kind::ready);
      break;
    case action::kind::write:
      send(v, now, a.channel, a.number, a.size,
           a.sole && far_end_of(v, a.channel).counts ? coming::kind::arrival : coming::kind::part);
      break;
    case action::kind::end:
      if (a.sole || !far_end_of(v, a.channel).counts)
        send(v, now, a.channel, a.number, a.size, coming::kind::arrival);
      break;
    case action::kind::post:
      if (both(v, v.p.channels[a.channel].first_received + a.number))
        send(v, now, a.channel, a.number, a.size, coming::kind::answer);
      break;
    case action::kind::send:
      send(v, now, a.channel, a.number, a.size, coming::kind::arrival);
      break;
    case action::kind::request:
      send(v, now, a.channel, a.number, a.size, coming::kind::request);
      break;
    case action::kind::combine:
    case action::kind::combined:
      break;
    }
  }

  picoseconds use_cpu(const view &v, picoseconds ready, std::uint32_t size) {
    picoseconds &free = v.words[state::cpu_free];
    return free = std::max(free, ready) + cost_.overhead + cost_.cpu[size];
  }

  // When it leaves.
  picoseconds use_port(const view &v, picoseconds ready, std::uint32_t size) {
    picoseconds &free = v.words[state::send_free];
    const picoseconds leave = std::max(free, ready), left = leave + cost_.port[size];
    if (left > costs::endless)
      throw error("a simulation of " + std::to_string(costs::endless / ps_of_a_day) +
                  " days or more can't be counted; the times are too long");
    free = left + cost_.gap;
    v.words[state::done] = std::max(v.words[state::done], left);
    return leave;
  }

  picoseconds combine(const view &v, picoseconds now, std::uint32_t size) {
    if constexpr (triggered)
      return use_port(v, now + cost_.fire, size) + cost_.port[size];
    else
      return use_cpu(v, now, size);
  }

  void send(const view &v, picoseconds now, std::uint32_t channel, std::uint32_t number,
            std::uint32_t size, coming::kind what) {
    const bool bare = what == coming::kind::request || what == coming::kind::answer;
    const std::uint32_t on_wire = bare ? message_sizes::signal : size;
    const picoseconds ready = triggered ? now + cost_.fire : use_cpu(v, now, on_wire);
    const far_end there = far_end_of(v, channel);
    ++messages_;
    queue_.push({use_port(v, ready, on_wire) + cost_.latency, there.at, there.channel, number, size,
                 static_cast<std::uint32_t>(what)});
  }

  run_result finish() {
    run_result out;
    out.messages = messages_;
    for (std::uint32_t rank = 0; rank < cast_.ranks(); ++rank) {
      const view v = view_of(begin_[rank]);
      for (std::uint32_t i = 0; i < v.s.paths.size(); ++i)
        expect_complete(v, rank, i);
      picoseconds done = std::max(v.words[state::done], v.words[state::cpu_free]);
      if (v.p.finish > 0)
        done += cost_.cpu[v.p.finish_size];
      out.done.push_back(done);
    }
    return out;
  }

  void expect_complete(const view &v, std::uint32_t rank, std::uint32_t path) const {
    const script::path &p = v.s.paths[path];
    const position_in at = position_of(v, p);
    if (at.level == p.events && at.next == p.end)
      return;
    for (std::uint32_t i = 0; i < v.p.channels.size(); ++i) {
      const part::channel &c = v.p.channels[i];
      for (std::uint32_t k = 0; c.path == path && k < c.received; ++k)
        if (v.s.arrival_of[c.first_received + k] == at.level)
          throw error("rank " + std::to_string(rank) + " waits for message " +
                      std::to_string(k + 1) + " of rank " +
                      std::to_string(cast_.link_of(rank, i).peer) +
                      ", which never comes; 'collc check' shows why");
    }
    throw error("rank " + std::to_string(rank) +
                " waits for a peer to be ready, which it never is; 'collc check' shows why");
  }

  static constexpr picoseconds ps_of_a_day = 86'400'000'000'000'000;
  const cast &cast_;
  const costs &cost_;
  window_queue<coming> queue_;
  std::vector<std::uint32_t> begin_; // where each rank's lines do
  std::vector<cache_line> lines_;
  std::uint64_t messages_ = 0;
};

} // namespace

run_result run(const cast &c, const costs &cost, progress how) {
  return how == progress::triggered ? engine<progress::triggered>(c, cost).run()
                                    : engine<progress::driven>(c, cost).run();
}

} // namespace collc
