// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Packets that have been sent and not been acknowledged: which are lost, and
// when to ask.
//
// Loss is found by time (RACK, RFC 8985): a packet is lost when one that was
// sent later has been acknowledged and a reordering allowance has passed. It
// needs no count of duplicate acks, finds lost resends like any other loss, and
// bears reordering by as much as the allowance, which grows when a resend turns
// out to have been needless. What goes to a peer's bulk port waits there in another queue: for
// packets to one port, those to the other count with the widest allowance only. When nothing comes
// back at all, the oldest packet is sent again as a probe; its ack tells about the rest.
#pragma once

#include "dpdkx/session/congestion.h"
#include "dpdkx/session/rtt.h"
#include "dpdkx/session/tx_packet.h"
#include "dpdkx/wire/packet.h"

#include <memory>

namespace dpdkx::session {

class SendWindow {
public:
  bool empty() const { return in_network() + lost_.count == 0; }
  std::uint32_t in_network() const { // sent, neither acked nor lost
    return lanes_[0].in_network.count + lanes_[1].in_network.count;
  }
  std::uint32_t lost() const { return lost_.count; } // waiting for their resend
  PacketNumber oldest() const { return oldest_; }    // first unacknowledged, if not empty
  const TxPacket *first() const;                     // that packet, or null
  std::uint32_t largest(PacketNumber next) const;    // bytes, of all that are here
  // Packet numbers from the oldest unacknowledged up to `next`.
  std::uint32_t span(PacketNumber next) const {
    return empty() ? 0 : static_cast<std::uint32_t>(next - oldest_);
  }

  bool sent(TxPacket *, PacketNumber pn, Time);

  // What may be sent again now, with `window` packets allowed in the network; or null.
  TxPacket *next_resend(std::uint32_t window) const;
  void resent(TxPacket *, Time);

  // Takes out what the block acknowledges and finds what is lost by it. `next`:
  // the number that has not been sent yet. False: the block speaks of such, or is old.
  bool on_ack(const wire::AckBlock &, PacketNumber next, RttEstimator &, const Params &, Time,
              AckSink &, Round &, AckEvent &);

  // Timers: when, and what happens then. True: nothing has come back from the
  // peer twice in a row.
  Time deadline(const RttEstimator &, const Params &) const;
  bool on_time(RttEstimator &, const Params &, Round &, Time);

  // As new, memory kept; packets that are still here are forgotten, not touched.
  void restart();

  // Everything, in order of packet number, linked by `next`.
  TxPacket *take_all(PacketNumber next);

private:
  struct List { // by `next` and `prev`, in order of sending
    TxPacket *head = nullptr, *tail = nullptr;
    std::uint32_t count = 0;
    void append(TxPacket *);
    void remove(TxPacket *);
  };
  // Packets to one port.
  struct Lane {
    List in_network;
    // The packet that was sent last of those acknowledged, and how long it took.
    Time delivered_sent_at = Time::min();
    PacketNumber delivered_pn;
    Duration delivered_rtt{};
    void delivered(const TxPacket &newest, Duration took);
    // When the packet counts as lost for what has been delivered here; never: it was sent later.
    Time given_up_at(const TxPacket &, Duration allowance) const;
  };
  Lane &lane(const TxPacket &p) { return lanes_[p.bulk]; }
  TxPacket *sent_first() const; // of those in the network
  TxPacket *&slot(PacketNumber pn) { return ring_[pn.value & (capacity_ - 1)]; }
  bool grow(PacketNumber next);
  void take(PacketNumber, AckSink &, RttEstimator &, Time, Round &, AckEvent &,
            TxPacket (&newest)[2]);
  void find_lost(const RttEstimator &, const Params &, Time, Round &);
  void to_lost(TxPacket *);

  std::unique_ptr<TxPacket *[]> ring_; // by packet number; null: acknowledged
  std::uint32_t capacity_ = 0;         // a power of two
  PacketNumber oldest_;                // first unacknowledged, if any
  Lane lanes_[2];                      // to the peer's own port, and to its bulk port
  List lost_;

  Time reorder_deadline_ = never; // when the next packet counts as lost
  Time answered_at_{};            // the last ack that told something new, or the last probe
  std::uint8_t probes_ = 0;       // since then
  bool probe_ = false;            // a resend may leave whatever the window says
};

} // namespace dpdkx::session
