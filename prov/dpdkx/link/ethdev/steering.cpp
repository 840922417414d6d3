// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/steering.h"

#include <algorithm>

namespace dpdkx::link {

Steering::Steering(FlowRules *rules, std::uint16_t first, std::uint16_t queues)
    : rules_(rules), first_(first), queues_(rules != nullptr && rules->supported() ? queues : 0) {
  in_use_.reserve(queues_.size());
}

Steering::~Steering() {
  for (Queue &queue : queues_)
    if (queue.state != State::free)
      (void)rules_->remove(queue.rule);
}

std::uint16_t Steering::claim(std::uint16_t udp_port) {
  if (queues_.empty())
    return no_queue;
  retry_stuck();
  const auto queue = std::ranges::find(queues_, State::free, &Queue::state);
  if (queue == queues_.end()) {
    ++counters_.exhausted;
    return no_queue;
  }
  const auto number = static_cast<std::uint16_t>(first_ + (queue - queues_.begin()));
  if (rules_->add(udp_port, number, queue->rule) != 0) {
    ++counters_.refused;
    return no_queue;
  }
  queue->state = State::owned;
  ++counters_.given;
  list();
  return number;
}

void Steering::release(std::uint16_t queue) {
  if (queue == no_queue)
    return;
  drop_rule(queues_[static_cast<std::size_t>(queue - first_)]);
  list();
}

void Steering::drop_rule(Queue &queue) {
  queue.state = rules_->remove(queue.rule) == 0 ? State::free : State::stuck;
}

void Steering::retry_stuck() {
  for (Queue &queue : queues_)
    if (queue.state == State::stuck)
      drop_rule(queue);
  list();
}

void Steering::list() {
  in_use_.clear();
  for (std::size_t i = 0; i < queues_.size(); ++i)
    if (queues_[i].state != State::free)
      in_use_.push_back(static_cast<std::uint16_t>(first_ + i));
}

Steering::Counters Steering::counters() const {
  Counters c = counters_;
  c.rules = static_cast<std::uint64_t>(std::ranges::count(queues_, State::owned, &Queue::state));
  c.stuck = static_cast<std::uint64_t>(std::ranges::count(queues_, State::stuck, &Queue::state));
  return c;
}

} // namespace dpdkx::link
