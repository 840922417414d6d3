// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a session needs only while there is traffic, and where it comes from.
#pragma once

#include "dpdkx/session/congestion.h"
#include "dpdkx/session/receive_window.h"
#include "dpdkx/session/send_window.h"

#include <cstdint>

namespace dpdkx::session {

// Acks that are owed.
struct OwedAck {
  Time newest_at{};          // when the newest packet came in
  Time due_at = never;       // when the ack is to leave by itself
  std::uint32_t packets = 0; // since the last ack
};

struct WindowState {
  SendWindow tx;
  Round round;
  ReceiveWindow rx;
  OwedAck ack;
  bool filled = false; // the window has been, and not enough of it is free again, see room()
  Time asked_at{};     // when a packet that doesn't get through was looked into last
  WindowState *next_free = nullptr;

  void restart(); // as new, memory kept
  bool idle() const { return tx.empty() && rx.empty() && ack.packets == 0; }
};

// Windows of idle sessions are kept for the next busy one, so that traffic
// allocates nothing; a bounded number, so that many idle peers cost nothing.
class WindowPool {
public:
  WindowPool() = default;
  ~WindowPool();
  WindowPool(WindowPool &&) = delete;

  WindowState *take(); // null: out of memory
  void give_back(WindowState *);

  static constexpr std::uint32_t most_kept = 256;

private:
  WindowState *free_ = nullptr;
  std::uint32_t kept_ = 0;
};

} // namespace dpdkx::session
