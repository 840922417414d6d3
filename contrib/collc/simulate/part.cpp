// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/simulate/part.h"

#include "collc/lang/error.h"
#include "collc/lower/plan.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace collc {

namespace {

// The number of a rank's channel by peer and path.
class channel_numbers {
public:
  explicit channel_numbers(const std::vector<channel_key> &channels) {
    numbers_.reserve(channels.size());
    for (std::uint32_t i = 0; i < channels.size(); ++i)
      numbers_.emplace(word(channels[i].peer, channels[i].path), i);
  }
  [[nodiscard]] std::uint32_t operator()(std::int64_t peer, std::int64_t path) const {
    return numbers_.at(word(peer, path));
  }

private:
  static std::uint64_t word(std::int64_t peer, std::int64_t path) {
    return static_cast<std::uint64_t>(path) << 32 | static_cast<std::uint64_t>(peer);
  }
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

// The actions of one path, for one kind of progress.
class path_script {
public:
  path_script(const rank_program &p, const path_program &path, const part &of,
              const channel_numbers &numbers, message_sizes &sizes, std::uint64_t rendezvous,
              progress how, script &out)
      : p_(p), path_(path), part_(of), numbers_(numbers), sizes_(sizes), rendezvous_(rendezvous),
        triggered_(how == progress::triggered), out_(out) {}

  void run() {
    list_events();
    for (const auto &r : path_.receives)
      receive(r);
    for (const auto &s : path_.sends)
      send(s);
    for (std::size_t i = 0; i < path_.combines.size(); ++i)
      combine(i);
    std::ranges::stable_sort(made_, {}, &made::order);
    script::path path;
    path.events = static_cast<std::uint32_t>(events_.size());
    path.begin = static_cast<std::uint32_t>(out_.actions.size());
    for (const made &m : made_)
      out_.actions.push_back(m.what);
    constexpr std::size_t most_actions = std::numeric_limits<std::int32_t>::max();
    if (out_.actions.size() > most_actions)
      throw limit_error("rank " + std::to_string(p_.rank) + " does " +
                        std::to_string(out_.actions.size()) + " things; a simulation has at most " +
                        std::to_string(most_actions) + " for each");
    path.end = static_cast<std::uint32_t>(out_.actions.size());
    out_.paths.push_back(path);
  }

private:
  // What becomes possible together is done in this order, which is that of deferred works.
  enum class urgency : std::uint8_t { signal, data, end, combine, combined };
  struct made {
    std::tuple<std::uint32_t, position, urgency> order;
    action what;
  };
  struct expected {
    position at;
    std::uint32_t *number; // to be written, if anybody asks
  };

  [[nodiscard]] std::uint32_t &arrival(const receiving &r) {
    const auto &c = part_.channels[numbers_(r.peer, path_.number)];
    return out_.arrival_of[c.first_received + r.ordinal];
  }

  void list_events() {
    std::set<std::int64_t> told;
    for (const auto &s : path_.sends)
      if (triggered_ && s.has_data && p_.ready != readiness::never &&
          (p_.ready != readiness::once || told.insert(s.peer).second)) {
        const auto &c = part_.channels[numbers_(s.peer, path_.number)];
        events_.push_back({{p_.ready == readiness::once ? 0 : s.round, event_kind::ready},
                           &out_.ready_of[c.first_sent + s.ordinal]});
      }
    for (const auto &r : path_.receives)
      events_.push_back({{r.round, event_kind::arrival}, &arrival(r)});
    for (std::size_t i = 0; i < path_.combines.size(); ++i)
      if (last_of_round(i))
        events_.push_back({{path_.combines[i].round, event_kind::reduced}, nullptr});
    std::ranges::stable_sort(events_, {}, &expected::at);
    for (std::uint32_t i = 0; i < events_.size(); ++i)
      if (events_[i].number != nullptr)
        *events_[i].number = i;
  }

  [[nodiscard]] std::uint32_t events_upto(position p) const {
    return static_cast<std::uint32_t>(std::ranges::upper_bound(events_, p, {}, &expected::at) -
                                      events_.begin());
  }
  [[nodiscard]] bool last_of_round(std::size_t i) const {
    return i + 1 == path_.combines.size() || path_.combines[i + 1].round != path_.combines[i].round;
  }

  void put(std::uint32_t need, position at, urgency u, action what) {
    what.need = need;
    made_.push_back({{need, at, u}, what});
  }

  void receive(const receiving &r) {
    const bool told = triggered_ ? r.has_data && p_.ready != readiness::never
                                 : std::max<std::uint64_t>(bytes_of(r.places), 1) >= rendezvous_;
    const bool once = p_.ready == readiness::once;
    if (!told || (triggered_ && once && !told_.insert(r.peer).second))
      return;
    const std::uint32_t need =
        p_.ready == readiness::each ? events_upto({r.after, event_kind::delivered}) : 0;
    put(need, {triggered_ && once ? 0 : r.round, event_kind::ready}, urgency::signal,
        {.channel = numbers_(r.peer, path_.number),
         .number = r.ordinal,
         .size = triggered_ ? message_sizes::signal : sizes_.number(bytes_of(r.places)),
         .what = triggered_ ? action::kind::tell_ready : action::kind::post});
  }

  void send(const sending &s) {
    position when{s.after, s.after >= s.round ? event_kind::reduced : event_kind::delivered};
    if (triggered_ && s.has_data && p_.ready != readiness::never)
      when = std::max(when, {p_.ready == readiness::once ? 0 : s.round, event_kind::ready});
    const std::uint32_t need = events_upto(when);
    const position at{s.round, event_kind::arrival};
    action a{.channel = numbers_(s.peer, path_.number), .number = s.ordinal};
    if (!triggered_ || !s.has_data) {
      const std::uint64_t bytes = std::max<std::uint64_t>(bytes_of(s.pieces), 1);
      a.size = sizes_.number(bytes);
      a.what = !triggered_ && bytes >= rendezvous_ ? action::kind::request : action::kind::send;
      put(need, at, urgency::signal, a);
      return;
    }
    // Whether the peer counts writes is known when all ranks are.
    a.what = action::kind::write;
    a.sole = s.pieces.size() == 1 && !s.combines;
    for (const piece &p : s.pieces) {
      a.size = sizes_.number(p.from.length);
      put(need, at, urgency::data, a);
    }
    a.what = action::kind::end;
    a.size = message_sizes::signal;
    a.sole = s.pieces.size() != 1 || s.combines;
    put(need, at, urgency::end, a);
  }

  void combine(std::size_t i) {
    const combining &c = path_.combines[i];
    const std::uint32_t need = events_upto({c.round, event_kind::arrival});
    const position at{c.round, event_kind::reduced};
    if (c.what.from.length > 0)
      put(need, at, urgency::combine,
          {.size = sizes_.number(c.what.from.length), .what = action::kind::combine});
    if (last_of_round(i))
      put(need, at, urgency::combined,
          {.number = events_upto(at) - 1, .what = action::kind::combined});
  }

  const rank_program &p_;
  const path_program &path_;
  const part &part_;
  const channel_numbers &numbers_;
  message_sizes &sizes_;
  std::uint64_t rendezvous_;
  bool triggered_;
  script &out_;
  std::vector<expected> events_;
  std::vector<made> made_;
  std::set<std::int64_t> told_;
};

void lay_out(script &s, std::size_t channels, std::uint32_t received, bool starts_late) {
  constexpr auto words = [](std::uint32_t bits) { return (bits + 63) / 64; };
  const auto has = [&](action::kind what) {
    return std::ranges::find(s.actions, what, &action::what) != s.actions.end();
  };
  s.words = state::others;
  const auto take = [&](std::uint32_t n) { return std::exchange(s.words, s.words + n); };
  if (has(action::kind::post))
    s.posted = take(words(received));
  for (auto &path : s.paths)
    path.level = take(1);
  s.links = take(static_cast<std::uint32_t>(channels));
  const bool timed = starts_late || has(action::kind::combined);
  for (auto &path : s.paths) {
    path.time = timed ? take(1) : 0;
    path.came = take(words(path.events));
  }
}

} // namespace

std::uint32_t message_lists::number(std::vector<std::uint64_t> list) {
  const auto [at, fresh] =
      numbers_.try_emplace(std::move(list), static_cast<std::uint32_t>(lists_.size()));
  if (fresh)
    lists_.push_back(&at->first);
  return at->second;
}

part part_maker::make(const rank_program &p, const std::vector<channel_key> &channels) {
  part out;
  out.start = bytes_of(p.start);
  out.finish = bytes_of(p.finish);
  out.start_size = sizes_.number(out.start);
  out.finish_size = sizes_.number(out.finish);
  const channel_numbers numbers(channels);
  out.channels.resize(channels.size());
  std::vector<std::vector<std::uint64_t>> sent(channels.size()), received(channels.size());
  for (std::uint32_t i = 0; i < p.paths.size(); ++i) {
    const auto &path = p.paths[i];
    for (const auto &s : path.sends) {
      const std::uint32_t c = numbers(s.peer, path.number);
      out.channels[c].path = i;
      sent[c].push_back(message_lists::word(s.has_data, bytes_of(s.pieces)));
    }
    for (const auto &r : path.receives) {
      const std::uint32_t c = numbers(r.peer, path.number);
      out.channels[c].path = i;
      received[c].push_back(message_lists::word(r.has_data, bytes_of(r.places)));
    }
  }
  std::uint32_t all_sent = 0, all_received = 0;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    part::channel &k = out.channels[c];
    k.first_sent = all_sent;
    k.first_received = all_received;
    all_sent += k.sent = static_cast<std::uint32_t>(sent[c].size());
    all_received += k.received = static_cast<std::uint32_t>(received[c].size());
    k.sends_list = lists_.number(std::move(sent[c]));
    k.receives_list = lists_.number(std::move(received[c]));
  }
  const auto write = [&](progress how, script &s) {
    s.arrival_of.assign(all_received, script::none);
    if (how == progress::triggered)
      s.ready_of.assign(all_sent, script::none);
    for (const auto &path : p.paths)
      path_script(p, path, out, numbers, sizes_, rendezvous_, how, s).run();
    lay_out(s, channels.size(), all_received, out.start > 0);
  };
  if (triggered_) {
    for (const auto &path : p.paths)
      out.counts.push_back(tank_plan(p, path, how_).counts() && p.ready == readiness::never &&
                           how_.counted_writes);
    write(progress::triggered, out.triggered);
  }
  if (driven_)
    write(progress::driven, out.driven);
  return out;
}

} // namespace collc
