// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Reliability between two endpoints: handshake, sequence, selective ack,
// resend, round-trip time, congestion window, credits, incarnation, liveness.
// Pure logic on a clock that is passed in: it never sends; it says what is to
// be sent. Not thread-safe: the owner serialises.
#pragma once

#include "dpdkx/base/address.h"
#include "dpdkx/base/clock.h"
#include "dpdkx/session/congestion.h"
#include "dpdkx/session/gate.h"
#include "dpdkx/session/params.h"
#include "dpdkx/session/rtt.h"
#include "dpdkx/session/tx_packet.h"
#include "dpdkx/wire/handshake.h"
#include "dpdkx/wire/packet.h"

#include <memory>
#include <optional>

namespace dpdkx::session {

enum class State : std::uint8_t {
  idle,       // nothing has been sent yet
  hello_sent, // waits for a challenge
  confirming, // waits for a welcome
  established,
  dead, // see error()
};

enum class Accept : std::uint8_t { fresh, duplicate, outside }; // outside: beyond the window

// What must be sent now to set up, keep or end the session.
struct Control {
  wire::PacketType type; // hello, confirm, welcome
  wire::Token token;     // for the packet's header
  wire::Hello hello;
};

class Handshake;
struct WindowState; // while anything is in flight or has holes; freed when idle

class Session {
public:
  // `lossless`: the link loses and reorders nothing: incarnation and credits
  // only. `max_datagram`: what the link carries. The gate outlives the session.
  Session(Gate &, wire::Token local, bool lossless, std::uint32_t max_datagram);
  ~Session();
  Session(Session &&) = delete;

  State state() const { return state_; }
  bool established() const { return state_ == State::established; }
  // The peer has shown to be there by a packet of this session: what the
  // handshake has settled stays.
  bool proven() const { return established() && !unproven_; }
  // Negative errno once dead: -ETIMEDOUT, -ECONNRESET, -EPROTONOSUPPORT, -EKEYREJECTED, ...
  int error() const { return -static_cast<int>(error_); }
  // For how long the handshake under way has been tried; none: zero.
  Duration asked_for(Time now) const;
  wire::Token local_token() const { return local_token_; }
  wire::Token peer_token() const { return peer_token_; }
  wire::Incarnation peer_incarnation() const { return peer_incarnation_; }
  // Whether that is from the session's peer, and not from another life or session of its.
  bool same_life(const wire::Hello &) const;
  // Whom the handshake under way has met: the life that answered its hello.
  wire::Incarnation met() const;
  // Agreed: the smaller side's, and what the path has shown to carry.
  std::uint32_t max_datagram() const { return max_datagram_; }
  // The path swallows datagrams that both links could carry (to be reported).
  bool path_limited() const { return path_limited_; }
  // From the handshake: this side's and the peer's first message number, and
  // how far the peer's first credit goes (absolute, see AckBlock).
  MessageNumber first_mn() const;
  MessageNumber peer_first_mn() const { return peer_first_mn_; }
  std::uint32_t peer_first_credit() const { return peer_first_credit_; }
  // Whether the peer understands all of these (wire::feature); false until established.
  bool peer_has(std::uint64_t features) const { return (peer_features_ & features) == features; }

  // Handshake. next_control() is asked after each of these and at deadline();
  // it answers until there is nothing to send now.
  void open(Time);
  void on_challenge(const wire::Challenge &, Time);
  // Cookie and acceptability already checked by the gate. A session with
  // another life of the peer dies of it (-ECONNRESET); the owner then gives the
  // same confirm to a new session.
  void on_confirm(const wire::Hello &, Time);
  void on_welcome(const wire::Hello &, Time);
  // The peer knows no session of our token for it. Starts a handshake anew to
  // see whether that is so; ignored unless it speaks of this session.
  void on_reset(const wire::Reset &, Time);
  std::optional<Control> next_control(Time);
  void fail(int negative_errno); // from outside: the path is gone, the peer has said bye

  // Sending. room(): packets that may be sent now: 0 = wait for acks, or, after
  // an answered confirm, for the first packet of a peer that has shown to be alive.
  std::uint32_t room() const;
  PacketNumber next_pn() const { return next_pn_; } // what sent() will give
  // The packet leaves now. Lossless: only the number is used, `p` may be null
  // and is not kept. False: there is no memory to keep it in mind, and the
  // session is to be failed.
  bool sent(TxPacket *p, std::uint32_t bytes, Time);
  // Flags that the packet which is sent next had better carry: ack_now when it
  // fills the window, ack_soon when it fills half of it.
  std::uint8_t ask_for_ack() const;
  // A packet whose time has come to be sent again (same number), or null.
  // The caller sends it, then resent().
  TxPacket *next_resend(Time);
  void resent(TxPacket *, Time);
  bool in_flight() const; // anything not acknowledged
  // Every packet before this one has been acknowledged (lossless: has been sent).
  PacketNumber acked() const;
  // Gives back everything kept, in order of pn, linked by `next` (after death, or at close).
  TxPacket *take_all();

  // Receiving. Any valid packet with our token is a sign of life.
  void heard(Time);
  Time heard_at() const { return heard_at_; }
  Accept accept(PacketNumber, std::uint8_t packet_flags, Time);
  void on_ack(const wire::AckBlock &, bool ecn_echo, Time, AckSink &);

  // Acknowledging. An ack block may ride on any packet.
  bool ack_wanted() const;  // worth putting into a packet that leaves anyway
  bool ack_due(Time) const; // to be sent by itself now
  // cumulative, sack, delay; the caller adds the rest.
  void fill(wire::AckBlock &, Time) const;
  bool ecn_echo() const { return ecn_; } // whether the packet with the block carries that flag
  void ack_sent(Time);
  // The next ack is due at once (processed position, credit; an ack packet with flag ack_now).
  void request_ack() { ack_requested_ = true; }
  // The next ack is due soon: an answer may carry it. False: none is owed, so nothing would remind
  // of it.
  bool want_ack_soon(Time);
  void note_ecn() { ecn_ = true; } // congestion was marked on a packet that came in

  // Liveness: `waiting`: the owner waits for something from this peer, so its
  // silence counts. probe_due(): send an ack packet with flag ack_now.
  void set_waiting(bool, Time);
  bool probe_due(Time);

  // When to look again (timers), never when nothing is pending. In the past
  // when something could be sent now.
  Time deadline() const;
  // Runs timers: marks what is lost, retries the handshake, finds the peer dead
  // (state() == dead then).
  void on_time(Time);

  Duration srtt() const { return rtt_.srtt(); }                            // zero: not measured yet
  std::uint32_t congestion_window() const { return congestion_.window(); } // packets
  std::uint64_t resends() const { return resends_; }

private:
  static std::uint32_t resumes_at(std::uint32_t allowed); // packets in flight, after a full window
  bool asking() const;
  void adopt(const wire::Hello &, Time known_at);
  void limit_datagram(const wire::Hello &);
  Handshake *handshake();
  void ask(Time);
  void end_handshake();
  void answer(const wire::Hello &confirm);
  Control control(wire::PacketType) const;
  WindowState *window();
  void release_if_idle();
  bool waits() const;
  Time silent_since() const;
  void excuse_silence();
  Time stuck_at() const;

  Gate &gate_;
  std::unique_ptr<Handshake> handshake_;
  WindowState *window_ = nullptr; // the gate's pool's
  wire::Token local_token_;
  wire::Token peer_token_ = wire::Token::none;
  wire::Incarnation peer_incarnation_ = wire::Incarnation::none;
  Time heard_at_ = Time::min();
  Time waits_since_{};
  Time peer_known_at_ = Time::min(); // the peer's life was alive then; older ones were not
  std::uint32_t link_max_datagram_;
  std::uint32_t max_datagram_;
  PacketNumber next_pn_;
  PacketNumber next_rx_; // the first packet that has not come in
  MessageNumber peer_first_mn_;
  std::uint32_t peer_first_credit_ = 0;
  RttEstimator rtt_;
  Congestion congestion_;
  std::uint32_t resends_ = 0;
  State state_ = State::idle;
  std::uint8_t error_ = 0;      // positive errno
  std::uint8_t probes_ : 4 = 0; // since the peer was heard last
  std::uint8_t peer_features_ : 4 = wire::feature::none;
  bool lossless_ : 1;
  bool waiting_ : 1 = false;
  bool unproven_ : 1 = false; // the peer has confirmed; that it is still there is not known
  bool ack_requested_ : 1 = false;
  bool ecn_ : 1 = false;
  bool path_limited_ : 1 = false;
  bool excused_ : 1 = false; // that it is silent for so long, for once
};

// What an idle peer costs.
static_assert(sizeof(Session) <= 128);

} // namespace dpdkx::session
