// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The receive side of a simulated NIC: queues of finite length, which the ports
// behind it share. What finds its queue full is lost, and counted.
#pragma once

#include "dpdkx/base/address.h"

#include <cstdint>
#include <vector>

namespace dpdkx::link::sim {

// Under the network's mutex while ports use it.
class RxQueues {
public:
  struct Queue {
    std::uint32_t descriptors = 0;
    std::uint32_t waiting = 0, most_waiting = 0; // datagrams that nobody has taken out
    std::uint64_t taken = 0, lost = 0;           // since the start
  };

  // A pool, over which datagrams are spread by their source (RSS): those of one source to one
  // queue, those of sources that follow each other, in address or port, evenly.
  RxQueues(std::uint32_t queues, std::uint32_t descriptors)
      : queues_(queues, Queue{.descriptors = descriptors}), pool_(queues) {}

  // A queue of its own for what comes to that address (a flow rule).
  void add_rule(const Address &to, std::uint32_t descriptors) {
    rules_.push_back({to, static_cast<std::uint32_t>(queues_.size())});
    queues_.push_back(Queue{.descriptors = descriptors});
  }

  std::uint32_t queue_of(const Address &from, const Address &to) const;
  bool take(std::uint32_t queue); // a descriptor; false: there is none
  void give_back(std::uint32_t queue) { --queues_[queue].waiting; }

  const std::vector<Queue> &queues() const { return queues_; } // the pool's, then the rules'
  std::uint64_t lost() const;

private:
  struct Rule {
    Address to;
    std::uint32_t queue;
  };
  std::vector<Queue> queues_;
  std::vector<Rule> rules_;
  const std::uint32_t pool_;
};

} // namespace dpdkx::link::sim
