// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/check/prober.h"

namespace dpdkx::check {

namespace {

constexpr unsigned small_tries = 16, large_tries = 8, search_tries = 3;
constexpr unsigned silent_after = 6, black_hole_after = 4;
static_assert(std::max(small_tries, large_tries) <= 32, "Trial::answered has a bit for each");
constexpr std::uint32_t accuracy = 4; // of the search, bytes: sizes of probes differ by that

// A peer that computes answers by its service thread, later than a switch forwards.
constexpr Duration least_patience = std::chrono::milliseconds(20);
constexpr int round_trips_to_wait = 4;

void add(Way &to, const Way &of) {
  to.asked += of.asked;
  to.heard += of.heard;
}

} // namespace

Prober::Prober(const Plan &plan) : plan_(plan) { begin(Step::small); }

void Prober::path_failed(int error) {
  if (done())
    return;
  result_.verdict = Verdict::unreachable;
  result_.error = -error;
  step_ = Step::finished;
}

// --- Which trial comes when ---

void Prober::begin(Step step) {
  step_ = step;
  trial_ = {};
  trial_.first_sequence = sequence_;
  trial_.tries = large_tries;
  trial_.enough_lost = black_hole_after;
  trial_.question = trial_.answer = wire::min_probe;
  switch (step) {
  case Step::small:
    trial_.tries = small_tries;
    trial_.enough_lost = silent_after;
    result_.small.size = wire::min_probe;
    break;
  case Step::standard_to:
    trial_.question = result_.standard.size;
    break;
  case Step::standard_fro:
    trial_.answer = result_.standard.size;
    break;
  case Step::jumbo_to:
    trial_.question = result_.jumbo.size;
    break;
  case Step::jumbo_fro:
    trial_.answer = result_.jumbo.size;
    break;
  case Step::search:
    begin_search();
    break;
  case Step::unasked:
    result_.tried_unasked = true;
    trial_.to_second_port = true;
    trial_.one_suffices = true;
    trial_.tries = black_hole_after;
    break;
  case Step::finished:
    judge();
    break;
  }
}

// Halves what lies between what passes both ways and what doesn't.
void Prober::begin_search() {
  // First what any path carries, from where it is not far to what most do.
  const std::uint32_t middle = passes_ < wire::min_datagram && fails_ > wire::min_datagram
                                   ? wire::min_datagram
                                   : passes_ + (fails_ - passes_) / 2;
  trial_.question = trial_.answer = probe_sized(middle);
  trial_.tries = trial_.enough_lost = search_tries;
  trial_.one_suffices = true;
}

bool Prober::failed(const SizeResult &size) const {
  return size.size != 0 && (size.to.heard == 0 || size.fro.heard == 0);
}

// What is worth trying: no more than both links carry.
void Prober::set_sizes() {
  passes_ = wire::min_probe;
  const std::uint32_t both = probe_sized(std::min(plan_.max_datagram, last_->max_datagram));
  result_.standard.size = std::min(probe_sized(plan_.standard), both);
  if (both > result_.standard.size)
    result_.jumbo.size = both;
}

void Prober::after_trial() {
  const Way way = trial_.way;
  switch (step_) {
  case Step::small:
    result_.small.to = result_.small.fro = way;
    if (last_)
      set_sizes();
    break;
  case Step::standard_to:
    result_.standard.to = way;
    break;
  case Step::standard_fro:
    result_.standard.fro = way;
    (failed(result_.standard) ? fails_ : passes_) = result_.standard.size;
    break;
  case Step::jumbo_to:
    result_.jumbo.to = way;
    break;
  case Step::jumbo_fro:
    result_.jumbo.fro = way;
    (failed(result_.jumbo) ? fails_ : passes_) = result_.jumbo.size;
    break;
  case Step::search:
    (way.heard ? passes_ : fails_) = trial_.question;
    break;
  case Step::unasked:
    result_.unasked = way;
    break;
  case Step::finished:
    return;
  }
  begin(after(step_));
}

Prober::Step Prober::after(Step step) const {
  switch (step) {
  case Step::small:
    return last_ && last_->version_min <= wire::protocol_version &&
                   last_->version_max >= wire::protocol_version
               ? Step::standard_to
               : Step::finished;
  case Step::standard_to:
    return Step::standard_fro;
  case Step::standard_fro:
    if (!failed(result_.standard) && result_.jumbo.size != 0)
      return Step::jumbo_to;
    break;
  case Step::jumbo_to:
    return Step::jumbo_fro;
  case Step::jumbo_fro:
  case Step::search:
    break;
  case Step::unasked:
  case Step::finished:
    return Step::finished;
  }
  if (fails_ > passes_ + accuracy)
    return Step::search;
  return plan_.second_port ? Step::unasked : Step::finished;
}

// --- Questions and answers ---

Duration Prober::patience() const {
  if (round_trips_.empty())
    return plan_.patience;
  const Duration longest = *std::ranges::max_element(round_trips_);
  return std::min(plan_.patience, std::max(least_patience, round_trips_to_wait * longest));
}

bool Prober::over() const {
  const Way &way = trial_.way;
  return way.asked >= trial_.tries || (way.heard == 0 && way.asked >= trial_.enough_lost) ||
         (trial_.one_suffices && way.heard > 0);
}

void Prober::look(Time now) {
  if (waiting_ && now - sent_at_ < patience())
    return;
  waiting_ = false;
  if (done() || trial_.way.asked == 0 || !over())
    return;
  // What has passed and what hasn't bounds a search.
  after_trial();
}

std::optional<wire::Probe> Prober::next(Time now) {
  look(now);
  if (done() || waiting_ || now < not_before_)
    return std::nullopt;
  wire::Probe out;
  out.role = plan_.role;
  out.sequence = sequence_;
  out.length = trial_.answer;
  out.asker = plan_.id;
  out.cookie = last_ ? last_->cookie : 0;
  out.asked = sequence_;
  out.heard = heard_;
  out.max_datagram = plan_.max_datagram;
  out.key = plan_.key;
  out.answer_port = trial_.to_second_port ? plan_.second_port : std::uint16_t{0};
  out.padding = trial_.question - wire::min_probe;
  ++sequence_;
  ++trial_.way.asked;
  waiting_ = true;
  sent_at_ = now;
  return out;
}

void Prober::answered(const wire::Probe &answer, std::uint32_t len, bool at_second_port, Time now) {
  // Late ones count, but not those of an older trial.
  const std::uint32_t asked = sequence_ - trial_.first_sequence;
  if (done() || answer.asker != plan_.id || answer.sequence - trial_.first_sequence >= asked)
    return;
  if (at_second_port != trial_.to_second_port || len != trial_.answer ||
      answer.length != trial_.question)
    return;
  const std::uint32_t bit = 1u << (answer.sequence - trial_.first_sequence);
  if (trial_.answered & bit)
    return; // doubled on its way
  trial_.answered |= bit;
  const bool newest = answer.sequence == sequence_ - 1;
  ++trial_.way.heard;
  ++heard_;
  last_ = answer;
  if (!newest)
    return;
  waiting_ = false;
  not_before_ = now + plan_.pace;
  if (step_ == Step::small)
    round_trips_.push_back(now - sent_at_);
}

Time Prober::due() const {
  if (done())
    return never;
  return waiting_ ? sent_at_ + patience() : not_before_;
}

// --- What it means ---

Result Prober::result() const {
  Result out = result_;
  out.hears_it = hears_it_;
  if (out.verdict == Verdict::silent && hears_it_)
    out.verdict = Verdict::one_way;
  return out;
}

void Prober::judge() {
  Result &r = result_;
  if (!last_)
    return; // silent
  r.role = last_->role;
  r.version_min = last_->version_min;
  r.version_max = last_->version_max;
  r.max_datagram = last_->max_datagram;
  if (!round_trips_.empty()) {
    const auto middle = round_trips_.begin() + static_cast<std::ptrdiff_t>(round_trips_.size() / 2);
    std::ranges::nth_element(round_trips_, middle);
    r.round_trip = *middle;
  }
  Way all;
  for (const SizeResult *size : {&r.small, &r.standard, &r.jumbo}) {
    add(all, size->to);
    add(all, size->fro);
  }
  const bool same_version =
      r.version_min <= wire::protocol_version && r.version_max >= wire::protocol_version;
  if (!same_version)
    r.verdict = Verdict::version;
  else if (r.role != wire::ProbeRole::daemon && last_->key != plan_.key)
    r.verdict = Verdict::key;
  else if (failed(r.standard) || failed(r.jumbo))
    r.verdict = Verdict::mtu;
  else if (r.tried_unasked && r.unasked.heard == 0)
    r.verdict = Verdict::one_way;
  else
    r.verdict = all.heard * 10 < all.asked * 9 ? Verdict::lossy : Verdict::well;
  if (r.verdict == Verdict::mtu)
    r.largest = passes_;
}

} // namespace dpdkx::check
