// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lower/plan.h"

#include "collc/lang/error.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace collc {

namespace {

__extension__ using wide = unsigned __int128;

std::string rank_text(const rank_program &p) { return "rank " + std::to_string(p.rank) + ": "; }

[[noreturn]] void refuse_width(const rank_program &program, unsigned width, unsigned bits) {
  throw limit_error(rank_text(program) + "the tank's level needs " +
                    (bits == 0 ? std::string("more than 128") : std::to_string(bits)) +
                    " bits; a counter has " + std::to_string(width) +
                    ": fewer rounds, or rounds with several messages, need fewer");
}

unsigned bits_of(wide w) {
  unsigned bits = 0;
  for (; w != 0; w >>= 1)
    ++bits;
  return bits;
}

} // namespace

check_points::check_points(const rank_program &program, const lowering &how) {
  const auto use = [this](event_kind k) { of_[static_cast<std::size_t>(k)] = ++each_; };
  const bool told = program.ready == readiness::each || program.ready == readiness::early;
  if (!program.barrier && told)
    use(event_kind::ready);
  use(event_kind::arrival);
  if (program.combines_locally)
    use(event_kind::reduced);
  if (!program.barrier && how.wait_for_delivery)
    use(event_kind::delivered);
}

std::uint64_t bucket_of(const rank_program &program, const lowering &how, position p) {
  const check_points points(program, how);
  const std::int64_t buckets = program.rounds * points.each();
  const std::int64_t shift = p.round == 0 ? buckets : buckets - points.number(p);
  if (shift > 63 || buckets > how.width)
    refuse_width(program, how.width, static_cast<unsigned>(buckets + (p.round == 0 ? 1 : 0)));
  return std::uint64_t{1} << shift;
}

namespace {

// Makes a tank's events and their weights.
class weighing {
public:
  weighing(const rank_program &program, const lowering &how, tank &out)
      : program_(program), how_(how), tank_(out) {}
  void list_events(const path_program &path);
  void list_raises(const path_program &path);
  void weigh() { program_.rounds >= 0 ? by_rounds() : by_order(); }
  void sum_up();

private:
  // What the rank itself adds; a round has one of each kind.
  [[nodiscard]] event own(position at) const {
    return {at, program_.rank, static_cast<std::uint32_t>(at.round), 0};
  }
  void by_rounds();
  void by_order();
  [[nodiscard]] bool same_run(std::size_t a, std::size_t b) const;
  [[nodiscard]] std::size_t begin_of_class(std::size_t end) const;

  const rank_program &program_;
  const lowering &how_;
  tank &tank_;
};

void weighing::list_events(const path_program &path) {
  auto &events = tank_.events;
  std::set<std::int64_t> told; // peers whose one word has been counted
  std::set<std::int64_t> delivering;
  for (const auto &s : path.sends) {
    if (!s.has_data)
      continue;
    if (program_.ready == readiness::once) {
      if (told.insert(s.peer).second)
        events.push_back({{0, event_kind::ready}, s.peer, s.ordinal, 0});
    } else if (program_.ready != readiness::never) {
      events.push_back({{s.round, event_kind::ready}, s.peer, s.ordinal, 0});
    }
    if (how_.wait_for_delivery && delivering.insert(s.round).second)
      events.push_back(own({s.round, event_kind::delivered}));
  }
  for (const auto &r : path.receives)
    events.push_back({{r.round, event_kind::arrival}, r.peer, r.ordinal, 0});
  for (const auto &c : path.combines)
    events.push_back(own({c.round, event_kind::reduced}));
  // Of several of the rank's own in a round, the last one tells of all.
  const auto doubled =
      std::unique(events.begin(), events.end(), [](const event &a, const event &b) {
        return a.at == b.at && a.at.slot == event_kind::reduced;
      });
  events.erase(doubled, events.end());
  std::ranges::stable_sort(events, {}, &event::at);
}

// Where several works wait for the same data. Nothing but what the path receives is among the
// events then.
void weighing::list_raises(const path_program &path) {
  std::vector<std::int64_t> afters;
  for (const auto &s : path.sends)
    afters.push_back(s.after);
  std::ranges::sort(afters);
  const auto sends_before = [&](std::int64_t after) {
    return std::ranges::lower_bound(afters, after) - afters.begin();
  };
  std::vector<event> with_raises;
  const auto &events = tank_.events;
  for (std::size_t i = 0; i < events.size(); ++i) {
    with_raises.push_back(events[i]);
    const bool last = i + 1 == events.size();
    if (!path.receives[i].has_data || (!last && events[i + 1].at.round == events[i].at.round))
      continue;
    const std::int64_t round = events[i].at.round;
    const auto branches =
        (last ? std::ssize(afters) : sends_before(events[i + 1].at.round)) - sends_before(round);
    if (branches < 2)
      continue;
    with_raises.push_back(own({round, event_kind::raise}));
    with_raises.back().weight = static_cast<std::uint64_t>(branches);
  }
  tank_.events = std::move(with_raises);
}

void weighing::by_rounds() {
  const event *before = nullptr;
  for (event &e : tank_.events) {
    if (before != nullptr && before->at == e.at && e.at.round > 0)
      throw error(rank_text(program_) + "in round " + std::to_string(e.at.round) + " both rank " +
                  std::to_string(before->source) + " and rank " + std::to_string(e.source) +
                  " add to the tank: where 'rounds' is stated, each bucket is poured by one");
    e.weight = bucket_of(program_, how_, e.at);
    before = &e;
  }
}

// Messages of one source, which come in order, are as good as counted.
bool weighing::same_run(std::size_t a, std::size_t b) const {
  const event &x = tank_.events[a], &y = tank_.events[b];
  return how_.ordered && x.at.slot == event_kind::arrival && y.at.slot == event_kind::arrival &&
         x.source == y.source;
}

// Those of one position are waited for together, whichever comes first. Positions join where all
// of both have one and the same source.
std::size_t weighing::begin_of_class(std::size_t end) const {
  const auto &events = tank_.events;
  const auto begin_of_position = [&](std::size_t last) {
    while (last > 0 && events[last - 1].at == events[last].at)
      --last;
    return last;
  };
  const auto one_source = [&](std::size_t from, std::size_t upto) {
    for (std::size_t i = from; i < upto; ++i)
      if (!same_run(i, end - 1))
        return false;
    return true;
  };
  std::size_t begin = begin_of_position(end - 1);
  if (!one_source(begin, end))
    return begin;
  while (begin > 0) {
    const std::size_t before = begin_of_position(begin - 1);
    if (!one_source(before, begin))
      break;
    begin = before;
  }
  return begin;
}

void weighing::by_order() {
  auto &events = tank_.events;
  wide later = 0;
  for (std::size_t end = events.size(); end > 0;) {
    const std::size_t begin = begin_of_class(end);
    const wide weight = later + 1;
    if (bits_of(weight) > how_.width)
      refuse_width(program_, how_.width, bits_of(weight));
    for (std::size_t i = begin; i < end; ++i)
      events[i].weight = static_cast<std::uint64_t>(weight);
    later += weight * (end - begin);
    end = begin;
  }
}

void weighing::sum_up() {
  wide sum = 0;
  for (const event &e : tank_.events) {
    sum += e.weight;
    if (how_.ahead > 0 && e.at.slot == event_kind::ready)
      tank_.told += e.weight;
  }
  const wide start = how_.own_start ? sum + 1 : 0;
  const unsigned bits = bits_of(start + sum);
  if (bits > how_.width)
    refuse_width(program_, how_.width, bits);
  tank_.start = static_cast<std::uint64_t>(start);
  tank_.full = static_cast<std::uint64_t>(start + sum);
}

} // namespace

tank_plan::tank_plan(const rank_program &program, const path_program &path, const lowering &how)
    : rank_(program.rank) {
  tank_.id = {counter_id::role::tank, path.number, 0};
  weighing w(program, how, tank_);
  w.list_events(path);
  w.weigh();
  const auto &events = tank_.events;
  counts_ = std::ranges::all_of(events, [](const event &e) { return e.weight == 1; });
  if (counts_ && how.raise_for_branches && program.ready == readiness::never &&
      events.size() == path.receives.size())
    w.list_raises(path);
  w.sum_up();
  levels_.reserve(events.size());
  std::uint64_t level = tank_.start;
  for (const event &e : events)
    levels_.push_back(level += e.weight);
}

std::uint64_t tank_plan::level(position upto) const {
  const auto &events = tank_.events;
  const auto end = std::ranges::upper_bound(events, upto, {}, &event::at);
  return end == events.begin() ? tank_.start
                               : levels_[static_cast<std::size_t>(end - events.begin()) - 1];
}

const event &tank_plan::find(event_kind what, std::int64_t source, std::uint32_t ordinal) const {
  const auto key = std::tuple(what, source, ordinal);
  const auto &events = tank_.events;
  const auto key_of = [&](std::uint32_t i) {
    return std::tuple(events[i].at.slot, events[i].source, events[i].ordinal);
  };
  if (index_.empty()) {
    index_.resize(events.size());
    std::iota(index_.begin(), index_.end(), 0);
    std::ranges::sort(index_, {}, key_of);
  }
  const auto at = std::ranges::lower_bound(index_, key, {}, key_of);
  if (at == index_.end() || key_of(*at) != key)
    throw match_error(
        "message " + std::to_string(ordinal + 1) + " from rank " +
        std::to_string(what == event_kind::ready ? rank_ : source) + " to rank " +
        std::to_string(what == event_kind::ready ? source : rank_) + " is " +
        (what == event_kind::ready ? "received, but not sent" : "sent, but not received"));
  return events[*at];
}

} // namespace collc
