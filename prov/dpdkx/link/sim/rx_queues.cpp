// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/sim/rx_queues.h"

#include <algorithm>

namespace dpdkx::link::sim {

// A NIC's hash falls as it falls; here an uneven one would only blur what a longer queue gains.
std::uint32_t RxQueues::queue_of(const Address &from, const Address &to) const {
  const auto rule = std::ranges::find(rules_, to, &Rule::to);
  if (rule != rules_.end())
    return rule->queue;
  std::uint32_t host = 0;
  for (const std::uint8_t byte : from.ip)
    host = host << 8 | byte; // the last four count
  return (host + from.port) % pool_;
}

bool RxQueues::take(std::uint32_t queue) {
  Queue &q = queues_[queue];
  if (q.waiting >= q.descriptors) {
    ++q.lost;
    return false;
  }
  ++q.taken;
  q.most_waiting = std::max(q.most_waiting, ++q.waiting);
  return true;
}

std::uint64_t RxQueues::lost() const {
  std::uint64_t all = 0;
  for (const Queue &q : queues_)
    all += q.lost;
  return all;
}

} // namespace dpdkx::link::sim
