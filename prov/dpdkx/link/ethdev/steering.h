// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Which endpoint has a receive queue of its own. A device has a pool of queues, by which
// everything comes, and perhaps others, to which rules alone send packets. An endpoint that gets
// one of these names a second UDP port to its peers, its bulk port. None of this can fail: who
// gets no queue is reached by the pool, and so is one whose rule is no more.
//
// Not thread-safe; knows no DPDK.
#pragma once

#include "dpdkx/link/ethdev/flow_rules.h"

#include <cstdint>
#include <vector>

namespace dpdkx::link {

class Steering {
public:
  static constexpr std::uint16_t no_queue = 0xffff;

  struct Counters {
    std::uint64_t rules = 0;     // in force
    std::uint64_t stuck = 0;     // that the device doesn't remove
    std::uint64_t given = 0;     // queues, so far
    std::uint64_t refused = 0;   // rules that the device has not taken
    std::uint64_t exhausted = 0; // asked for with all queues given
  };

  // Queues from `first` on, so many, are for rules. `rules` outlives it; null: there are none.
  Steering(FlowRules *rules, std::uint16_t first, std::uint16_t queues);
  ~Steering(); // removes its rules
  Steering(const Steering &) = delete;

  // Whether there is any use in claim().
  bool active() const { return !queues_.empty(); }
  // A queue for what comes for that UDP port from now on; no_queue: it comes by the pool.
  std::uint16_t claim(std::uint16_t udp_port);
  void release(std::uint16_t queue); // also no_queue

  // Where packets may be, besides the pool. With room for all of them.
  const std::vector<std::uint16_t> &in_use() const { return in_use_; }
  Counters counters() const;

private:
  enum class State : std::uint8_t {
    free,
    owned,
    stuck, // released, yet the rule still sends packets there: for nobody else until that is over
  };
  struct Queue {
    State state = State::free;
    FlowRules::Handle rule{};
  };
  void drop_rule(Queue &);
  void retry_stuck();
  void list();

  FlowRules *const rules_;
  const std::uint16_t first_;
  std::vector<Queue> queues_;
  std::vector<std::uint16_t> in_use_;
  Counters counters_;
};

} // namespace dpdkx::link
