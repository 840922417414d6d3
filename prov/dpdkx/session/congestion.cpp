// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/session/congestion.h"

#include <algorithm>
#include <cmath>

namespace dpdkx::session {

namespace {

constexpr float unlimited = 1e9f;
constexpr float delay_gain = 0.8f;        // how much of the excess delay is given up at once
constexpr float least_factor = 0.5f;      // and at most, in one round
constexpr float queued_loss_factor = 0.875f;
constexpr float heavy_loss = 0.3f;        // no line loses that at random

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
  if (e.newest_sent_at >= round.start) {
    const unsigned k = round.rounds; float keep = round.restore;
    if (keep == 0) end_round(base, p, round);
    Round next;
    next.start = now;
    next.rounds = k + 1;
    if (keep != 0) {
      if (k % 2 == 1) next.restore = keep; else window_ = keep;
    } else if (k >= 100 && !slow_start()) {
      next.restore = window_;
      window_ = std::max(least_window, window_ * 0.3f);
      next.rounds = 1;
    }
    round = next;
  }
  window_ = std::clamp(window_, least_window, static_cast<float>(p.window));
}

void Congestion::end_round(Duration base, const Params &p, const Round &r) {
  const float lost = static_cast<float>(r.lost) / static_cast<float>(std::max(r.lost + r.acked, 1u));
  const float marked = static_cast<float>(r.marked) / static_cast<float>(std::max(r.acked, 1u));
  const Duration rtt = r.samples != 0 ? r.rtts / r.samples : base;
  const Duration queue = rtt - base;
  const float scale = std::clamp(std::sqrt(8.0f / window_), 0.5f, 1.5f);
  const Duration target(static_cast<std::int64_t>(static_cast<float>(p.target_delay.count()) * scale));

  float factor = 1 - std::max(marked / 2, lost > heavy_loss ? 0.5f : lost / 4);
  if (r.lost != 0 && queue > target / 2)
    factor = std::min(factor, queued_loss_factor);
  if (queue > target) {
    const float excess = static_cast<float>((queue - target).count()) /
                         static_cast<float>(rtt.count());
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
