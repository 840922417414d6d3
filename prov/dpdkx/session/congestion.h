// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The congestion window of one session: packets that may be on their way.
//
// Queueing delay leads (after Swift): below the target the window grows by one
// packet a round trip, above it shrinks in proportion. Loss and ECN marks
// reduce by the fraction of packets they hit (after DCTCP), so that random loss
// costs little and an overflowing queue, where delay is up as well, costs more.
#pragma once

#include "dpdkx/session/params.h"

#include <cstdint>

namespace dpdkx::session {

// What is gathered in one round trip, to be judged at its end.
struct Round {
  Time start{};
  Duration rtts{}; // sum of samples
  std::uint32_t samples = 0;
  std::uint32_t acked = 0, lost = 0, marked = 0; // packets
  std::uint32_t since_drain = 0;                 // rounds
  float before_drain = 0; // the window to return to, while a queue is drained
  bool limited = false;   // the window, not the application, held packets back
};

// What one ack says.
struct AckEvent {
  std::uint32_t acked = 0;         // packets newly acknowledged
  Time newest_sent_at{};           // of the one that was sent last
  Duration rtt = Duration::zero(); // a valid sample, or zero
  bool ecn_echo = false;
};

class Congestion {
public:
  explicit Congestion(const Params &);

  std::uint32_t window() const { return static_cast<std::uint32_t>(window_); }
  bool slow_start() const { return window_ < threshold_; }

  // `base`: the path's round trip without queues.
  void on_ack(const AckEvent &, Duration base, const Params &, Round &, Time now);
  // Two probes in a row unanswered: nothing is known of the path any more.
  void on_timeout(const Params &, Round &, Time now);

  static constexpr float least_window = 2, window_after_timeout = 4;

private:
  void judge(Duration base, const Params &, const Round &);
  void next_round(Duration base, const Params &, Round &, Time now);

  float window_;
  float threshold_; // below it the window doubles each round
};

} // namespace dpdkx::session
