// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// One DPDK Ethernet port with its receive queues and one transmit queue, and the pool
// its packets come from. Knows frames, no protocol.
#pragma once

#include "dpdkx/link/ethdev/claim.h"
#include "dpdkx/link/ethdev/flow_rules.h"
#include "dpdkx/link/ethdev/group_membership.h"
#include "dpdkx/link/ethdev/module.h"
#include "dpdkx/link/ethdev/queue_plan.h"
#include "dpdkx/link/ethdev/tap_socket.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <string>
#include <utility>
#include <vector>

namespace dpdkx::link {

// What a device says of a queue's length that was set; empty: nothing against it.
std::string descriptors_fault(const char *setting, std::uint32_t wanted, const std::string &device,
                              const rte_eth_desc_lim &);

// Tests: stands in for a device's own rules.
extern std::function<std::unique_ptr<FlowRules>()> make_test_rules;

class Nic {
public:
  static constexpr unsigned burst = 32;
  // Where payloads start in sent packets: behind any headers, on a cache line.
  static constexpr std::uint16_t payload_offset = 192;

  Nic() = default;
  ~Nic(); // stops the port and removes the device
  Nic(const Nic &) = delete;

  // 0, or a negative errno with a text. Adds to `info` what the device tells.
  int open(const DeviceRequest &, const DeviceOptions &, const net::DeviceDescription &,
           DeviceInfo &info, std::string &error);

  // A memif client can't start before its server: then this is to be called again.
  bool started() const { return started_; }
  bool try_start();
  void stop();
  void take_all_groups(); // frames to any group come in

  // Both ends map the other's memory, and the driver unmaps it the moment one goes.
  bool needs_farewell() const { return is_memif_; }
  bool is_client() const { return is_memif_client_; } // the end that connects
  bool link_is_up() const;

  // What is in force. Where the queues for rules get their share of all else, too, they are to be
  // looked at in any case.
  const QueuePlan &queues() const { return plan_; }
  bool rule_queues_are_apart() const { return apart_; }
  FlowRules *rules() { return rules_.get(); } // null: there are none

  // One thread at a time for each queue.
  unsigned receive(std::uint16_t queue, rte_mbuf **out, unsigned max) {
    return rte_eth_rx_burst(id_, queue, out, static_cast<std::uint16_t>(max));
  }
  unsigned transmit(rte_mbuf **packets, unsigned n) {
    return rte_eth_tx_burst(id_, 0, packets, static_cast<std::uint16_t>(n));
  }
  void reclaim(); // sent packets whose memory the driver still holds

  // Any thread.
  rte_mempool *pool() const { return pool_; }
  std::uint32_t pool_size() const { return pool_size_; }
  bool udp_checksum_offload() const { return tx_offloads_ & RTE_ETH_TX_OFFLOAD_UDP_CKSUM; }
  std::vector<std::pair<std::string, std::uint64_t>> statistics() const;

  // The kernel's socket under the device: to wait on, and to filter. Invalid for most devices.
  TapSocket &tap() { return tap_; }

private:
  int create(const DeviceRequest &, const DeviceOptions &, const net::DeviceDescription &,
             std::string &error);
  QueueAbilities abilities(const rte_eth_dev_info &, const net::DeviceDescription &) const;
  int set_up(const DeviceRequest &, const DeviceOptions &, const net::DeviceDescription &,
             std::string &error);
  int configure(const DeviceRequest &, const DeviceOptions &, const net::DeviceDescription &,
                std::string &error);
  int add_queues(const rte_eth_dev_info &, std::uint16_t tx_queues);
  bool keep_rules_apart(const rte_eth_dev_info &, const net::DeviceDescription &);
  int make_pool(const DeviceRequest &, const DeviceOptions &, const net::DeviceDescription &,
                std::string &error);
  void control(const std::function<void()> &);
  void join_groups(const net::DeviceDescription &);
  void fill(DeviceInfo &, const rte_eth_dev_info &) const;

  Claim claim_;
  TapSocket tap_;
  GroupMembership membership_;
  std::string bus_, name_;
  std::uint16_t id_ = RTE_MAX_ETHPORTS;
  QueuePlan plan_;
  bool apart_ = true;
  std::unique_ptr<FlowRules> rules_;
  std::uint16_t rx_descriptors_ = 1024, tx_descriptors_ = 1024;
  std::uint32_t frame_room_ = 0; // an af_packet frame's
  std::uint32_t pool_size_ = 0;
  std::uint64_t tx_offloads_ = 0;
  rte_mempool *pool_ = nullptr;
  bool created_ = false, started_ = false, is_memif_ = false, is_memif_client_ = false,
       is_xdp_ = false, can_reclaim_ = true;
};

} // namespace dpdkx::link
