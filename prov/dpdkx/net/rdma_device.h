// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// RDMA devices (mlx5_0), which are names for PCI devices that the kernel and DPDK share.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace dpdkx::net {

struct RdmaDevice {
  std::string name;
  std::string pci; // "0000:01:00.0"; empty: it stands on none, as those made of software
};

// nullopt: there is none of that name. Which there are is looked up in sysfs, where libibverbs
// finds them, too: what names no RDMA device costs no more. Where one stands is asked of
// libibverbs, or is read in sysfs where that isn't installed, or where `sysfs` is another.
std::optional<RdmaDevice> find_rdma_device(const std::string &name,
                                           const std::filesystem::path &sysfs = "/sys");

// For "allowed:" in messages: "mlx5_0, mlx5_1", those on PCI.
std::string rdma_device_names(const std::filesystem::path &sysfs = "/sys");

} // namespace dpdkx::net
