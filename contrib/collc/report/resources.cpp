// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/report/resources.h"

#include "collc/report/grid.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include <nlohmann/json.hpp>

namespace collc {

namespace {

class measurement {
public:
  explicit measurement(compiler &c) : c_(c) {}

  resources run() {
    for (std::int64_t rank = 0; rank < c_.asked().ranks; ++rank) {
      const rank_program p = c_.program(rank);
      add_messages(p);
      if (c_.how().landing)
        add_memory(p);
      add_works(c_.schedule(p));
    }
    // A broadcast's messages of one path are as good as one.
    const auto sets = single_source_ ? paths_ : static_cast<std::uint64_t>(out_.rounds);
    out_.prematched_counters = 3 * sets;
    return out_;
  }

private:
  void add_messages(const rank_program &p) {
    std::set<std::int64_t> rounds;
    std::uint64_t bytes = 0, arrivals = 0;
    for (const auto &path : p.paths) {
      for (const auto &s : path.sends) {
        rounds.insert(s.round);
        ++out_.all_messages;
        bytes += bytes_of(s.pieces);
      }
      for (const auto &r : path.receives) {
        rounds.insert(r.round);
        arrivals += r.has_data || p.barrier ? 1 : 0;
      }
    }
    out_.all_bytes += bytes;
    out_.bytes = std::max(out_.bytes, bytes);
    out_.message_counters = std::max(out_.message_counters, arrivals);
    out_.rounds =
        std::max(out_.rounds, p.rounds >= 0 ? p.rounds : static_cast<std::int64_t>(rounds.size()));
    out_.real_rounds = std::max(out_.real_rounds, out_.rounds * check_points(p, c_.how()).each());
    paths_ = std::max<std::uint64_t>(paths_, p.paths.size());
  }

  void add_memory(const rank_program &p) {
    const std::uint64_t each =
        std::accumulate(p.sizes.begin() + first_scratch, p.sizes.end(), std::uint64_t{0});
    out_.landing_bytes = std::max(out_.landing_bytes, c_.how().tanks * each);
  }

  void add_works(const rank_schedule &s) {
    single_source_ |= s.single_source;
    std::uint64_t tanks = s.tanks.size();
    if (tanks == 0)
      tanks = s.counters.size(); // pre-matched
    out_.counters = std::max(out_.counters, tanks);
    out_.reusable_counters =
        std::max<std::uint64_t>(out_.reusable_counters, std::max(2u, c_.how().tanks) * tanks);
    out_.works = std::max<std::uint64_t>(out_.works, s.works.size());
    out_.all_works += s.works.size();
    out_.windows = std::max(out_.windows, s.windows);
    for (const tank &t : s.tanks)
      out_.level_bits = std::max(out_.level_bits, static_cast<unsigned>(std::bit_width(t.full)));
  }

  compiler &c_;
  resources out_;
  std::uint64_t paths_ = 0;
  bool single_source_ = false;
};

} // namespace

resources measure(compiler &c) { return measurement(c).run(); }

std::string resources_text(const compiler &c, const resources &r) {
  grid g;
  g.columns = {{c.source().file}, {std::to_string(c.asked().ranks) + " ranks", true}, {""}};
  const auto row = [&](const char *what, std::uint64_t value, std::string note = {}) {
    g.rows.push_back({what, std::to_string(value), std::move(note)});
  };
  row("rounds", static_cast<std::uint64_t>(r.rounds));
  row("R", static_cast<std::uint64_t>(r.real_rounds), "check points of all rounds");
  if (c.how().how == scheme::water_tank) {
    row("counters", r.counters, "water tanks of a rank");
    row("for reuse", r.reusable_counters,
        c.how().tanks > 2 ? "used in turn, " + std::to_string(c.how().tanks) + " epochs"
                          : "used in turn, by epoch parity");
    row("level", r.level_bits, "bits of a counter");
  } else {
    row("counters", r.counters, "of a rank");
  }
  row("pre-matched", r.prematched_counters, "counters, 3 for each round or path");
  row("per message", r.message_counters, "counters, one for each message that a rank gets");
  row("works", r.works, "deferred works, of the rank with the most");
  if (r.windows > 1)
    row("windows", r.windows, "in which they are queued");
  if (c.how().landing)
    row("landing", r.landing_bytes, "bytes, of the rank with the most memory for what comes");
  row("bytes", r.bytes, "sent by the rank that sends most");
  row("all works", r.all_works, "of all ranks");
  row("all messages", r.all_messages);
  row("all bytes", r.all_bytes);
  return text_of(g);
}

nlohmann::json resources_json(const compiler &c, const resources &r) {
  return {{"algorithm", c.source().file},
          {"ranks", c.asked().ranks},
          {"scheme", c.how().how == scheme::water_tank ? "watertank" : "prematched"},
          {"rounds", r.rounds},
          {"real_rounds", r.real_rounds},
          {"counters", r.counters},
          {"reusable_counters", r.reusable_counters},
          {"prematched_counters", r.prematched_counters},
          {"message_counters", r.message_counters},
          {"level_bits", r.level_bits},
          {"works", r.works},
          {"windows", r.windows},
          {"landing_bytes", r.landing_bytes},
          {"bytes", r.bytes},
          {"all_works", r.all_works},
          {"all_messages", r.all_messages},
          {"all_bytes", r.all_bytes}};
}

} // namespace collc
