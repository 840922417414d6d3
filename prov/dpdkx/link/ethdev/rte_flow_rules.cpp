// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/rte_flow_rules.h"

#include "dpdkx/base/log.h"
#include "dpdkx/link/ethdev/quiet.h"

#include <cerrno>
#include <rte_byteorder.h>
#include <rte_errno.h>
#include <rte_flow.h>
#include <string>

namespace dpdkx::link {

namespace {

// Frames to a UDP port go to a queue. Refers to itself: stays where it is made.
class Rule {
public:
  Rule(std::uint16_t udp_port, std::uint16_t queue, bool v6, bool tagged) {
    port_.hdr.dst_port = rte_cpu_to_be_16(udp_port);
    port_mask_.hdr.dst_port = 0xffff;
    queue_.index = queue;
    unsigned n = 0;
    pattern_[n++].type = RTE_FLOW_ITEM_TYPE_ETH;
    if (tagged)
      pattern_[n++].type = RTE_FLOW_ITEM_TYPE_VLAN;
    pattern_[n++].type = v6 ? RTE_FLOW_ITEM_TYPE_IPV6 : RTE_FLOW_ITEM_TYPE_IPV4;
    pattern_[n].type = RTE_FLOW_ITEM_TYPE_UDP;
    pattern_[n].spec = &port_;
    pattern_[n++].mask = &port_mask_;
    pattern_[n].type = RTE_FLOW_ITEM_TYPE_END;
    actions_[0].type = RTE_FLOW_ACTION_TYPE_QUEUE;
    actions_[0].conf = &queue_;
    actions_[1].type = RTE_FLOW_ACTION_TYPE_END;
    attributes_.ingress = 1;
  }
  Rule(const Rule &) = delete;

  int validate(std::uint16_t port_id, rte_flow_error &error) const {
    return rte_flow_validate(port_id, &attributes_, pattern_, actions_, &error);
  }
  rte_flow *create(std::uint16_t port_id, rte_flow_error &error) const {
    return rte_flow_create(port_id, &attributes_, pattern_, actions_, &error);
  }

private:
  rte_flow_attr attributes_{};
  rte_flow_item_udp port_{}, port_mask_{};
  rte_flow_action_queue queue_{};
  rte_flow_item pattern_[5]{};
  rte_flow_action actions_[2]{};
};

void tell(const char *what, int rc, const rte_flow_error &error) {
  log(LogLevel::info, [&] {
    return std::string("flow rule: ") + what + " (error " + std::to_string(-rc) +
           (error.message != nullptr ? std::string(": ") + error.message : "") + ")";
  });
}

} // namespace

// Some drivers find a rule valid that the system under them doesn't take (net_tap): it is tried.
bool RteFlowRules::supported() {
  Handle handle{};
  return add(1, 0, handle) == 0 && remove(handle) == 0;
}

int RteFlowRules::add(std::uint16_t udp_port, std::uint16_t queue, Handle &handle) {
  Quiet quiet;
  const Rule rule(udp_port, queue, v6_, tagged_);
  rte_flow_error error{};
  int rc = rule.validate(port_id_, error);
  if (rc == 0) {
    handle = rule.create(port_id_, error);
    rc = handle != nullptr ? 0 : -rte_errno;
  }
  if (rc != 0) {
    tell("the device refuses it", rc, error);
    return rc < 0 ? rc : -EIO;
  }
  return 0;
}

int RteFlowRules::remove(Handle handle) {
  Quiet quiet;
  rte_flow_error error{};
  const int rc = rte_flow_destroy(port_id_, static_cast<rte_flow *>(handle), &error);
  if (rc != 0)
    tell("the device doesn't remove it", rc, error);
  return rc;
}

} // namespace dpdkx::link
