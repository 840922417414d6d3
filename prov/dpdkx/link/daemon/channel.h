// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The memory and the socket that a rank's port and dpdkxd share: one end of it.
// Who publishes wakes a sleeper on the other side (see host/wait.cpp). Who goes to
// sleep fences; who publishes does, too, at the latest before it turns to
// something else: a rank in each flush, dpdkxd in its first turn without traffic.
#pragma once

#include "dpdkx/link/host/handshake.h"
#include "dpdkx/link/host/segment.h"

namespace dpdkx::link::daemon {

struct Channel {
  host::Segment segment;
  host::RingProducer tx;
  host::RingConsumer rx;
  host::Fd socket;
  std::uint32_t *own_sleep = nullptr, *peer_sleep = nullptr;

  // With a segment that begins at `start`; the other end sends records of at most `max_record`.
  void attach(host::Segment &&memory, host::End end, std::uint64_t start,
              std::uint32_t max_record) {
    segment = std::move(memory);
    rx = host::RingConsumer(segment.ring(end), start, max_record);
    tx = host::RingProducer(segment.ring(host::other(end)), start);
    own_sleep = &segment.consumer_words(end).sleep;
    peer_sleep = &segment.consumer_words(host::other(end)).sleep;
    set_sleep(host::Sleep::may_sleep);
  }

  void set_sleep(host::Sleep sleep) {
    host::store_relaxed(own_sleep, static_cast<std::uint32_t>(sleep));
  }

  // After records were committed.
  void wake_peer() {
    host::full_fence();
    wake_if_asleep();
  }
  // Without a fence: it may not see the records yet, and go to sleep just now. So there is to be
  // another look, at last wake_peer().
  void wake_if_asleep() {
    auto asleep = static_cast<std::uint32_t>(host::Sleep::asleep);
    if (host::load_relaxed(peer_sleep) != asleep) [[likely]]
      return;
    if (std::atomic_ref(*peer_sleep)
            .compare_exchange_strong(asleep, static_cast<std::uint32_t>(host::Sleep::may_sleep)))
      host::send_wake(socket);
  }

  // False: there is something to read already. The caller drains the socket first.
  bool sleep() {
    set_sleep(host::Sleep::asleep);
    host::full_fence();
    if (rx.empty())
      return true;
    set_sleep(host::Sleep::may_sleep);
    return false;
  }
};

} // namespace dpdkx::link::daemon
