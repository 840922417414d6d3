// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A port of the simulated network. Checks that it is used as link.h says.
#pragma once

#include "dpdkx/link/sim/core.h"

namespace dpdkx::link::sim {

class SimPort final : public Port {
public:
  SimPort(Network::Core &, Nic &, const Profile &);
  ~SimPort() override;

  const Traits &traits() const override { return traits_; }
  const Address &address() const override { return address_; }
  std::uint16_t bulk_port() const override { return bulk_port_; }
  int open_path(const Address &peer, PathId &) override;
  void close_path(PathId) override;
  void set_bulk_port(PathId, std::uint16_t) override;
  void set_joined(PathId, bool) override;
  Address peer_address(PathId) const override;
  TxRoom reserve(PathId, std::uint32_t len) override;
  void commit(PathId, const TxRoom &, std::uint32_t len) override;
  void cancel(PathId, const TxRoom &) override;
  void flush() override;
  void tell(PathId, std::uint64_t word) override;
  std::uint64_t told(PathId) const override;
  unsigned poll(RxDatagram *out, unsigned max) override;
  void release(RxDatagram *, unsigned n) override;
  Address source(const RxDatagram &) const override;
  void reply(const RxDatagram &to, std::span<const std::byte>) override;
  bool origin(const RxDatagram &, Origin &out) const override;
  bool reply_to(const Origin &, std::span<const std::byte> bytes) override;
  bool lives(PathId, Time) override;
  unsigned poll_events(PathEvent *out, unsigned max, Time now) override;
  int pull(PathId, std::span<const iovec> local, std::span<const iovec> remote) override;
  bool arm() override; // nothing blocks here; but it answers whether there is something to poll
  PortCounters counters() const override;

  // For the network, under its mutex.
  bool has_room_for(Packet &); // in the ring, or the queue of the NIC, which it is given then
  bool deliver(Packet *);      // false: not ours any more, and not taken
  void tell(PathEvent);
  void detach();                                // the end, as by SIGKILL
  static SimPort *behind(const PathEnd &);      // null: that path is no more
  static void give_back(const PathEnd &sender); // a datagram of a lossless path has been released

private:
  struct Path {
    bool open = false;
    bool announced = true;       // accepted paths: once poll_events() has told
    bool refused = false;        // reserve() had no room; wake when there is
    bool joined = false;         // set_joined()
    std::uint16_t bulk_port = 0; // the peer's
    std::uint64_t serial = 0;
    Address peer;
    PathEnd peer_end;          // lossless
    std::uint64_t told = 0;    // lossless: the peer's last word
    std::uint32_t held = 0;    // lossless: datagrams sent and not yet released
    std::uint32_t to_poll = 0; // lossless: datagrams that have arrived
    Time last_arrival{};       // lossless: of what has been sent so far, at the peer
  };

  Path *path(PathId); // null, and misuse counted, when it isn't open
  Path *find(PathId);
  PathId add_path(const Address &peer);
  int connect(const Address &peer, PathId &);
  void remove_path(PathId);
  void forget_arrivals(const Path &closed, PathId);
  void send(Packet *, Path *);
  bool send_back(const Address &to, std::span<const std::byte>);
  void give_descriptor_back(const Packet &);
  bool room(Path *);

  Network::Core &core_;
  Nic &nic_;
  const Address address_;
  const Traits traits_;
  const std::uint16_t bulk_port_;
  bool alive_ = true;
  std::vector<Path> paths_;
  std::vector<std::uint32_t> free_paths_;
  std::unordered_map<Address, PathId, AddressHash> path_of_; // lossy: newest path to a peer
  Packet *reserved_ = nullptr;
  std::uint32_t reserved_len_ = 0;
  std::vector<std::pair<Packet *, PathId>> committed_; // until flush()
  std::deque<Packet *> arrived_;
  unsigned polled_ = 0; // the first so many of arrived_ are with the caller
  std::deque<PathEvent> events_;
  PortCounters counters_;
};

} // namespace dpdkx::link::sim
