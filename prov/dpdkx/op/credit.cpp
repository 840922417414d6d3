// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Credit: how much a peer may send without being asked for it, so that memory
// for messages that nobody has posted a receive for is bounded. Windows start
// small and grow with use, read or not, from a pool that all peers share.
#include "dpdkx/op/messenger.h"

#include <algorithm>

namespace dpdkx::op {

// What a message of that length costs: its header counts as one unit.
std::uint32_t Messenger::charge_of(std::size_t len) {
  return static_cast<std::uint32_t>(1 + (len + wire::credit_unit - 1) / wire::credit_unit);
}

// Whether the peer was allowed to send such a message unasked.
bool Messenger::affordable(const Peer &p, std::uint64_t total) const {
  const std::uint32_t left = p.rx_limit() - p.rx_used;
  return total / wire::credit_unit < left && charge_of(total) <= left;
}

void Messenger::spend(Peer &p, std::uint32_t charge) {
  p.rx_used += charge;
  if (p.rx_told - p.rx_used < p.rx_window / 4) [[unlikely]]
    grow_window(p);
}

// The peer is short of credit.
void Messenger::grow_window(Peer &p) {
  const std::uint32_t most =
      static_cast<std::uint32_t>(limits_.unexpected_peer / wire::credit_unit);
  const std::uint32_t more = std::min(p.rx_window, most > p.rx_window ? most - p.rx_window : 0);
  if (more == 0 || promised_units_ + more > limits_.unexpected_pool / wire::credit_unit)
    return;
  p.rx_window += more;
  promised_units_ += more;
  tell_credit(p);
}

// A peer that has still enough to go on with can do without a packet of its own for it.
void Messenger::tell_credit(Peer &p) {
  if (p.rx_told - p.rx_used < p.rx_window / 4)
    outlet_.want_ack(p);
  else
    outlet_.want_ack_soon(p);
}

void Messenger::give_back(Peer *p, std::uint32_t charge) {
  if (!p || charge == 0)
    return;
  p->rx_released += charge;
  if (p->rx_limit() - p->rx_told >= p->rx_window / 2) [[unlikely]]
    tell_credit(*p);
}

void Messenger::release_window(Peer &p) {
  if (p.rx_window > first_window_)
    promised_units_ -= p.rx_window - first_window_;
  p.rx_window = 0;
}

} // namespace dpdkx::op
