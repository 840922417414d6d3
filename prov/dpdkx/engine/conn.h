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
  std::uint8_t flags = 0;       // wire::packet_flag: how soon it is to be acknowledged
  std::byte frames[];
};

// While nobody answers at the address.
struct Dialling {
  Time since;
  Time retry_at = never;
  bool excused = false; // what the process stood still for doesn't count, once
};

// Where datagrams for one fi_addr_t go.
struct Target {
  link::Port *port = nullptr;
  link::PathId path = link::PathId::none;
  bool up = false;
  bool absent = false; // nobody was there; until somebody is, what is sent there is lost
  int error = 0;       // why there can be no path
  Time again_at{};     // not looked before
};

struct Conn : op::Peer {
  Conn(session::Gate &gate, wire::Token token, const Address &to, link::Port *via, bool lossless_)
      : address(to), port(via),
        session(gate, token, lossless_, via ? via->traits().max_datagram : 0) {
    lossless = lossless_;
  }

  // In this order, so that nothing is left empty between them.
  bool in_push : 1 = false, in_ack : 1 = false, doomed : 1 = false;
  bool path_up : 1 = false, opened : 1 = false, probe : 1 = false;
  bool dialling : 1 = false;     // until the path is up: see Impl::dialling_
  bool aliased : 1 = false;      // several fi_addr_t lead here, `addr` among them
  Address address;               // as dialled, or as the peer names itself
  std::uint16_t error : 9 = 0;   // positive, once doomed
  bool ack_listed : 1 = false;   // stands in the list of those that owe an ack, perhaps no more
  bool settle_later : 1 = false; // service() has seen an ack from it
  bool partner : 1 = false;      // of the endpoint's connection: its silence counts
  bool in_tell : 1 = false;      // it is to be told the processed position by its link
  bool listens : 1 = false;      // ... and may tell us by it
  bool told : 1 = false;         // the log says already why it ends
  bool in_order : 1 = false;     // it is told by packets, behind those that say what has failed
  link::PathId path = link::PathId::none;
  link::PathId other_path = link::PathId::none; // the peer's own, where both dialled
  std::uint32_t timer_index = 0xffffffff;       // in the timer heap
  link::Port *port;

  session::Session session;
};

// What an idle peer costs, but for up to 28 bytes in tables and their growth.
static_assert(sizeof(Conn) <= 224);

} // namespace dpdkx::engine
