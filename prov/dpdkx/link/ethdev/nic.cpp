// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/nic.h"

#include "dpdkx/link/ethdev/dpdk_nic.h"
#include "dpdkx/link/ethdev/packet_nic.h"

#include <algorithm>
#include <unistd.h>

namespace dpdkx::link {

std::function<std::unique_ptr<FlowRules>()> make_test_rules;

namespace {

template <class Kind>
int open_as(const DeviceRequest &request, const DeviceOptions &options,
            const net::DeviceDescription &description, DeviceInfo &info, std::unique_ptr<Nic> &out,
            std::string &error) {
  auto nic = std::make_unique<Kind>();
  const int rc = nic->open(request, options, description, info, error);
  if (rc == 0)
    out = std::move(nic);
  return rc;
}

} // namespace

int Nic::open(const DeviceRequest &request, const DeviceOptions &options,
              const net::DeviceDescription &description, DeviceInfo &info,
              std::unique_ptr<Nic> &out, std::string &error) {
  const bool fakes_queues = make_test_rules && options.rule_queues != 0;
  return by_packet_sockets(request.spec, options) && !fakes_queues
             ? open_as<PacketNic>(request, options, description, info, out, error)
             : open_as<DpdkNic>(request, options, description, info, out, error);
}

std::string descriptors_fault(const char *setting, std::uint32_t wanted, const std::string &device,
                              const rte_eth_desc_lim &limit) {
  const auto least = std::max<std::uint32_t>(limit.nb_min, min_descriptors);
  const auto most = std::min<std::uint32_t>(limit.nb_max ? limit.nb_max : UINT16_MAX, // 0: any
                                            max_descriptors);
  const auto multiple = std::max<std::uint32_t>(limit.nb_align, 1);
  if (wanted == 0 || (wanted >= least && wanted <= most && wanted % multiple == 0))
    return {};
  return std::string(setting) + ": '" + std::to_string(wanted) + "'; allowed for '" + device +
         "': " + std::to_string(least) + " to " + std::to_string(most) +
         (multiple > 1 ? ", a multiple of " + std::to_string(multiple) : "") + ", or 0";
}

void Nic::join_groups(const net::DeviceDescription &description) {
  const net::Ip &ip = description.address.address;
  if (ip.is_v4() || description.kernel_has_address)
    return;
  const net::Mac groups[] = {net::group_mac(net::solicited_node(ip)),
                             net::group_mac(net::all_nodes)};
  if (description.interface_index == 0 || !membership_.join(description.interface_index, groups))
    take_groups(groups);
}

std::string quoted(const DeviceRequest &request) {
  return "FI_DPDKX_DEVICE: '" + request.spec.text + "': ";
}

std::string needs_root_or(const std::string &needed) {
  return geteuid() != 0 ? "; needs root, or " + needed : "";
}

} // namespace dpdkx::link
