// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Two things tell a rank S that rank R has completed an epoch, and with it emptied its memory and
// its tank:
// - S has completed its own epoch e, which it can't before R has started e: R has completed e - 1.
// - R, when it starts epoch e, tells S that it may write in epoch e + ahead.
#include "collc/check/landing.h"

#include <algorithm>

namespace collc {

namespace {

std::string turns(const world &w) {
  return std::to_string(w.how().tanks) + " tanks and as much memory are used in turn";
}

// S has been told by R itself.
bool told(const world &w, work_number k) {
  return std::ranges::any_of(w.counters()[w.trigger(k)].additions, [&](const addition &a) {
    return w.at(a.by).why == role::ready && w.rank_of(a.by) == w.at(k).peer && w.needs(k, a);
  });
}

// What is told for a later epoch comes while S is in the epoch before, or one after.
std::vector<finding> check_word(const world &w, const execution &run, work_number k) {
  const work &d = w.at(k);
  const std::int64_t rank = w.rank_of(k);
  if (!run.complete_after_start(rank, d.peer))
    return {{"landing",
             w.name(k) + " may come while rank " + std::to_string(d.peer) +
                 " is any number of epochs behind",
             {"nothing that comes to rank " + std::to_string(rank) + " comes from rank " +
              std::to_string(d.peer) + ", directly or by others"}}};
  if (d.ahead + 2 <= w.how().tanks)
    return {};
  return {{"landing",
           w.name(k) + " may come while rank " + std::to_string(d.peer) +
               " still waits for the same in an epoch before",
           {"it is for the epoch " + std::to_string(d.ahead) + " later", turns(w)}}};
}

// The end of data that is told once some are delivered, which have waited for R's word.
bool comes_after_data(const world &w, work_number k) {
  const work &d = w.at(k);
  if (d.trigger.what == counter_id::role::tank || d.threshold == 0)
    return false;
  const std::int64_t rank = w.rank_of(k);
  for (std::size_t i = 0; i < w.schedule(rank).works.size(); ++i) {
    const auto n = static_cast<work_number>(w.first(rank) + i);
    if (w.at(n).completion == d.trigger && w.at(n).peer == d.peer && told(w, n))
      return true;
  }
  return false;
}

std::vector<finding> check_data(const world &w, const execution &run, work_number k) {
  const std::int64_t rank = w.rank_of(k), peer = w.at(k).peer;
  const bool in_order = told(w, k) || comes_after_data(w, k); // and in time: see check_word
  // Its receiver has started the epoch so many before, at least.
  const unsigned before = in_order ? w.how().ahead : 1;
  if (w.how().tanks < before + w.how().lag + 1)
    return {
        {"landing",
         w.name(k) + " may come while rank " + std::to_string(peer) +
             " still sends what has come in an epoch before",
         {"that may last until it completes the epoch " + std::to_string(w.how().lag) + " later",
          turns(w)}}};
  if (in_order || run.complete_after_start(rank, peer))
    return {};
  return {{"landing",
           w.name(k) + " may come while rank " + std::to_string(peer) +
               " still needs what has come in an epoch before",
           {"nothing tells rank " + std::to_string(rank) + " that rank " + std::to_string(peer) +
                " has completed that epoch",
            turns(w)}}};
}

} // namespace

std::vector<finding> check_landing(const world &w, const execution &run) {
  if (!w.how().landing)
    return {};
  for (work_number k = 0; k < w.works(); ++k) {
    const work &d = w.at(k);
    if (d.peer < 0 || d.peer == w.rank_of(k))
      continue;
    auto found = d.why == role::ready                        ? check_word(w, run, k)
                 : d.why == role::data || d.why == role::end ? check_data(w, run, k)
                                                             : std::vector<finding>{};
    if (!found.empty())
      return found;
  }
  return {};
}

} // namespace collc
