// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/session/congestion.h"

#include <algorithm>
#include <cmath>

namespace dpdkx::session {

namespace {

constexpr float unlimited = 1e9f;
constexpr float delay_gain = 0.8f;            // how much of the excess delay is given up at once
constexpr float least_factor = 0.5f;          // and at most, in one round
constexpr std::uint32_t drain_interval = 128; // rounds
constexpr float drain_factor = 0.3f;
constexpr float heavy_loss = 0.3f; // no line loses that at random

// Flows with small windows bear more delay, so that those with large ones give
// way: one that came late has taken the others' queue for a part of its path.
Duration target_for(float window, const Params &p) {
  const float scale = std::clamp(std::sqrt(8.0f / window), 0.5f, 1.5f);
  return Duration(static_cast<std::int64_t>(static_cast<float>(p.target_delay.count()) * scale));
}

} // namespace

Congestion::Congestion(const Params &p)
    : window_(static_cast<float>(p.initial_window)), threshold_(unlimited) {}

void Congestion::on_ack(const AckEvent &e, Duration base, const Params &p, Round &round, Time now) {
  round.acked += e.acked;
  if (e.ecn_echo)
    round.marked += e.acked;
  if (e.rtt != Duration::zero()) {
    round.rtts += e.rtt;
    ++round.samples;
    // Doubling must end before the queue is full, which a round's end could be too late for.
    if (slow_start() && e.rtt - base > p.target_delay / 4)
      threshold_ = window_;
  }
  if (slow_start() && round.limited)
    window_ += static_cast<float>(e.acked);
  if (e.newest_sent_at >= round.start)
    next_round(base, p, round, now);
  window_ = std::clamp(window_, least_window, static_cast<float>(p.window));
}

void Congestion::next_round(Duration base, const Params &p, Round &round, Time now) {
  Round next;
  next.start = now;
  next.since_drain = round.since_drain + 1;
  if (round.before_drain != 0) {
    // One round to let the queue run dry, a second in which that is seen.
    if (round.since_drain == 1)
      next.before_drain = round.before_drain;
    else
      window_ = round.before_drain;
  } else {
    judge(base, p, round);
    if (next.since_drain >= drain_interval && !slow_start()) {
      next.since_drain = 0;
      next.before_drain = window_;
      window_ *= drain_factor;
    }
  }
  round = next;
}

void Congestion::judge(Duration base, const Params &p, const Round &r) {
  if (!r.limited && r.lost + r.marked == 0)
    return; // the window had no part in it
  const float lost =
      static_cast<float>(r.lost) / static_cast<float>(std::max(r.lost + r.acked, 1u));
  const float marked = static_cast<float>(r.marked) / static_cast<float>(std::max(r.acked, 1u));
  const Duration rtt = r.samples != 0 ? r.rtts / r.samples : base;
  const Duration queue = rtt - base;
  const Duration target = target_for(window_, p);

  // Without a queue it is the line that loses. With one it may be either.
  const float blame = queue > target / 2 ? 1.0f : queue > target / 4 ? 0.25f : 0.0f;
  float factor = 1 - std::max(marked / 2, lost > heavy_loss ? 0.5f : lost * blame);
  if (queue > target) {
    const float excess =
        static_cast<float>((queue - target).count()) / static_cast<float>(rtt.count());
    factor = std::min(factor, 1 - delay_gain * excess);
  }
  window_ *= std::max(factor, least_factor);
  if (factor < 1 && slow_start() && (lost > heavy_loss || queue > target / 4))
    threshold_ = window_;
  if (!slow_start() && r.limited && queue <= target && marked == 0)
    window_ += 1;
}

void Congestion::on_timeout(const Params &, Round &round, Time now) {
  threshold_ = std::max(window_ / 2, window_after_timeout);
  window_ = std::min(window_, window_after_timeout);
  round = Round{};
  round.start = now;
}

} // namespace dpdkx::session
