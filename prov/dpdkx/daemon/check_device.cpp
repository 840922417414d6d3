// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/check_parts.h"

#include "dpdkx/daemon/own_words.h"
#include "dpdkx/net/pci_device.h"
#include "dpdkx/net/sysfs_device.h"
#include "dpdkx/net/vdev_arguments.h"

#include <cerrno>
#include <unistd.h>

namespace dpdkx::daemon {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view vfio = "vfio-pci";

// Bound to what DPDK can use; false: told.
bool check_pci(const DeviceConfig &device, const CheckedHost &host, Findings &out) {
  const net::DeviceSpec &spec = device.request.spec;
  std::string error;
  if (net::check_pci_device(spec, error, host.root / "sys/bus/pci/devices") != 0) {
    std::error_code none;
    const bool there = fs::exists(host.root / "sys/bus/pci/devices" / spec.bus_name, none);
    out.missing(spec.text, in_own_words(error),
                there ? "dpdk-devbind.py --bind=vfio-pci " + spec.bus_name
                      : "dpdk-devbind.py --status-dev net, which lists those there are");
    return false;
  }
  const auto found = net::look_at_device(spec, host.root / "sys");
  out.fine(spec.text,
           "PCI device " + spec.bus_name + ", bound to " + found.driver +
               (found.driver.starts_with("mlx") || found.driver == "mana"
                    ? ", which shares it with the kernel"
                    : "") +
               (found.numa_node >= 0 ? ", NUMA node " + std::to_string(found.numa_node) : ""));
  return true;
}

// DPDK has more than those that are known here, and isn't asked.
void check_driver(const net::DeviceSpec &spec, Findings &out) {
  if (!net::vdev_arguments(spec.bus_name).empty())
    out.fine(spec.text, "DPDK virtual device");
  else
    out.note(spec.text, "DPDK virtual device of a driver that isn't among " + net::vdev_drivers(),
             "another name, unless this DPDK has that driver");
}

std::string mend_of(int rc, const DeviceConfig &device) {
  const net::DeviceSpec &spec = device.request.spec;
  switch (rc) {
  case -ENETDOWN:
    return "ip link set " + spec.interface + " up";
  case -EADDRNOTAVAIL:
    return spec.interface.empty() ? "--address 10.0.0.1/24"
                                  : "ip address add 10.0.0.1/24 dev " + spec.interface;
  case -EMSGSIZE:
    return spec.interface.empty() || device.options.mtu == 0
               ? std::string("another --mtu")
               : "ip link set " + spec.interface + " mtu " + std::to_string(device.options.mtu);
  case -EOPNOTSUPP: // by af_xdp
    return "ethtool -L " + spec.interface + " rx 1";
  default:
    return "ip link, which lists those there are";
  }
}

// The address, the MTU, and of an interface that there is one and that it is up.
void check_network(const DeviceConfig &device, const CheckedHost &host, Findings &out) {
  const std::string &about = device.request.spec.text;
  net::DeviceDescription found;
  std::string error;
  if (const int rc = host.describe(device, found, error)) {
    out.missing(about, in_own_words(error), mend_of(rc, device));
    return;
  }
  std::string text = "address " + net::to_string(found.address);
  if (found.vlan)
    text += " in VLAN " + std::to_string(found.vlan);
  text += device.request.address ? ", as set" : ", the kernel's";
  out.fine(about, text + "; MTU " + std::to_string(found.mtu));
}

} // namespace

int node_of(const DeviceConfig &device, const CheckedHost &host) {
  return net::look_at_device(device.request.spec, host.root / "sys").numa_node;
}

void check_device(const DeviceConfig &device, const CheckedHost &host, Findings &out) {
  const net::DeviceSpec &spec = device.request.spec;
  if (spec.kind == net::DeviceKind::pci && !check_pci(device, host, out))
    return;
  if (spec.kind == net::DeviceKind::vdev)
    check_driver(spec, out);
  if (host.is_taken(spec))
    out.missing(spec.text, "another process has it", "end that process, or name another device");
  check_network(device, host, out);
}

void check_iommu(const DeviceConfig &device, const CheckedHost &host, Findings &out) {
  const net::DeviceSpec &spec = device.request.spec;
  if (spec.kind != net::DeviceKind::pci ||
      net::look_at_device(spec, host.root / "sys").driver != vfio)
    return;
  std::error_code none;
  const auto group =
      fs::read_symlink(host.root / "sys/bus/pci/devices" / spec.bus_name / "iommu_group", none)
          .filename();
  const bool unsafe =
      kernel_word(host.root / "sys/module/vfio/parameters/enable_unsafe_noiommu_mode") == "Y";
  const bool on = !fs::is_empty(host.root / "sys/kernel/iommu_groups", none) && !none;
  if (group.empty() || (!on && !unsafe)) {
    out.missing(spec.text, "no IOMMU, which vfio-pci needs",
                "intel_iommu=on or amd_iommu=on for the kernel; or, without its protection: echo 1 "
                "> /sys/module/vfio/parameters/enable_unsafe_noiommu_mode");
    return;
  }
  if (on)
    out.fine(spec.text, "IOMMU group " + group.string());
  else
    out.note(spec.text, "no IOMMU: the device can reach all memory",
             "intel_iommu=on or amd_iommu=on for the kernel");
  const auto file = fs::path("dev/vfio") / ((on ? "" : "noiommu-") + group.string());
  if (access((host.root / file).c_str(), R_OK | W_OK) == 0)
    out.fine(spec.text, "/" + file.string() + " can be used");
  else
    out.missing(spec.text, "/" + file.string() + " can't be read and written by this user",
                "run it as root, or chown it to its user: chown dpdkxd /" + file.string());
}

} // namespace dpdkx::daemon
