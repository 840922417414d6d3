// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the kernel tells in sysfs of the device under an entry of FI_DPDKX_DEVICE.
#pragma once

#include "dpdkx/net/device_spec.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace dpdkx::net {

struct PciAddress {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0, device = 0, function = 0;

  friend bool operator==(const PciAddress &, const PciAddress &) = default;
};

// "0000:3b:02.1", as the kernel writes it.
std::optional<PciAddress> parse_pci_address(std::string_view text);

// The PCI device that a device in sysfs is, or that it stands on (virtio's, say); empty: none.
std::filesystem::path pci_device_of(const std::filesystem::path &device);

// Empty, 0 or -1: unknown.
struct SysfsDevice {
  std::optional<PciAddress> pci;
  std::string vendor_id, device_id; // "0x15b3"
  std::string revision;             // "0x00"
  std::string driver;               // the kernel's that has it: "mlx5_core", "vfio-pci"
  std::string firmware;
  int numa_node = -1;
  // Of the kernel interface of a PCI device that the kernel and DPDK share
  std::string mac;
  std::uint64_t speed_mbps = 0;
  bool up = false;
};

SysfsDevice look_at_device(const DeviceSpec &, const std::filesystem::path &sysfs = "/sys");

} // namespace dpdkx::net
