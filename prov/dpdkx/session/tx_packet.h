// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "dpdkx/base/clock.h"
#include "dpdkx/base/seq.h"

#include <cstdint>

namespace dpdkx::session {

// A packet that has been sent and may have to be sent again. Belongs to the
// engine; the session keeps it from sent() until AckSink::acked() or
// take_all(), and in that time all its members are the session's.
struct TxPacket {
  TxPacket *next = nullptr; // free for whoever holds the packet
  TxPacket *prev = nullptr; // likewise
  Time sent_at{};
  Time first_sent_at{};
  PacketNumber pn;
  std::uint32_t bytes = 0; // on the wire
  std::uint16_t tries = 0; // times sent
  bool lost = false;       // waits for its resend
  bool bulk = false;       // the engine's: it goes to the peer's bulk port, the first time
};

class AckSink {
public:
  // The peer has it; no longer the session's. Must not call back into the session.
  virtual void acked(TxPacket *) = 0;

protected:
  ~AckSink() = default;
};

} // namespace dpdkx::session
