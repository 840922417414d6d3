// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Messages over sessions: eager in one packet, in several, or by rendezvous;
// matching, unexpected messages, completion levels, credit. And RMA and atomics
// on registered memory. One per endpoint; not thread-safe: the endpoint's lock
// covers it.
#pragma once

#include "dpdkx/op/completers.h"
#include "dpdkx/op/outlet.h"
#include "dpdkx/op/peer.h"
#include "dpdkx/op/reach.h"
#include "dpdkx/op/receives.h"
#include "dpdkx/op/request.h"

#include <cerrno>
#include <vector>

namespace dpdkx::op {

struct Limits {
  std::size_t tx_size, rx_size;
  std::size_t rendezvous_host, rendezvous_device;
  std::size_t unexpected_pool, unexpected_peer; // bytes
  bool pull;
};

struct MessengerCounters {
  std::uint64_t sent = 0, received = 0, unexpected = 0, rendezvous = 0;
};

class Messenger {
public:
  Messenger(const Limits &, const Completers &, Outlet &);
  ~Messenger(); // ends what is left without completions

  // --- From the application. As engine::Endpoint says.
  ssize_t send(Peer &, const SendRequest &);
  ssize_t receive(const ReceiveRequest &r) { return receives_->receive(r); }
  ssize_t rma(Peer &, const RmaRequest &);
  ssize_t atomic(Peer &, const AtomicRequest &);
  ssize_t count(Peer &, const CounterRequest &);
  int cancel(const void *context);
  // The completion of a send that can't even start.
  void refuse(const SendRequest &, int error);

  // --- From the engine.
  // The session is up: its first numbers, credit, and what a packet carries.
  struct Opening {
    MessageNumber tx_first, rx_first;
    std::uint32_t tx_credit, rx_credit; // units
    std::uint16_t max_frames;
    bool lossless, can_pull, rma, connects, counts;
  };
  void opened(Peer &, const Opening &);
  // A datagram has left, which is all that its sender is told.
  void datagram_sent(const SendRequest &);
  // One has come. `raw_source`: a sockaddr, where `src` is unknown. False: nobody waits for it.
  bool on_datagram(const wire::MessageFrame &, fi_addr_t src,
                   std::span<const std::byte> raw_source);
  // False: the frame makes no sense; it has been ignored.
  bool on_frame(Peer &, const wire::Frame &);
  // What the peer told: noted at once; settle() ends the operations it ends.
  static void note(Peer &, MessageNumber processed, std::uint32_t credit_limit);
  void settle(Peer &);
  // Sends what can be sent. False: nothing is left to send.
  bool push(Peer &);
  // Pulls a bounded amount of memory. False: nothing was left to pull.
  bool step();
  bool stepping() const { return !pulls_.empty(); }
  // The peer is gone: all that was to or from it ends with `error` (positive).
  void fail(Peer &, int error);
  // Moves what has yet to be sent to another peer structure of the same peer.
  void hand_over(Peer &from, Peer &to);
  void source_known(Peer &);
  // Connections. A frame to the peer, in the order of what is sent to it; a shutdown waits until
  // all before it has been processed. False: no memory.
  bool send_connection(Peer &, wire::FrameType, std::uint64_t id, std::span<const std::byte> data);
  // From now on no message of that peer is received; what waits for a receive and has not come
  // yet is refused.
  void deafen(Peer &);
  // Ends the receives that are posted for this messenger alone, and have got nothing.
  void flush_receives(int error) {
    if (receives_ == &own_receives_)
      own_receives_.flush(error);
  }
  // Frees what an idle peer needs not keep.
  void tidy(Peer &);
  // How many operations have yet to be handed to a session that nobody waits for.
  std::size_t promised();
  // Whether a peer has yet to be told that there is no connection, or none any more.
  bool ends_connections();
  // Forgets everything of the peer, without completions.
  void abandon(Peer &);

  // Before the first message: what it receives goes to receives that others share. They live
  // longer.
  void share(Receives &);
  Receives &receives() { return *receives_; }
  const MessengerCounters &counters() const { return counters_; }

private:
  friend class Receives;

  // send.cpp
  bool send_whole(Peer &, const SendRequest &, TxOp *);
  int handed_over(Peer &);
  ssize_t enqueue(Peer &, const SendRequest &);
  TxOp *take_tx(Peer &, const SendRequest &); // and the peer has its Traffic
  TxOp *take_op(Peer &, const iovec *, std::size_t count, std::size_t len, std::uint64_t data,
                std::uint64_t flags, void *context);
  bool own_memory(TxOp &); // false: no memory for a copy
  ssize_t no_tx() const;   // why there is none
  enum class Route : std::uint8_t { whole, parts, rendezvous };
  // Messages, and writes, of more bytes than that go by rendezvous.
  std::size_t rendezvous_above(const Peer &p) const {
    return p.lossless ? limits_.rendezvous_host : limits_.rendezvous_device;
  }
  Route route(const Peer &, std::size_t len, std::uint64_t flags, std::uint32_t charge) const;
  bool start(Peer &, TxOp &);      // false: no room
  bool send_parts(Peer &, TxOp &); // false: no room
  bool send_segments(Peer &, TxOp &);
  void commit_part(Peer &, TxOp &, std::byte *out, std::size_t head, std::size_t n);
  void sent(Peer &, TxOp &); // wholly handed to the session
  void release(TxOp &);
  void end(TxOp &, int error);

  // messenger_connection.cpp
  bool start_connection(Peer &, TxOp &); // false: no room
  bool admit(Peer &, const wire::Frame &);

  // rma.cpp
  TxOp *take_remote(Peer &, const iovec *, std::size_t count, std::size_t len, const fi_rma_iov *,
                    std::size_t targets, std::uint64_t data, std::uint64_t flags, void *context);
  ssize_t post_remote(Peer &, TxOp &);
  bool start_remote(Peer &, TxOp &); // false: no room
  bool write_whole(Peer &, TxOp &);
  bool write_parts(Peer &, TxOp &);
  bool request_write(Peer &, TxOp &);
  bool request_read(Peer &, TxOp &);
  bool send_atomic(Peer &, TxOp &);
  bool send_add(Peer &, TxOp &);
  static void hold_messages(TxOp &);
  void let_messages_go(TxOp &);
  bool on_read_data(Peer &, TxOp &, const wire::RdataFrame &);
  bool on_status(Peer &, const wire::StatusFrame &);

  // target.cpp
  int open(Reach &, const wire::Targets &, std::uint64_t rights) const; // as Reach::open()
  bool execute(Peer &, const wire::WriteFrame &);
  bool execute(Peer &, const wire::WriteRequestFrame &);
  bool execute(Peer &, const wire::ReadFrame &);
  bool execute(Peer &, const wire::AtomicFrame &);
  Landing *take_write(Peer &, MessageNumber, const wire::Targets &, std::uint64_t flags,
                      std::uint64_t data); // null: no memory
  void give_write(Landing &);
  int put(const FarMemory &, std::uint64_t offset, const std::byte *, std::size_t);
  void written(Peer &, const Reach &, std::uint64_t flags, std::uint64_t total, std::uint64_t data);
  void written(Landing &);
  void been_read(const Reach &);
  void owe_processed(Peer &, std::uint8_t flags);
  [[gnu::cold]] void tell_failed(Peer &, MessageNumber, int error);
  [[gnu::cold]] void tell_failed(Landing &);
  void settle_failed(Peer &);
  void serve(Peer &, const wire::ReadFrame &);
  void served(TxOp &);
  template <class Fill>
  void answer(Peer &, wire::OpId reader, std::uint64_t offset, std::uint64_t n, Fill &&);

  // counter.cpp
  bool execute(Peer &, const wire::AddFrame &);
  void add(Peer &, MessageNumber, std::uint64_t key, std::uint64_t value, bool untold);
  void settle_adds(Peer &);

  // rendezvous.cpp
  bool request(Peer &, TxOp &);
  template <class Frame> bool ask(Peer &, TxOp &, const Frame &); // false: no room
  bool stream(Peer &);
  bool send_control(Peer &, const ControlFrame &);
  void send_or_queue(Peer &, ControlFrame &&);
  bool flush_control(Peer &);
  void send_cts(Landing &);
  void send_fin(Peer &, wire::OpId sender, int status);
  bool on_cts(Peer &, const wire::CtsFrame &);
  bool on_fin(Peer &, const wire::FinFrame &);
  bool on_rdata(Peer &, const wire::RdataFrame &);
  void begin_rendezvous(Landing &);
  bool pull_some(Landing &);
  std::size_t place_of(Landing &, Reach &, std::size_t n, iovec (&out)[max_iov],
                       std::size_t &pieces);
  void rendezvous_done(Landing &);

  // arrive.cpp
  bool on_segment(Peer &, const wire::Frame &);
  bool in_turn(Peer &, MessageNumber, const wire::Frame &);
  bool execute(Peer &, const wire::Frame &); // what opens an operation; false: it makes no sense
  void execute(Peer &, const wire::MessageFrame &);
  void execute_whole(Peer &, const wire::MessageFrame &, RxOp *);
  void execute_parts(Peer &, const wire::MessageFrame &, RxOp *);
  void execute(Peer &, const wire::RtsFrame &);
  Landing *assembly(Peer &, MessageNumber);
  [[gnu::cold]] bool hold(Peer &, MessageNumber, const wire::Frame &);
  [[gnu::cold]] void drain_held(Peer &);
  bool assemble(Landing &, std::uint64_t offset, const std::byte *, std::size_t);
  void place(Landing &, std::uint64_t offset, const std::byte *, std::size_t);
  void assembled(Landing &);

  // credit.cpp
  static std::uint32_t charge_of(std::size_t len);
  bool affordable(const Peer &, std::uint64_t total) const;
  void spend(Peer &, std::uint32_t charge);
  void grow_window(Peer &);
  void tell_credit(Peer &);
  void give_back(Peer *, std::uint32_t charge);

  // receive.cpp
  void attach(RxOp &, Unexpected &);
  struct Place {
    std::size_t base;   // in the receive's memory
    std::uint64_t room; // bytes of the message that fit
  };
  Place claim_place(RxOp &, std::uint64_t total);
  void land_request(RxOp &, Peer &, const wire::RtsFrame &, std::uint64_t flags, const Place &);
  void report_receive(const RxOp &, const Peer *, fi_addr_t src, const Arrival &, int error,
                      bool last);
  void receive_done(RxOp &, const Peer *, fi_addr_t src, const Arrival &, int error);
  Unexpected *take_unexpected(Peer &, std::uint64_t flags, std::uint64_t tag, std::uint64_t data,
                              std::uint64_t total, std::uint32_t charge);
  void shelve(Peer &, Unexpected &);
  void discard(Unexpected &, int error = 0); // which the sender sees where it waits
  void forget(Unexpected &);

  // peers.cpp
  template <class L> void end_all(L &, int error);
  void fail_landings(Peer &, int error);
  void fail_unexpected(Peer &);
  void release_window(Peer &);
  Traffic *traffic(Peer &); // null: no memory

  util_ext::Matcher &matcher(std::uint64_t flags) { return receives_->matcher(flags); }

  const Limits limits_;
  const Completers &completers_;
  Outlet &outlet_;
  Receives own_receives_;
  Receives *receives_ = &own_receives_;
  Slab<TxOp> tx_;
  Slab<Landing> landings_;
  Slab<FarMemory> remotes_;
  Slab<TxOp> serving_; // large reads of peers
  Slab<WaitingAdd> adds_;
  // Of the peer that became idle last: often the one that is busy next.
  std::unique_ptr<Traffic> spare_traffic_;
  List<Landing, &Landing::pull_link> pulls_;
  std::size_t promised_units_ = 0; // credit windows beyond the first, all peers
  std::uint32_t first_window_ = 0; // units
  MessengerCounters counters_;
};

// Sends the frame that opens an operation which then waits for the peer's answer.
template <class Frame> bool Messenger::ask(Peer &p, TxOp &op, const Frame &f) {
  const auto len = static_cast<std::uint32_t>(wire::size_of(f));
  std::byte *out = outlet_.begin(p, len);
  if (!out)
    return false;
  wire::encode(out, f);
  op.last_pn = outlet_.commit(p, len);
  op.mn = p.tx_next++;
  op.stage = TxStage::requested;
  p.traffic->pending.erase(&op);
  p.traffic->requested.push_back(&op);
  return true;
}

} // namespace dpdkx::op
