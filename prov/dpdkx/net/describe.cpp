// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/describe.h"

#include "dpdkx/net/kernel_interface.h"
#include "dpdkx/net/pci_device.h"

#include <algorithm>
#include <cerrno>

namespace dpdkx::net {

namespace {

std::string quoted(const DeviceSpec &spec) { return "FI_DPDKX_DEVICE: '" + spec.text + "': "; }

int check_interface(const DeviceSpec &spec, const std::optional<KernelInterface> &interface,
                    std::string &error) {
  if (!interface) {
    std::string names = kernel_interface_names();
    if (const auto rdma = rdma_device_names(); !rdma.empty())
      names += (names.empty() ? "" : ", ") + std::string("the RDMA devices ") + rdma;
    error = quoted(spec) + "no network interface " +
            (spec.bus_name.empty() && spec.kind == DeviceKind::af_packet ? "or RDMA device " : "") +
            "'" + spec.interface + "'; allowed: " + names + (names.empty() ? "" : ", ") +
            "a PCI address (0000:01:00.0), or a DPDK virtual device (net_memif0,...)";
    return -ENODEV;
  }
  if (!interface->ethernet) {
    error = quoted(spec) + "not an Ethernet interface; allowed: interfaces with a MAC address";
    return -ENODEV;
  }
  if (!interface->up) {
    error = quoted(spec) + "the interface is down; ip link set " + spec.interface + " up";
    return -ENETDOWN;
  }
  return 0;
}

// By af_xdp a receive queue is ours or the kernel's. What arrives by one that stays the kernel's is
// lost, unless who names queues has NIC rules for that.
int choose_xdp_queues(const DeviceSpec &spec, DeviceDescription &out, std::string &error) {
  if (spec.kind != DeviceKind::af_xdp || has_argument(spec.arguments, "start_queue") ||
      has_argument(spec.arguments, "queue_count"))
    return 0;
  const ReceiveQueues queues = receive_queues(spec.interface);
  out.xdp_queues = std::max(queues.paired, 1u);
  const auto all = queues.paired + queues.alone;
  if (queues.alone == 0 || all == 1)
    return 0;
  error = quoted(spec) + "the interface has " + std::to_string(all) +
          " receive queues, of which af_xdp would take " + std::to_string(out.xdp_queues) +
          "; allowed: one (ethtool -L " + spec.interface +
          " rx 1), or start_queue=# and queue_count=# for those that NIC rules bring packets to";
  return -EOPNOTSUPP;
}

// The first of the family, or of any.
const Network &pick(const std::vector<Network> &addresses, Family preferred) {
  auto fits = [&](const Network &n) { return n.address.is_v4() == (preferred == Family::v4); };
  auto found = std::find_if(addresses.begin(), addresses.end(), fits);
  return found == addresses.end() ? addresses.front() : *found;
}

// The kernel's first address there, or the one that the setting picks or brings.
int choose_address(const DeviceSpec &spec, const std::optional<AddressSpec> &setting,
                   Family preferred, const std::optional<KernelInterface> &interface,
                   DeviceDescription &out, std::string &error) {
  if (setting) {
    out.address = setting->network;
    out.vlan = setting->vlan;
    out.kernel_has_address = kernel_has_address(setting->network.address);
    out.routes.add(setting->network, {});
    if (!setting->gateway.is_any())
      out.routes.add({setting->network.address, 0}, setting->gateway);
    else if (out.kernel_has_address && interface)
      for (const auto &route : interface->routes.all())
        out.routes.add(route.network, route.gateway);
    return 0;
  }
  if (!interface || interface->addresses.empty()) {
    error = "FI_DPDKX_ADDR: not set, and the kernel has no IP address for '" + spec.text +
            "' (IPv6 addresses of the link alone, fe80::/10, don't count); allowed: "
            "address/prefix[,gateway[,vlan]], for example 10.0.0.1/24 or fd00::1/64";
    return -EADDRNOTAVAIL;
  }
  out.address = pick(interface->addresses, preferred);
  out.kernel_has_address = true;
  out.routes = interface->routes;
  // A point-to-point or a policy-routed interface has none in the main table.
  out.routes.add(out.address, {});
  return 0;
}

int choose_mtu(const DeviceSpec &spec, std::uint32_t setting,
               const std::optional<KernelInterface> &interface, DeviceDescription &out,
               std::string &error) {
  auto limit = std::min(interface ? interface->mtu : max_mtu, max_mtu);
  auto least = out.address.address.is_v4() ? min_mtu : min_mtu_ipv6;
  out.mtu = setting ? setting : interface ? limit : default_mtu;
  if (out.mtu >= least && out.mtu <= limit)
    return 0;
  error = setting ? "FI_DPDKX_MTU: " + std::to_string(setting)
                  : quoted(spec) + "its MTU is " + std::to_string(out.mtu);
  error += "; allowed for '" + spec.text + "': " + std::to_string(least) + "-" +
           std::to_string(std::max(limit, least));
  return -EMSGSIZE;
}

} // namespace

int describe_device(const DeviceSpec &spec, const std::optional<AddressSpec> &address,
                    Family preferred, std::uint32_t mtu, DeviceDescription &out,
                    std::string &error) {
  out = {};
  out.link_name = spec.interface.empty() ? spec.bus_name : spec.interface;
  if (spec.kind == DeviceKind::pci)
    if (int rc = check_pci_device(spec, error))
      return rc;
  std::optional<KernelInterface> interface;
  if (!spec.interface.empty()) {
    interface = find_kernel_interface(spec.interface);
    if (int rc = check_interface(spec, interface, error))
      return rc;
    out.interface_index = interface->index;
    out.mac = interface->mac;
    out.speed_mbps = interface->speed_mbps;
    out.neighbours = permanent_neighbours(interface->index);
    if (int rc = choose_xdp_queues(spec, out, error))
      return rc;
  }
  if (int rc = choose_address(spec, address, preferred, interface, out, error))
    return rc;
  return choose_mtu(spec, mtu, interface, out, error);
}

} // namespace dpdkx::net
