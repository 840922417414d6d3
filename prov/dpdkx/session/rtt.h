// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Round-trip time and the timers that follow from it (RFC 6298, with floors
// that are multiples of the round trip instead of fixed milliseconds).
#pragma once

#include "dpdkx/session/params.h"

namespace dpdkx::session {

class RttEstimator {
public:
  // A sample that is known to belong to one transmission, the peer's ack delay
  // already taken off.
  void add(Duration sample, Time now);

  bool measured() const { return srtt_ns_ != 0; }
  Duration srtt() const { return Duration(srtt_ns_); }
  // The path without queues: the least sample of the last base_lifetime.
  Duration base() const { return Duration(base_ns_); }

  // How long a receiver may sit on an ack, and so how long a sender allows for it.
  Duration ack_delay(const Params &) const;
  // That is never less, however short the round trip: a message of several packets takes as long
  // on a slow device, and shorter delays would only make more packets.
  static constexpr Duration least_ack_delay = std::chrono::microseconds(20);
  // Without an answer for that long: send something that makes the peer speak.
  // Doubles with each back_off(), until there is a sample again (Karn).
  Duration timeout(const Params &) const;
  void back_off() { backoff_ = backoff_ < most_backoff ? backoff_ + 1 : most_backoff; }

  // How much later than its successors a packet may come and not be taken for lost.
  Duration reordering(const Params &) const;
  // The most that this can become.
  Duration widest_reordering(const Params &) const;
  void reordering_seen() {
    reordering_ = reordering_ < most_reordering ? reordering_ + 1 : most_reordering;
  }

  static constexpr Duration base_lifetime = std::chrono::seconds(10);

private:
  static constexpr std::uint8_t most_backoff = 24, most_reordering = 15;

  std::uint32_t srtt_ns_ = 0, var_ns_ = 0, base_ns_ = 0; // 4.2 s at most
  std::uint16_t base_since_ = 0;                         // in units of 2^30 ns, wraps
  std::uint8_t backoff_ = 0;
  std::uint8_t reordering_ = 0; // steps
};

} // namespace dpdkx::session
