// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How many receive queues a device is set up with, and how packets come to them. A device takes
// what it takes: there is a next best plan for each, down to one queue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dpdkx::link {

// Who spreads packets over the pool, all of one pair of ports to one queue.
enum class Spread : std::uint8_t {
  none,   // there is one queue
  driver, // of itself, over all queues that it has
  rss,    // the device, by addresses and ports
};

struct QueuePlan {
  std::uint16_t pool = 1;  // queues by which everything comes
  std::uint16_t rules = 0; // ... to which rules alone send packets: the last ones
  Spread spread = Spread::none;

  std::uint16_t total() const { return static_cast<std::uint16_t>(pool + rules); }
  friend bool operator==(const QueuePlan &, const QueuePlan &) = default;
};

// What a driver says of itself.
struct QueueAbilities {
  std::uint16_t most = 1; // queues
  bool by_itself = false; // Spread::driver
  bool rss = false;       // by UDP ports
  bool rules = false;     // it may know some
};

// For so many queues in the pool and for rules: the best first, the last of one queue (unless the
// driver has more and uses them all).
std::vector<QueuePlan> plan_queues(std::uint32_t pool, std::uint32_t rules, const QueueAbilities &);

std::string to_string(const QueuePlan &); // "RSS over 4 queues"

} // namespace dpdkx::link
