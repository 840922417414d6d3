// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The structures of an endpoint's engine. Split by concern over: turn.cpp (the
// loop), receive.cpp (datagrams in), transmit.cpp (packets out), connect.cpp
// (paths and sessions come up), fail.cpp (and go), probe.cpp (what gets through), connection.cpp
// (endpoints with one peer, and those that listen), service.cpp (standing in for
// an application that computes), endpoint.cpp (what others call).
#pragma once

#include "dpdkx/base/log.h"
#include "dpdkx/check/responder.h"
#include "dpdkx/engine/address_table.h"
#include "dpdkx/engine/conn_table.h"
#include "dpdkx/engine/endpoint.h"
#include "dpdkx/engine/telling.h"
#include "dpdkx/engine/timers.h"
#include "dpdkx/engine/work_list.h"
#include "dpdkx/op/messenger.h"

#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

namespace dpdkx::engine {

// A link with its port and the paths on it.
struct Attachment {
  std::unique_ptr<link::Port> port;
  std::vector<std::uint32_t> by_path; // index: path; the connection's number (datagrams: the
                                      // target's), or no_conn
  bool dirty = false;                 // something has been committed since the last flush

  void flush() {
    if (!dirty)
      return;
    dirty = false;
    port->flush();
  }
};
inline constexpr std::uint32_t no_conn = 0xffffffff;

std::size_t to_sockaddr(const Address &, std::byte (&out)[32]); // its size

// Frames of an accepted packet, kept while the application was away.
struct Backlog {
  Conn *conn = nullptr; // null: gone since
  std::uint32_t len = 0;
  ListLink<Backlog> link;
  std::byte frames[];

  struct Free {
    void operator()(Backlog *b) const { ::operator delete(b); }
  };
  using Owner = std::unique_ptr<Backlog, Free>;
};

// On the host link a peer can write what we are reading. Decoders read each
// field once, into a copy; this keeps the compiler from reading it again.
inline void read_once() { asm volatile("" ::: "memory"); }

// Cold is what few packets meet: it stands apart from what all of them run through, which
// then stays in the caches.
struct Endpoint::Impl final : op::Outlet, session::AckSink {
  Impl(const Config &, const Clock &, const Address &self, Links, const AddressBook &,
       const op::Completers &);
  ~Impl();

  // --- op::Outlet (transmit.cpp)
  std::byte *begin(op::Peer &, std::uint32_t len, op::Load) override;
  PacketNumber commit(op::Peer &, std::uint32_t len, const op::TxOp *source, std::uint64_t offset,
                      std::uint32_t tail) override;
  void await_ack(op::Peer &) override;
  void want_push(op::Peer &) override;
  void want_ack(op::Peer &) override;
  void want_ack_soon(op::Peer &) override;
  void want_told(op::Peer &) override;
  void tell_in_order(op::Peer &) override;
  void await_told(op::Peer &) override;
  void want_probe(op::Peer &) override;
  PacketNumber acked(const op::Peer &) const override;
  bool lives(op::Peer &) override;
  [[gnu::cold]] void violation(op::Peer &, const char *what) override;
  [[gnu::cold]] void out_of_memory(op::Peer &) override;
  int pull(op::Peer &, std::span<const iovec> local, std::span<const iovec> remote) override;
  std::size_t raw_address(const op::Peer &, std::byte (&out)[32]) const override;
  // --- session::AckSink
  void acked(session::TxPacket *) override;

  // --- endpoint.cpp
  template <class Request, class Call> ssize_t post(const Request &, Call &&);

  // --- turn.cpp
  unsigned turn();
  unsigned poll(Attachment &);
  void poll_paths(Attachment &);
  unsigned run_timers();
  void on_time(Conn &);
  Time due(const Conn &) const;
  unsigned run_pushes();
  bool can_send() const; // there is something to send, and a link that may take it
  void run_acks();
  void list_ack(Conn &);
  void run_tellings();
  unsigned listen();
  void look_again(Conn &); // something has changed: its timer may come earlier
  void finish();           // flush, bury the dead
  [[gnu::cold]] void bury_doomed();
  void refresh_clock(); // as often as it has to be
  void read_clock();

  // --- receive.cpp
  void on_datagram(Attachment &, const link::RxDatagram &);
  [[gnu::cold]] void on_handshake(Attachment &, const link::RxDatagram &,
                                  const wire::PacketHeader &, std::span<const std::byte> body);
  bool checksum_fits(Attachment &, const link::RxDatagram &, const wire::PacketHeader &);
  void on_session_packet(Conn &, const wire::PacketHeader &, std::span<const std::byte> body);
  void take_ack(Conn &, const wire::AckBlock &, std::uint8_t flags);
  void take_position(Conn &);
  bool hear(Conn &); // whether the peer has told something new by the link
  bool told(const Conn &, link::PathId, MessageNumber &) const;
  bool told_something(const Conn &) const;
  void on_frames(Conn &, std::span<const std::byte> frames);
  bool backlog_full() const { return backlog_bytes_ > config_.backlog; }
  static Backlog::Owner room_in_backlog(std::size_t len);               // null: no memory
  Backlog::Owner keep(Conn &, std::span<const std::byte> frames) const; // likewise
  [[gnu::cold]] void run_backlog();

  // --- transmit.cpp
  struct Open { // the packet that is being filled
    Conn *conn = nullptr;
    Packet *packet = nullptr; // links that lose: kept; else null
    link::TxRoom room;
    std::uint32_t head = 0; // bytes of header and ack block (written in place)
    std::uint32_t used = 0; // bytes of frames
  };
  Attachment &attachment(const link::Port &p) { return &p == host_.port.get() ? host_ : device_; }
  Attachment &attachment(const Conn &c) { return attachment(*c.port); }
  std::byte *begin_in_place(Conn &, std::uint32_t len);
  std::byte *begin_kept(Conn &, std::uint32_t len, op::Load);
  void close_open();
  void transmit(Conn &, Packet &, link::TxRoom);
  bool sums(const Conn &c) const { return config_.checksum && c.port->traits().checksum; }
  void send_off(Conn &, const link::TxRoom &, wire::PacketHeader &, std::size_t len, bool checksum);
  bool send_block(Conn &, wire::PacketHeader &, bool checksum);
  std::byte *put_ack(Conn &, std::byte *out, std::size_t room, std::uint8_t &flags);
  void send_ack(Conn &);
  void send_control(Conn &);
  void send_bye(Conn &);
  void resend(Conn &);
  Packet *take_packet();
  void give_packet(Packet *);

  // --- connect.cpp
  // 0; -FI_EINVAL: not in the book; -FI_ENOMEM.
  int find_peer(fi_addr_t, Conn *&);
  static int not_in_book(fi_addr_t); // -FI_EINVAL, told
  bool set_addr(fi_addr_t, Conn *);  // false: no memory; find_peer() finds it all the same
  Conn *make_conn(const Address &, link::Port *); // null: no memory
  link::Port *route(const Address &, link::PathId &, int &error);
  bool is_own(const Address &) const;
  Conn *dial(const Address &); // null: no memory
  bool begin_dialling(Conn &);
  [[gnu::cold]] void redial(Conn &);
  [[gnu::cold]] void refused(Conn &);
  void path_came_up(Conn &);
  [[gnu::cold]] void on_path_event(Attachment &, const link::PathEvent &);
  [[gnu::cold]] void on_path_gone(Attachment &, link::PathId, Conn *, int error);
  bool set_path(Attachment &, link::PathId, const Conn *);                 // false: no memory
  static bool name_path(Attachment &, link::PathId, std::uint32_t number); // likewise
  Conn *on_path(const Attachment &, link::PathId) const;                   // null: nobody's
  void end_dialling(Conn &);
  [[gnu::cold]] void on_hello(Attachment &, const link::RxDatagram &, std::span<const std::byte>);
  [[gnu::cold]] void on_challenge(const wire::PacketHeader &, std::span<const std::byte>);
  [[gnu::cold]] void on_confirm(Attachment &, const link::RxDatagram &, std::span<const std::byte>);
  [[gnu::cold]] void on_welcome(Conn &, std::span<const std::byte>);
  [[gnu::cold]] void on_reset(Attachment &, const link::RxDatagram &, std::span<const std::byte>);
  [[gnu::cold]] void unknown_token(Attachment &, const link::RxDatagram &,
                                   const wire::PacketHeader &);
  [[gnu::cold]] void after_handshake(Conn &);
  Conn *conn_for(const wire::Hello &, Attachment &, const link::RxDatagram &);
  Conn *replace(Conn &old, Attachment &);
  Conn *known_life(wire::Incarnation, const Conn *other_than) const;
  bool join(Conn &alias);
  bool take_path(Conn &, Attachment &, const link::RxDatagram &);
  static void note_peers_link(const Conn &, const wire::Hello &);

  // --- probe.cpp
  struct Inquiry;
  struct InquiryDeleter {
    void operator()(Inquiry *) const;
  };
  [[gnu::cold]] void on_probe(Attachment &, const link::RxDatagram &, std::span<const std::byte>);
  [[gnu::cold]] void inquire(Conn &);
  bool asks_about(const Conn &) const;
  Time inquiry_due(const Conn &) const;
  std::string cause(const Conn &) const;
  void end_inquiry(const Conn &);
  check::Responder responder_;
  std::unique_ptr<Inquiry, InquiryDeleter> inquiry_; // null: nothing is asked

  // --- datagram.cpp
  ssize_t send_datagram(const op::SendRequest &);
  bool put_datagram(const Target &, const op::SendRequest &); // false: no room
  int find_target(fi_addr_t, Target *&);
  int seek(fi_addr_t, const Address &, Target &);
  void on_target_event(Attachment &, const link::PathEvent &);
  void forget_target(fi_addr_t);
  void on_datagram_packet(Attachment &, const link::RxDatagram &, const wire::PacketHeader &,
                          std::span<const std::byte> body);
  void take_datagram(const Address &from, std::span<const std::byte> body);
  void keep_datagram(const Address &from, std::span<const std::byte> body);
  void take_kept(const Backlog &);
  std::vector<Target> targets_; // index: fi_addr_t
  struct Group {
    link::PathId path = link::PathId::none; // none: left
    bool sends = false;
  };
  int find_group(fi_addr_t dest, Target &) const; // 0; -FI_EINVAL
  std::vector<Group> groups_;                     // index: fi_addr_t - first_group

  // --- connection.cpp
  struct Connecting {
    ConnectionSink &sink;
    op::Connection connection{};
    Conn *partner = nullptr;
    Time give_up_at = never; // while nobody has answered yet, and while it is leaving
    std::optional<std::uint64_t> lost_in{}; // the turn in which the partner was doomed
  };
  struct Listening {
    ListenerSink &sink;
    op::Backlog backlog;
  };
  void on_connection(op::Peer &, const wire::ConnectionFrame &) override;
  void on_request(Conn &, const wire::ConnectionFrame &);
  int begin_connection(const Address &, wire::FrameType, std::span<const std::byte> data);
  void tell(Conn &, wire::FrameType, std::uint64_t id, std::span<const std::byte> data);
  void set_partner(Conn *);
  void hang_up(Conn &, int error);
  Time done_with_at(const Conn &) const; // when a listener hangs up on it; never: it waits
  void partner_opened(Conn &);
  bool lives_on();
  void gone(const Conn &);
  int find_partner(Conn *&) const;
  bool takes_no_more(const op::ReceiveRequest &);
  bool speaks_to_all() const { return !connecting_ && !listening_; }
  std::unique_ptr<Connecting> connecting_; // null: it speaks with whoever comes, or listens
  std::unique_ptr<Listening> listening_;

  // --- fail.cpp
  [[gnu::cold]] void doom(Conn &, int error);
  [[gnu::cold]] void bury(Conn &);
  void detach(Conn &);
  [[gnu::cold]] void look_for_ends(); // of peers on this host, outside of turns
  void close();

  // --- service.cpp
  void service();
  bool serving_ = false; // in service(): frames go to the backlog, nothing completes
  WorkList settle_later_;

  const Config config_;
  const Clock &clock_;
  Address self_;
  Attachment host_, device_;
  bool (*const is_own_address_)(const Address &);
  const AddressBook &book_;
  session::Gate gate_;
  op::Messenger messenger_;

  std::vector<Conn *> by_addr_; // index: fi_addr_t
  ConnTable conns_;             // after the gate, which their sessions need
  AddressTable by_address_{conns_};
  std::unordered_map<const Conn *, Dialling> dialling_; // those with the flag
  Timers timers_;
  WorkList pushes_, acks_, doomed_;
  WorkList tellings_, listeners_; // peers that wait for our word, and whose word we wait for
  WorkList round_;                // those of one list that are being looked at
  List<Backlog, &Backlog::link> backlog_;
  std::size_t backlog_bytes_ = 0;

  Open open_;
  session::TxPacket *free_packets_ = nullptr;
  std::uint32_t packet_room_ = 0; // bytes of frames that a kept packet holds

  std::array<link::RxDatagram, 32> burst_; // of the poll under way
  std::array<link::PathEvent, 8> events_;

  Time now_{};
  bool end_seen_ = false; // of a peer on this host, by who sent to it
  std::uint32_t turns_since_clock_ = 0;
  std::uint32_t lossy_conns_ = 0;
  bool closed_ = false;
  Time last_turn_{};
  std::uint64_t reset_budget_ = 0;
  Time reset_refill_{};
  Statistics statistics_;
  BurstLock own_mutex_{!config_.one_thread};
  BurstLock *mutex_ = &own_mutex_;
};

} // namespace dpdkx::engine
