// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// One peer of an endpoint: its session, its operations, the path to it.
#pragma once

#include "dpdkx/base/list.h"
#include "dpdkx/link/link.h"
#include "dpdkx/op/peer.h"
#include "dpdkx/session/session.h"

#include <memory>

namespace dpdkx::engine {

// A packet that is kept until the peer has it: its frames, and where the rest
// of the last frame's payload stands in the application's memory.
struct Packet : session::TxPacket {
  const op::TxOp *source = nullptr;
  std::uint64_t source_offset = 0;
  std::uint32_t source_len = 0;
  std::uint32_t frames_len = 0; // without the source's
  bool ack_now = false;         // the peer is to acknowledge it without delay
  std::byte frames[];
};

// While nobody answers at the address.
struct Dialling {
  Time since;
  Time retry_at = never;
};

struct Conn : op::Peer {
  Conn(session::Gate &gate, wire::Token token, const Address &to, link::Port *via, bool lossless_)
      : address(to), port(via),
        session(gate, token, lossless_, via ? via->traits().max_datagram : 0) {
    lossless = lossless_;
  }

  Address address; // as dialled, or as the peer names itself
  bool in_push = false, in_ack = false, doomed = false;
  bool path_up = false, opened = false, probe = false;
  link::PathId path = link::PathId::none;
  link::PathId other_path = link::PathId::none; // the peer's own, where both dialled
  link::Port *port;
  std::uint32_t timer_index = 0xffffffff; // in the timer heap
  std::uint16_t error = 0;                // positive, once doomed
  std::unique_ptr<Dialling> dialling;     // until the path is up

  session::Session session;
};

// What an idle peer costs, but for some ten bytes in tables.
static_assert(sizeof(Conn) <= 240);

} // namespace dpdkx::engine
