// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/check/races.h"

#include <algorithm>

namespace collc {

namespace {

struct access {
  work_number by;
  range where;
  bool writes, combines;
};

bool overlap(const range &a, const range &b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}

bool conflict(const access &a, const access &b) {
  return (a.writes || b.writes) && !(a.combines && b.combines) && overlap(a.where, b.where);
}

// Of each rank's memory.
std::vector<std::vector<access>> accesses(const world &w) {
  std::vector<std::vector<access>> all(static_cast<std::size_t>(w.ranks()));
  for (work_number k = 0; k < w.works(); ++k) {
    const work &d = w.at(k);
    if (d.moved.from.length == 0)
      continue;
    const bool combines = d.what == operation::atomic;
    all[static_cast<std::size_t>(w.rank_of(k))].push_back({k, d.moved.from, false, false});
    all[static_cast<std::size_t>(d.peer)].push_back({k, d.moved.to(), true, combines});
  }
  return all;
}

std::string text_of(const world &w, const access &a) {
  return w.name(a.by) +
         (a.combines ? " combines with "
          : a.writes ? " writes "
                     : " reads ") +
         w.source().buffer_name(a.where.buffer) + '[' + std::to_string(a.where.offset) + ':' +
         std::to_string(a.where.length) + ']';
}

finding race(const world &w, std::int64_t rank, const access &a, const access &b) {
  const char *const what = a.writes && b.writes ? "are written to by two works at once"
                                                : "may be written to while they are read";
  return {"races",
          "bytes of " + w.source().buffer_name(a.where.buffer) + " of rank " +
              std::to_string(rank) + ' ' + what,
          {text_of(w, a), text_of(w, b), "neither waits until the other's data have arrived"}};
}

} // namespace

std::vector<finding> check_races(const world &w, const execution &run) {
  const auto all = accesses(w);
  for (std::int64_t rank = 0; rank < w.ranks(); ++rank) {
    const auto &here = all[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < here.size(); ++i) {
      if (here[i].writes && !w.how().landing && !run.after_start(here[i].by, rank))
        return {
            {"races",
             w.name(here[i].by) + " may come before rank " + std::to_string(rank) + " has started",
             {text_of(w, here[i]), "nothing that it waits for comes from rank " +
                                       std::to_string(rank) + ", directly or by others"}}};
      for (std::size_t j = 0; j < i; ++j)
        if (conflict(here[i], here[j]) && !run.moved_before(here[i].by, here[j].by) &&
            !run.moved_before(here[j].by, here[i].by))
          return {race(w, rank, here[j], here[i])};
    }
  }
  return {};
}

} // namespace collc
