// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// One endpoint's attachment to a device: UDP datagrams over IP, a path for
// each peer.
#pragma once

#include "dpdkx/link/ethdev/device.h"
#include "dpdkx/link/ethdev/inbox.h"
#include "dpdkx/link/ethdev/ingress_drop.h"
#include "dpdkx/link/ethdev/peer_index.h"
#include "dpdkx/link/ethdev/port_guard.h"
#include "dpdkx/net/encapsulation.h"

#include <array>
#include <memory>
#include <vector>

namespace dpdkx::link {

class EthdevPort final : public Port {
public:
  EthdevPort(std::shared_ptr<EthdevDevice>, const Address &, std::uint8_t dscp);
  ~EthdevPort() override;
  EthdevPort(const EthdevPort &) = delete;

  const Traits &traits() const override { return traits_; }
  const Address &address() const override { return address_; }
  std::uint16_t bulk_port() const override { return bulk_port_; }

  int open_path(const Address &peer, PathId &) override;
  int join(const Address &group, bool receives, PathId &) override;
  void close_path(PathId) override;
  void set_bulk_port(PathId, std::uint16_t) override;
  void set_joined(PathId, bool) override;
  Address peer_address(PathId) const override;

  TxRoom reserve(PathId, std::uint32_t len) override;
  void commit(PathId, const TxRoom &, std::uint32_t len) override;
  void cancel(PathId, const TxRoom &) override;
  void flush() override;

  unsigned poll(RxDatagram *out, unsigned max) override;
  void release(RxDatagram *, unsigned n) override;
  Address source(const RxDatagram &) const override;
  void reply(const RxDatagram &to, std::span<const std::byte> bytes) override;
  bool origin(const RxDatagram &, Origin &out) const override;
  bool reply_to(const Origin &, std::span<const std::byte> bytes) override;

  unsigned poll_events(PathEvent *out, unsigned max, Time now) override;

  int wait_fd() override;
  bool arm() override;
  void disarm() override;

  PortCounters counters() const override;

private:
  friend class EthdevDevice;

  enum class PathState : std::uint8_t { closed, opening, up, failed };
  struct Path { // kept small: there may be tens of thousands
    net::Ip ip;
    std::uint16_t port = 0;
    PathState state = PathState::closed;
    bool member : 1 = false;             // of the group that ip is
    bool joined : 1 = false;             // the peer takes joined datagrams
    std::uint16_t bulk_port = 0;         // the peer's
    net::Neighbour *neighbour = nullptr; // null, while not closed: ip is a group
  };

  // Packets that wait to be sent. More than this: reserve() has no room.
  static constexpr unsigned max_pending = 64;
  // Of these, how many are worth a call of their own; more gain little.
  static constexpr unsigned worth_joining = 16;
  // Packets kept at hand, so that most sends and receives don't touch the pool.
  static constexpr unsigned max_spare = 64;

  Path &path(PathId id) { return paths_[static_cast<std::uint32_t>(id)]; }
  const Path &path(PathId id) const { return paths_[static_cast<std::uint32_t>(id)]; }
  bool can_reach(const net::Ip &) const; // tells if not
  bool make_room_for_path();
  PathId add_path(const Path &); // may throw std::bad_alloc

  rte_mbuf *take_packet();
  void finish(rte_mbuf *, const net::Mac &to, const net::Ip &, std::uint16_t port,
              std::uint32_t len);
  void offload_checksum(rte_mbuf *) const;
  void describe(rte_mbuf *, RxDatagram &);
  void wake();
  void close_wait();

  std::shared_ptr<EthdevDevice> device_;
  const Address address_;
  Traits traits_;
  const bool is_v6_;
  net::UdpEncapsulation encapsulation_;
  PortGuard guard_;
  IngressDrop ingress_drop_;
  // Where there is a queue of its own, by a rule for a second port.
  std::uint16_t bulk_port_ = 0, queue_ = QueueRota::no_queue;
  PortGuard bulk_guard_;

  std::vector<Path> paths_;
  std::vector<std::uint32_t> unused_paths_, opening_; // with room for all paths
  PeerIndex by_peer_;
  std::uint32_t seen_changes_ = 0;

  std::array<rte_mbuf *, max_pending> pending_;
  std::array<rte_mbuf *, max_spare> spare_;
  unsigned pending_count_ = 0, spare_count_ = 0;
  PortCounters counters_;

  // Under the device's receive lock.
  Inbox inbox_;
  std::uint64_t inbox_dropped_ = 0;
  bool armed_ = false;
  int event_fd_ = -1, timer_fd_ = -1, epoll_fd_ = -1;
};

} // namespace dpdkx::link
