// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A kernel interface, by packet sockets of our own: DPDK's driver for it (net_af_packet) passes
// frame by frame, where the kernel would pass 64 KiB of datagrams at a time (net/joined.h).
#pragma once

#include "dpdkx/link/ethdev/nic.h"
#include "dpdkx/link/ethdev/packet_socket.h"

namespace dpdkx::link {

class PacketNic final : public Nic {
public:
  int open(const DeviceRequest &, const DeviceOptions &, const net::DeviceDescription &,
           DeviceInfo &info, std::string &error); // as Nic::open()

  void take_all_groups() override;
  const QueuePlan &queues() const override { return plan_; }
  unsigned receive(std::uint16_t queue, rte_mbuf **out, unsigned max) override;
  unsigned transmit(rte_mbuf **packets, unsigned n) override;
  bool joins() const override { return joins_; }
  std::vector<std::pair<std::string, std::uint64_t>> statistics() const override;

private:
  // A socket, and how far we are with its oldest frame: bytes of payload that have been given on.
  struct Source {
    PacketSocket socket;
    std::uint32_t given = 0;
  };
  struct Run { // of packets that go to the kernel in one call
    unsigned packets = 1;
    // Where they are joined: of the headers, of each payload, and of all.
    std::uint32_t headers = 0, each = 0, all = 0;
    bool joined() const { return packets > 1 && headers != 0; }
  };

  int open_sockets(const DeviceOptions &, const net::DeviceDescription &);
  void take_groups(std::span<const net::Mac>) override { take_all_groups(); }
  Source *oldest(PacketSocket::Frame &); // null: nothing is here
  // False: no packets are left to put them in.
  bool give(const PacketSocket::Frame &, rte_mbuf **out, unsigned &n);
  bool give_apart(Source &, const PacketSocket::Frame &, std::uint32_t headers, rte_mbuf **out,
                  unsigned max, unsigned &n);
  Run next_run(rte_mbuf *const *packets, unsigned n) const;
  int send(rte_mbuf *const *packets, const Run &); // how many are done with, or a negative errno
  int send_joined(rte_mbuf *const *packets, const Run &);
  void tell_once(int error); // until there is another one

  const QueuePlan plan_{};
  unsigned interface_index_ = 0;
  std::string name_;
  int told_ = 0;
  // What is longer than a frame comes to the second, and goes out by it.
  mutable Source ordinary_, joined_;
  bool joins_ = false;
  bool kernel_joins_ = true; // until it refuses
  struct {
    std::uint64_t rx = 0, tx = 0, rx_joined = 0, tx_joined = 0, tx_failed = 0, rx_no_packet = 0;
  } counted_;
};

} // namespace dpdkx::link
