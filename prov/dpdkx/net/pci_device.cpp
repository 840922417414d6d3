// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/pci_device.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>

namespace dpdkx::net {

namespace {

// Those that hand a device to a process, and those of vendors whose DPDK driver
// works beside the kernel's.
constexpr std::string_view usable_drivers[] = {
    "vfio-pci", "uio_pci_generic", "igb_uio", "mlx5_core", "mlx4_core", "mana", "nfb"};

std::string driver_of(const std::filesystem::path &device) {
  std::error_code none;
  return std::filesystem::read_symlink(device / "driver", none).filename();
}

bool is_network_device(const std::filesystem::path &device) {
  std::string number; // "0x020000"
  std::ifstream(device / "class") >> number;
  return number.starts_with("0x02");
}

// "0000:3b:02.0 (vfio-pci), 0000:3b:02.1 (no driver)"
std::string network_devices(const std::filesystem::path &devices) {
  std::error_code none;
  std::set<std::string> found;
  for (const auto &entry : std::filesystem::directory_iterator(devices, none)) {
    const auto driver = driver_of(entry.path());
    if (is_network_device(entry.path()))
      found.insert(entry.path().filename().string() + " (" +
                   (driver.empty() ? "no driver" : driver) + ")");
  }
  std::string text;
  for (const auto &one : found)
    text += (text.empty() ? "" : ", ") + one;
  return text;
}

} // namespace

int check_pci_device(const DeviceSpec &spec, std::string &error,
                     const std::filesystem::path &devices) {
  const auto quoted = "FI_DPDKX_DEVICE: '" + spec.text + "': ";
  const auto device = devices / spec.bus_name;
  if (!std::filesystem::exists(device)) {
    const auto there = network_devices(devices);
    error = quoted + "no such PCI device; allowed: " +
            (there.empty() ? "a network device of this host, which has none on PCI"
                           : "a network device of this host: " + there);
    return -ENODEV;
  }
  const auto driver = driver_of(device);
  if (std::ranges::find(usable_drivers, driver) != std::end(usable_drivers))
    return 0;
  error = quoted + (driver.empty() ? "bound to no kernel driver" : "bound to '" + driver + "'") +
          "; allowed: devices bound to vfio-pci, uio_pci_generic or igb_uio (dpdk-devbind.py "
          "--bind=vfio-pci " +
          spec.bus_name +
          "), or to a driver that shares them with DPDK: mlx5_core, mlx4_core, "
          "mana, nfb";
  return -ENODEV;
}

} // namespace dpdkx::net
