// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Rules by rte_flow. Nothing else here knows of it.
#pragma once

#include "dpdkx/link/ethdev/flow_rules.h"

namespace dpdkx::link {

class RteFlowRules final : public FlowRules {
public:
  // Of a DPDK port that has been started. What comes to it is tagged, or not; and of one family.
  RteFlowRules(std::uint16_t port_id, bool v6, bool tagged)
      : port_id_(port_id), v6_(v6), tagged_(tagged) {}

  bool supported() override;
  int add(std::uint16_t udp_port, std::uint16_t queue, Handle &) override;
  int remove(Handle) override;

private:
  const std::uint16_t port_id_;
  const bool v6_, tagged_;
};

} // namespace dpdkx::link
