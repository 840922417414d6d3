// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Packets for a port that another port's poll has taken from the device: a
// bounded queue. Under the device's receive lock.
#pragma once

#include <cstdint>
#include <memory>
#include <rte_mbuf.h>

namespace dpdkx::link {

class Inbox {
public:
  explicit Inbox(std::uint32_t capacity) // a power of two
      : slots_(std::make_unique<rte_mbuf *[]>(capacity)), mask_(capacity - 1) {}
  Inbox(const Inbox &) = delete;
  ~Inbox() {
    while (auto *packet = pop())
      rte_pktmbuf_free(packet);
  }

  bool push(rte_mbuf *packet) {
    if (tail_ - head_ > mask_)
      return false;
    slots_[tail_++ & mask_] = packet;
    return true;
  }
  rte_mbuf *pop() { return head_ == tail_ ? nullptr : slots_[head_++ & mask_]; }
  bool empty() const { return head_ == tail_; }

private:
  std::unique_ptr<rte_mbuf *[]> slots_;
  std::uint32_t mask_, head_ = 0, tail_ = 0;
};

} // namespace dpdkx::link
