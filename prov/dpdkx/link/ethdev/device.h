// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A device as this process's ports share it: frames in and out, which port they
// are for, and who the neighbours are.
//
// Locks: steering_lock_ for rules, which take their time, taken first; receive_lock_ for the
// receive queues, inboxes, the table of ports and the neighbours; transmit_lock_ for the transmit
// queue, taken last.
#pragma once

#include "dpdkx/base/burst_lock.h"
#include "dpdkx/link/ethdev/group_table.h"
#include "dpdkx/link/ethdev/module.h"
#include "dpdkx/link/ethdev/nic.h"
#include "dpdkx/link/ethdev/queue_rota.h"
#include "dpdkx/link/ethdev/steering.h"
#include "dpdkx/net/frame.h"
#include "dpdkx/net/neighbour.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

namespace dpdkx::link {

class EthdevPort;

class EthdevDevice final : public Device, public std::enable_shared_from_this<EthdevDevice> {
public:
  // `collected`: as DeviceOptions says; nobody is locked out then.
  explicit EthdevDevice(bool collected)
      : receive_lock_(!collected), transmit_lock_(!collected), collected_(collected) {}
  ~EthdevDevice() override;

  // What can be said without DPDK, which is not started for a device that isn't there.
  int describe(const DeviceRequest &, const DeviceOptions &, std::string &error);
  int open(std::string &error); // as described
  // Another open_device() may share it: same address, of the same family, and same MTU.
  bool matches(const DeviceRequest &, const DeviceOptions &) const;

  const DeviceInfo &info() const override { return info_; }
  int open_port(const Address &wanted, const PortOptions &, std::unique_ptr<Port> &,
                std::string &error) override;
  bool collects() const override { return collected_; }
  void collect(unsigned max) override;
  std::vector<DeviceQueue> queues() const override;
  std::vector<std::pair<std::string, std::uint64_t>> statistics() const override;

  // For ports.
  const net::LocalSide &local() const { return local_; }
  const DeviceOptions &options() const { return options_; }
  Nic &nic() { return *nic_; }
  bool kernel_has_address() const { return description_.kernel_has_address; }

  // Takes frames from the device, unless they are collected; up to `max` that are `port`'s go to
  // `out`, the others to their ports' inboxes.
  unsigned receive(EthdevPort &port, rte_mbuf **out, unsigned max);
  // Returns how many were taken; the others stay the caller's.
  unsigned transmit(rte_mbuf **packets, unsigned n);

  // What is due: address resolution, late starts, reclaiming.
  void tick(Time now) {
    if (now.time_since_epoch().count() >= next_tick_.load(std::memory_order_relaxed))
      run_tick(now);
  }
  Time next_tick() const { return Time(Duration(next_tick_.load(std::memory_order_relaxed))); }
  bool resolving(); // somebody waits for an answer

  // null: no route. Valid until released.
  net::Neighbour *acquire_neighbour(const net::Ip &peer);
  void release_neighbour(net::Neighbour &);
  std::uint32_t neighbour_changes() const { return neighbours_->changes(); }

  // As Port::join() says, for a port that receives.
  int join(EthdevPort &, const Address &group);
  void leave(EthdevPort &, const Address &group);
  // What a port has sent to a group, for the others on this device: a frame with its headers.
  void loop_back(const EthdevPort &from, const rte_mbuf *frame, const Address &group,
                 std::uint16_t payload);

  bool arm(EthdevPort &); // false: there is something to poll
  void disarm(EthdevPort &);
  void remove(EthdevPort &);

private:
  using Page = std::array<EthdevPort *, 256>;

  EthdevPort *find_port(std::uint16_t number) const {
    const auto &page = ports_[number >> 8];
    return page ? (*page)[number & 255] : nullptr;
  }
  int add(EthdevPort &, std::uint16_t number); // -EADDRINUSE
  void forget(const EthdevPort &, std::uint16_t number);
  void open_queues();
  void open_bulk(EthdevPort &, const PortOptions &);
  void close_bulk(EthdevPort &);
  bool reserve_bulk(EthdevPort &, std::uint16_t number);
  void drop_bulk(EthdevPort &);
  void look_at_queues_in_use();
  void keep_from_kernel(EthdevPort &);
  [[gnu::cold]] void start_filter();
  // What is for `poller`, which may be null, goes to `out`.
  unsigned take(std::uint16_t queue, unsigned max, EthdevPort *poller, rte_mbuf **out, unsigned &n);
  void dispatch(rte_mbuf *, EthdevPort *poller, rte_mbuf **out, unsigned &n);
  [[gnu::cold]] void dispatch_to_group(rte_mbuf *, EthdevPort *poller, rte_mbuf **out, unsigned &n);
  void hand_on(rte_mbuf *, EthdevPort &to);
  void strip(rte_mbuf *, std::uint16_t payload) const;
  [[gnu::cold]] void drop(rte_mbuf *, net::Drop);
  [[gnu::cold]] void handle_control(const net::ReceivedFrame &);
  void handle_neighbour(const net::NeighbourMessage &);
  void handle_unreachable(const net::Unreachable &);
  void handle_farewell(const net::Farewell &);
  [[gnu::cold]] void run_tick(Time now);
  bool usable() const { return nic_->started() && !parted_.load(std::memory_order_relaxed); }
  [[gnu::cold]] bool is_ready(Time now);
  void watch_link(Time now);
  void say_farewell();
  void send_farewell(const net::Farewell &);
  void announce(Time now);
  void leave_group(EthdevPort &, const Address &group);
  void report(const net::Ip &group, bool listening);
  bool kernel_joins() const { return description_.interface_index != 0; }
  // `write` puts a frame there and returns its length.
  template <class Write> void send_control(Write &&write);

  DeviceRequest request_;
  DeviceOptions options_;
  net::DeviceDescription description_;
  DeviceInfo info_;
  net::LocalSide local_;
  bool answers_ = false; // who asks for our address
  std::unique_ptr<Nic> nic_;

  mutable std::mutex steering_lock_;
  std::optional<Steering> steering_; // of the NIC's rules

  mutable BurstLock receive_lock_;
  QueueRota rota_;
  std::vector<std::uint64_t> taken_; // packets, by queue
  std::array<std::unique_ptr<Page>, 256> ports_;
  std::vector<std::uint16_t> open_ports_;
  GroupTable groups_;
  net::ReceivedFrame parsed_; // the last; not cleared for each
  std::optional<net::NeighbourTable> neighbours_;
  Time now_{};                          // of the last tick
  std::uint64_t ours_ = 0, others_ = 0; // frames seen
  bool filtering_ = false;
  bool announced_ = false; // our address
  Time next_report_{};
  bool warned_conflict_ = false, warned_mtu_ = false;
  std::array<std::uint64_t, static_cast<std::size_t>(net::Drop::count_)> drops_{};
  bool saw_link_down_ = false;
  Time started_at_{};
  std::atomic<bool> parted_{false}; // the other end is closing: hands off until it is back
  std::atomic<Time::rep> next_tick_{Time::min().time_since_epoch().count()};

  mutable BurstLock transmit_lock_;
  const bool collected_;
};

} // namespace dpdkx::link
