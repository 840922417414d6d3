// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A DPDK Ethernet port.
#pragma once

#include "dpdkx/link/ethdev/claim.h"
#include "dpdkx/link/ethdev/nic.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <rte_ethdev.h>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dpdkx::link {

class DpdkNic final : public Nic {
public:
  DpdkNic() = default;
  ~DpdkNic() override;
  DpdkNic(const DpdkNic &) = delete;

  int open(const DeviceRequest &, const DeviceOptions &, const net::DeviceDescription &,
           DeviceInfo &info, std::string &error); // as Nic::open()

  bool started() const override { return started_; }
  bool try_start() override;
  void stop() override;
  void take_all_groups() override;

  bool needs_farewell() const override { return is_memif_; }
  bool is_client() const override { return is_memif_client_; }
  bool link_is_up() const override;

  const QueuePlan &queues() const override { return plan_; }
  bool rule_queues_are_apart() const override { return apart_; }
  FlowRules *rules() override { return rules_.get(); }

  unsigned receive(std::uint16_t queue, rte_mbuf **out, unsigned max) override {
    return rte_eth_rx_burst(id_, queue, out, static_cast<std::uint16_t>(max));
  }
  unsigned transmit(rte_mbuf **packets, unsigned n) override {
    return rte_eth_tx_burst(id_, 0, packets, static_cast<std::uint16_t>(n));
  }
  void reclaim() override;

  bool udp_checksum_offload() const override { return tx_offloads_ & RTE_ETH_TX_OFFLOAD_UDP_CKSUM; }
  std::vector<std::pair<std::string, std::uint64_t>> statistics() const override;

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
  void take_groups(std::span<const net::Mac>) override;
  void fill(DeviceInfo &, const rte_eth_dev_info &) const;

  Claim claim_;
  std::string bus_, name_;
  std::uint16_t id_ = RTE_MAX_ETHPORTS;
  QueuePlan plan_;
  bool apart_ = true;
  std::unique_ptr<FlowRules> rules_;
  std::uint16_t rx_descriptors_ = 1024, tx_descriptors_ = 1024;
  std::uint32_t frame_room_ = 0; // an af_packet frame's
  std::uint64_t tx_offloads_ = 0;
  bool created_ = false, started_ = false, is_memif_ = false, is_memif_client_ = false,
       is_xdp_ = false, can_reclaim_ = true;
};

} // namespace dpdkx::link
