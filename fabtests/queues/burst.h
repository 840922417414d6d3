// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The experiment: a burst of small messages from many hosts to a rank that
// computes, behind a NIC with finite queues. On the virtual clock, with the real
// engine and the real daemon: one seed, one result.
#pragma once

#include "queues/sim_daemon.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace queues {

enum class Mode : std::uint8_t {
  rank_polled, // the NIC is polled in the rank's calls only
  dedicated,   // the daemon polls it
  hybrid,      // and the rank a queue of its own, for the data of rendezvous
};

struct Burst {
  Mode mode = Mode::rank_polled;
  bool datagrams = false; // FI_EP_DGRAM: nothing holds senders back, nothing is sent again
  std::uint32_t queues = 1, descriptors = 512;
  std::uint32_t senders = 16;
  std::uint32_t count = 256; // in all, as many of each sender
  std::size_t size = 8;      // bytes, from 8 on
  dpdkx::Duration compute{}; // from the burst on
  // Meanwhile a message of so many bytes goes to another rank behind the NIC, which waits for it;
  // under Mode::rank_polled that one has queues of its own. 0: there is none.
  std::size_t bulk = 0;
  DaemonCosts costs{};
  std::uint64_t seed = 1;
};

struct Outcome {
  std::uint32_t received = 0;        // messages
  std::uint64_t packets = 0;         // that came to the NIC during all that
  std::uint64_t lost = 0;            // of these, as their queue was full
  std::uint64_t in_pool = 0;         // of these, to queues of the pool
  std::uint32_t most_waiting = 0;    // in one queue
  std::uint64_t lost_in_ring = 0;    // by the daemon: the rank's ring was full
  std::uint64_t resent = 0;          // packets
  std::vector<double> latencies{};   // us, from the burst's begin to the completion, in this order
  std::optional<double> bulk_took{}; // us

  friend bool operator==(const Outcome &, const Outcome &) = default;
};

Outcome run(const Burst &);

std::string_view name_of(Mode);

} // namespace queues
