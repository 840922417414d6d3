// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A port of an Ethernet network with its receive queues and one transmit queue, and the pool its
// packets come from: a DPDK device, or a kernel interface's packet sockets. Knows frames, no
// protocol.
#pragma once

#include "dpdkx/link/ethdev/flow_rules.h"
#include "dpdkx/link/ethdev/group_membership.h"
#include "dpdkx/link/ethdev/module.h"
#include "dpdkx/link/ethdev/packet_pool.h"
#include "dpdkx/link/ethdev/queue_plan.h"
#include "dpdkx/link/ethdev/tap_socket.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dpdkx::link {

class Nic {
public:
  static constexpr unsigned burst = 32;

  virtual ~Nic() = default; // stops the port and removes the device

  // 0 and what fits the request, or a negative errno with a text. Adds to `info` what it tells.
  static int open(const DeviceRequest &, const DeviceOptions &, const net::DeviceDescription &,
                  DeviceInfo &info, std::unique_ptr<Nic> &out, std::string &error);

  // A memif client can't start before its server: then this is to be called again.
  virtual bool started() const { return true; }
  virtual bool try_start() { return true; }
  virtual void stop() {}
  virtual void take_all_groups() = 0; // frames to any group come in

  // Both ends map the other's memory, and the driver unmaps it the moment one goes.
  virtual bool needs_farewell() const { return false; }
  virtual bool is_client() const { return false; } // the end that connects
  virtual bool link_is_up() const { return true; } // asked only where a farewell is needed

  // What is in force. Where the queues for rules get their share of all else, too, they are to be
  // looked at in any case.
  virtual const QueuePlan &queues() const = 0;
  virtual bool rule_queues_are_apart() const { return true; }
  virtual FlowRules *rules() { return nullptr; } // null: there are none

  // One thread at a time for each queue.
  virtual unsigned receive(std::uint16_t queue, rte_mbuf **out, unsigned max) = 0;
  virtual unsigned transmit(rte_mbuf **packets, unsigned n) = 0;
  virtual void reclaim() {} // sent packets whose memory the driver still holds

  // Any thread.
  virtual bool udp_checksum_offload() const { return false; }
  // Packets whose flags have RTE_MBUF_F_TX_UDP_SEG may go as joined datagrams (net/joined.h), and
  // such as come in are taken apart.
  virtual bool joins() const { return false; }
  virtual std::vector<std::pair<std::string, std::uint64_t>> statistics() const = 0;
  rte_mempool *pool() const { return pool_.get(); }

  // The kernel's socket under the device: to wait on, and to filter. Invalid for most devices.
  TapSocket &tap() { return tap_; }

protected:
  // IPv6 neighbours ask a group for our address. Where the kernel has it, it has told the NIC.
  void join_groups(const net::DeviceDescription &);

  TapSocket tap_;
  PacketPool pool_;

private:
  virtual void take_groups(std::span<const net::Mac>) = 0; // where the kernel can't see to it

  GroupMembership membership_;
};

// What a device says of a queue's length that was set; empty: nothing against it.
std::string descriptors_fault(const char *setting, std::uint32_t wanted, const std::string &device,
                              const rte_eth_desc_lim &);

// Tests: stands in for a device's own rules.
extern std::function<std::unique_ptr<FlowRules>()> make_test_rules;

// For what is said of it.
std::string quoted(const DeviceRequest &);
// What others than root lack as a rule: "; needs root, or `needed`".
std::string needs_root_or(const std::string &needed);

} // namespace dpdkx::link
