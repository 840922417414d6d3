// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "dpdkx/base/clock.h"
#include "dpdkx/wire/handshake.h"

#include <optional>

namespace dpdkx::session {

// Shared by all sessions of an endpoint; set before the first.
struct Params {
  Duration peer_timeout = std::chrono::seconds(10); // no sign of life for that long: dead
  Duration initial_rto = std::chrono::milliseconds(1);
  // A confirm that isn't answered for so long counts as one round of the search for what the path
  // carries; a sixteenth of peer_timeout, if that is less.
  Duration handshake_round = std::chrono::milliseconds(100);
  Duration min_rto = std::chrono::microseconds(20);
  Duration max_rto = std::chrono::milliseconds(500);
  Duration max_ack_delay = std::chrono::microseconds(50);
  // Queueing on the way that the congestion window aims at, above the path's own round trip.
  Duration target_delay = std::chrono::microseconds(50);
  std::uint32_t window = 1024;       // packets in flight at most, multiple of 64, <= 1024
  std::uint32_t initial_window = 16; // packets in flight before anything is known of the path
  std::uint32_t packets_an_ack = 16; // received before an ack leaves by itself
  std::uint32_t first_credit = 256;  // units of wire::credit_unit
  wire::KeyDigest key{};
  std::uint16_t bulk_port = 0; // the endpoint's, see wire::Hello
  bool takes_joined = false;   // ... wire::feature::joined
  // Where packet and message numbers start; by default drawn at random. For tests.
  std::optional<std::uint32_t> first_number;
};

} // namespace dpdkx::session
