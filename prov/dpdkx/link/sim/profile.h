// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a simulated network is like: its ports, what goes wrong between them,
// and how often it did.
#pragma once

#include "dpdkx/base/clock.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace dpdkx::link::sim {

class RxQueues;

// One port's cable to the switch, and the switch's port at its other end. A
// datagram leaves its sender's ring at the rate of the sender's cable, waits at
// the switch in the receiver's queue, and leaves it at the rate of the
// receiver's cable.
struct Profile {
  std::uint64_t rate = 10'000'000'000;            // bit/s in each direction; 0: takes no time
  Duration delay = std::chrono::microseconds(10); // one way between two such ports, half at each
  std::uint32_t queue = 64;          // datagrams waiting for this port in the switch; more: dropped
  std::uint32_t tx_ring = 256;       // datagrams not yet on the cable; more: reserve() refuses
  std::uint32_t rx_ring = 4096;      // datagrams that nobody has polled; more: dropped
  std::uint32_t max_datagram = 1472; // 1500 B less IPv4 and UDP
  std::uint32_t overhead = 66;       // bytes that each datagram takes on the cable besides its own:
                                     // preamble, gap, Ethernet, IPv4, UDP
  Duration resolve{};                // open_path() takes that long
  // The port has a bulk port: what comes there waits in the switch in a queue of its own, as long
  // as the other, and takes that much longer. Not with `lossless`.
  std::optional<Duration> bulk_delay{};
  bool takes_joined = false; // it says so; they come one by one all the same

  // Of the NIC behind which the port is, instead of rx_ring. Not with `lossless`.
  std::shared_ptr<RxQueues> rx_queues{};

  // Like the host link: lossless, ordered, connected; queue and rx_ring don't
  // count, tx_ring is what one path holds until it is released. Both ends of a
  // path are of one kind.
  bool lossless = false;

  static Profile host() {
    Profile p;
    p.lossless = true;
    p.rate = 100'000'000'000;
    p.delay = std::chrono::nanoseconds(200);
    p.tx_ring = 64;
    p.max_datagram = 16 * 1024 + 256;
    p.overhead = 0;
    return p;
  }
};

// What goes wrong with datagrams from one port to another. Probabilities are of
// one datagram, from 0 to 1. Lossless ports are spared.
struct Faults {
  double loss = 0;
  double duplicate = 0; // the copy comes up to reorder_delay later
  double reorder = 0;   // up to reorder_delay late, so that others overtake it
  double corrupt = 0;   // one to three bits are flipped
  Duration reorder_delay = std::chrono::microseconds(50);
  Duration jitter{};            // up to that late; keeps the order
  std::uint32_t black_hole = 0; // datagrams of more bytes vanish; 0: none do
};

struct FaultCounters {
  std::uint64_t lost = 0, duplicated = 0, reordered = 0, corrupted = 0, jittered = 0;
  std::uint64_t black_holed = 0;  // too large for the path
  std::uint64_t cut_off = 0;      // cable down, or the pair is partitioned
  std::uint64_t queue_full = 0;   // dropped at the switch
  std::uint64_t ring_full = 0;    // dropped at the receiver, who didn't poll
  std::uint64_t no_receiver = 0;  // nobody is bound there
  std::uint64_t hook_dropped = 0; // by the test's hook
  std::uint64_t injected = 0;     // by the test
  std::uint64_t sent = 0, delivered = 0;
  std::uint64_t bulk = 0; // of these sent, to bulk ports
  // Calls against link.h's rules: a reservation left open, a path that isn't, a
  // length beyond the room, poll() before release(). Must stay 0.
  std::uint64_t misuse = 0;
};

} // namespace dpdkx::link::sim
