// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Whether DPDK could take a PCI device, by what the kernel tells of it.
#pragma once

#include "dpdkx/net/device_spec.h"

#include <filesystem>
#include <string>

namespace dpdkx::net {

// 0; -ENODEV, with a text: not there, or held by a kernel driver that doesn't
// let DPDK at it. Reads sysfs, no more.
int check_pci_device(const DeviceSpec &, std::string &error,
                     const std::filesystem::path &devices = "/sys/bus/pci/devices");

} // namespace dpdkx::net
