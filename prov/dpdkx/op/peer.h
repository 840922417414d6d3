// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the operation layer keeps for each peer. The idle part is small; lists
// of operations exist only while there is traffic that they hold.
#pragma once

#include "dpdkx/base/clock.h"
#include "dpdkx/base/seq.h"
#include "dpdkx/op/ops.h"

#include <memory>

namespace dpdkx::op {

// An answer that waits for room. They are few, and of one packet at most.
struct ControlFrame {
  wire::FrameType type; // cts, fin, status or rdata
  wire::CtsFrame cts;
  wire::FinFrame fin;
  wire::StatusFrame status;
  Landing *failed = nullptr; // the one that `status` is about
  wire::RdataFrame rdata;
  std::unique_ptr<std::byte[]> payload; // of rdata, what stood there in its turn
  ListLink<ControlFrame> link;
};

// A frame that came before its turn, with a copy of its payload.
struct HeldFrame {
  ListLink<HeldFrame> link;
  MessageNumber mn;
  wire::Frame frame;
  std::unique_ptr<std::byte[]> payload;
};

struct Traffic {
  // Sending. An operation is in exactly one of these lists.
  List<TxOp, &TxOp::link> pending;            // not wholly handed to the session, in order
  List<TxOp, &TxOp::link> awaiting_ack;       // by packet number
  List<TxOp, &TxOp::link> awaiting_processed; // by message number
  List<TxOp, &TxOp::link> requested;          // waits for cts, fin or rdata
  List<TxOp, &TxOp::link> streaming;          // rendezvous: cts has come
  List<TxOp, &TxOp::link> streamed;           // all data sent, waits for fin
  List<TxOp, &TxOp::link> ended;              // fin has come; resends may still read the memory
  List<ControlFrame, &ControlFrame::link> control;

  // Receiving.
  List<Landing, &Landing::link> assemblies; // messages in several parts, in order of mn
  List<Landing, &Landing::link> receiving;  // rendezvous
  List<HeldFrame, &HeldFrame::link> held;   // in order of mn
  List<WaitingAdd, &WaitingAdd::link> adds; // likewise, all of them before rx_next

  // Messages wait for these, with what is behind them: of ours, writes by rendezvous and reads of
  // several packets until they are over; of the peer's, writes in several parts until all are here.
  std::uint32_t bulk = 0, arriving = 0;

  // Whether what has this number waits for bytes of the peer that are still on their way.
  bool parts_before(MessageNumber mn) const {
    for (const Landing *l = assemblies.front(); l && l->mn < mn; l = assemblies.next(l))
      if (l->received < l->total)
        return true;
    return false;
  }
  bool adds_await_parts() const { return !adds.empty() && parts_before(adds.back()->mn); }
  // ... or for any data to be in place, or to have left.
  bool data_before(MessageNumber mn) const {
    for (const Landing *l = receiving.front(); l; l = receiving.next(l))
      if (l->mn < mn)
        return true;
    for (const TxOp *op = streaming.front(); op; op = streaming.next(op))
      if (op->serves && op->mn < mn)
        return true;
    return parts_before(mn);
  }

  // When a fence asked last where the peer stands, where it stood then, and how long it gets to say
  // something new.
  Time probed_at{};
  MessageNumber probed_above{};
  Duration probe_pause{};

  // Bytes that `streaming` may send for those of `pending` that have gone before: as many, so that
  // neither starves behind the other.
  std::uint32_t data_share = 0;

  bool to_send() const { return !pending.empty() || !control.empty() || !streaming.empty(); }
  // Whether the peer owes something: its silence counts then.
  bool waits() const {
    return to_send() || !awaiting_ack.empty() || !awaiting_processed.empty() ||
           !requested.empty() || !streamed.empty() || !ended.empty() || !assemblies.empty() ||
           !receiving.empty();
  }
  // Whether the application loses something by its end.
  bool loses() const {
    for (const auto *list :
         {&pending, &awaiting_ack, &awaiting_processed, &requested, &streaming, &streamed, &ended})
      for (const TxOp *op = list->front(); op; op = list->next(op))
        if (!op->serves)
          return true;
    return !assemblies.empty() || !receiving.empty();
  }
  bool idle() const { return !waits() && held.empty() && adds.empty(); }
};

struct Peer {
  fi_addr_t addr = FI_ADDR_NOTAVAIL; // in the endpoint's AV
  std::unique_ptr<Traffic> traffic;

  MessageNumber tx_next;      // the next message sent gets this number
  MessageNumber tx_processed; // every message before it has been processed by the peer
  MessageNumber rx_next;      // the next message to be executed

  // Credit, in units of wire::credit_unit, as positions that wrap.
  std::uint32_t tx_used = 0, tx_limit = 0;    // what we have spent, and may spend
  std::uint32_t rx_used = 0, rx_released = 0; // what the peer has spent, and has back
  std::uint32_t rx_window = 0, rx_told = 0;   // what it may have out; limit as last told

  std::uint16_t max_frames = 0;    // bytes of frames that one packet carries; 0: no session yet
  bool lossless : 1 = false;       // what has been handed over arrives
  bool can_pull : 1 = false;       // its memory can be read
  bool rma : 1 = false;            // it knows RMA and atomics
  bool owes_processed : 1 = false; // it waits for a processed position that has yet to be reached
  bool connects : 1 = false;       // it knows the frames of connections
  bool counts : 1 = false;         // ... and of counters
  bool stranger : 1 = false;       // only of connections may it speak
  bool deaf : 1 = false;           // no receive here takes its messages any more

  std::uint32_t rx_limit() const { return rx_released + rx_window; }
  MessageNumber processed() const {
    MessageNumber at = rx_next;
    if (traffic && !traffic->assemblies.empty())
      at = traffic->assemblies.front()->mn;
    if (traffic && !traffic->adds.empty() && traffic->adds.front()->mn < at) [[unlikely]]
      at = traffic->adds.front()->mn;
    return at;
  }
};

// Part of what an idle peer costs.
static_assert(sizeof(Peer) <= 56);

} // namespace dpdkx::op
