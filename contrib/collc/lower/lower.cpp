// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lower/lower.h"

#include "collc/lang/error.h"
#include "collc/lower/landing.h"

#include <algorithm>
#include <utility>

namespace collc {

namespace {

[[noreturn]] void refuse_unmatched(std::int64_t from, std::int64_t to, std::uint32_t ordinal,
                                   bool sent) {
  throw match_error("message " + std::to_string(ordinal + 1) + " from rank " +
                    std::to_string(from) + " to rank " + std::to_string(to) + " is " +
                    (sent ? "sent, but not received" : "received, but not sent"));
}

template <typename List>
const typename List::value_type *find_message(const List &list, std::int64_t peer,
                                              std::uint32_t ordinal) {
  for (const auto &m : list)
    if (m.peer == peer && m.ordinal == ordinal)
      return &m;
  return nullptr;
}

} // namespace

compiler::compiler(const algorithm &a, const request &q, const lowering &how)
    : algorithm_(a), request_(q), how_(how) {
  check_request(a, q);
  const auto element = static_cast<std::int64_t>(how.combining.size);
  if ((a.what == collective::reduce || a.what == collective::allreduce) && q.bytes % element != 0)
    throw error("bytes is " + std::to_string(q.bytes) + "; allowed with type '" +
                how.combining.type + "': multiples of " + std::to_string(element));
  if (how.width < 1 || how.width > 64)
    throw error("the width of counters is " + std::to_string(how.width) +
                " bits; allowed: 1 to 64");
  if (how.tanks < 1 || how.tanks > (how.landing ? most_turns : 2))
    throw error("the number of tanks is " + std::to_string(how.tanks) + "; allowed: 1 " +
                (how.landing ? "to " + std::to_string(most_turns) : "or 2"));
  if (how.landing)
    check_landing();
}

// Of all ranks, as all of them do it or none.
void compiler::check_landing() const {
  const auto refuse = [this](const std::string &why) {
    throw error("data of " + algorithm_.file + " can't land: " + why);
  };
  if (how_.how != scheme::water_tank)
    refuse("that is for the scheme 'watertank'");
  if (request_.bytes == 0)
    refuse("there are none");
  for (std::int64_t rank = 0; rank < request_.ranks; ++rank)
    if (const std::string why =
            what_hinders_landing(algorithm_, request_, expand(algorithm_, request_, rank));
        !why.empty())
      refuse(why);
}

rank_program compiler::program(std::int64_t rank) const {
  rank_program p = expand(algorithm_, request_, rank);
  return how_.landing ? landed(algorithm_, request_, std::move(p)) : p;
}

const compiler::planned &compiler::plans_of(std::int64_t rank) {
  constexpr std::size_t most_events = 1u << 21;
  if (const auto found = known_.find(rank); found != known_.end())
    return *found->second;
  if (known_events_ > most_events) {
    known_.clear();
    known_events_ = 0;
  }
  auto fresh = std::make_unique<planned>();
  fresh->program = program(rank);
  for (const auto &path : fresh->program.paths) {
    if (how_.how == scheme::water_tank)
      fresh->plans.emplace_back(fresh->program, path, how_);
    known_events_ += path.sends.size() + path.receives.size() + 1;
  }
  return *(known_[rank] = std::move(fresh));
}

const tank_plan *compiler::plan_of(std::int64_t rank, std::int64_t path) {
  const planned &p = plans_of(rank);
  for (std::size_t i = 0; i < p.plans.size(); ++i)
    if (p.program.paths[i].number == path)
      return &p.plans[i];
  return nullptr;
}

event compiler::find(std::int64_t rank, std::int64_t path, event_kind what, std::int64_t source,
                     std::uint32_t ordinal) {
  const tank_plan *p = plan_of(rank, path);
  if (p == nullptr)
    refuse_unmatched(what == event_kind::ready ? rank : source,
                     what == event_kind::ready ? source : rank, ordinal, what != event_kind::ready);
  return p->find(what, source, ordinal);
}

bool compiler::counts(std::int64_t rank, std::int64_t path) {
  const tank_plan *p = plan_of(rank, path);
  return p != nullptr && p->counts();
}

const path_program *compiler::path_of(std::int64_t rank, std::int64_t path) {
  const auto &paths = plans_of(rank).program.paths;
  const auto found = std::ranges::find(paths, path, &path_program::number);
  return found == paths.end() ? nullptr : &*found;
}

std::int64_t compiler::round_of_sending(std::int64_t rank, std::int64_t path, std::int64_t peer,
                                        std::uint32_t ordinal) {
  const path_program *p = path_of(rank, path);
  const sending *m = p == nullptr ? nullptr : find_message(p->sends, peer, ordinal);
  if (m == nullptr)
    refuse_unmatched(rank, peer, ordinal, false);
  return m->round;
}

std::int64_t compiler::round_of_receiving(std::int64_t rank, std::int64_t path, std::int64_t peer,
                                          std::uint32_t ordinal) {
  const path_program *p = path_of(rank, path);
  const receiving *m = p == nullptr ? nullptr : find_message(p->receives, peer, ordinal);
  if (m == nullptr)
    refuse_unmatched(peer, rank, ordinal, true);
  return m->round;
}

rank_schedule compiler::schedule(std::int64_t rank) { return schedule(program(rank)); }

rank_schedule compiler::schedule(const rank_program &p) {
  rank_schedule s =
      how_.how == scheme::water_tank ? lower_to_tanks(*this, p) : lower_prematched(*this, p);
  if (how_.most_counters && s.counters.size() > *how_.most_counters)
    throw limit_error("rank " + std::to_string(p.rank) + " needs " +
                      std::to_string(s.counters.size()) + " counters; there are " +
                      std::to_string(*how_.most_counters));
  if (how_.most_works)
    make_windows(s, *how_.most_works);
  return s;
}

void make_windows(rank_schedule &s, std::uint64_t most_works) {
  // Each path has its share: its works wait for no others'.
  std::uint64_t paths = 0;
  for (std::size_t i = 0; i < s.works.size(); ++i)
    if (i == 0 || s.works[i].trigger.path != s.works[i - 1].trigger.path)
      ++paths;
  if (paths == 0)
    return;
  const std::uint64_t share = most_works / paths;
  if (share == 0)
    throw limit_error("rank " + std::to_string(s.rank) + " has " + std::to_string(paths) +
                      " paths, each with deferred works of its own; there is room for " +
                      std::to_string(most_works));
  std::uint64_t in_path = 0;
  for (std::size_t i = 0; i < s.works.size(); ++i) {
    if (i > 0 && s.works[i].trigger.path != s.works[i - 1].trigger.path)
      in_path = 0;
    s.works[i].window = in_path++ / share;
    s.windows = std::max(s.windows, s.works[i].window + 1);
  }
}

} // namespace collc
