// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/sysfs_device.h"

#include "dpdkx/net/text.h"

#include <algorithm>
#include <fstream>
#include <vector>

namespace dpdkx::net {

namespace {

namespace fs = std::filesystem;

std::string first_word(const fs::path &file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

std::string name_of_link(const fs::path &link) {
  std::error_code none;
  return fs::read_symlink(link, none).filename();
}

// The first in a folder, in the order of names; empty: none.
fs::path first_entry(const fs::path &folder) {
  std::error_code none;
  std::vector<fs::path> found;
  for (const auto &entry : fs::directory_iterator(folder, none))
    found.push_back(entry.path());
  return found.empty() ? fs::path() : *std::ranges::min_element(found);
}

void look_at_interface(const fs::path &interface, SysfsDevice &out) {
  if (interface.empty())
    return;
  const std::string speed = first_word(interface / "speed"); // "-1": unknown
  if (!parse_number(speed, out.speed_mbps))
    out.speed_mbps = 0;
  out.mac = first_word(interface / "address");
  out.up = first_word(interface / "operstate") == "up";
}

} // namespace

std::optional<PciAddress> parse_pci_address(std::string_view text) {
  PciAddress out;
  const auto domain = cut(text, ":"), bus = cut(text, ":"), device = cut(text, ".");
  if (domain.size() < 4 || bus.size() != 2 || device.size() != 2 || text.size() != 1 ||
      !parse_number(domain, out.domain, 16) || !parse_number(bus, out.bus, 16) ||
      !parse_number(device, out.device, 16) || out.device > 0x1f ||
      !parse_number(text, out.function, 16) || out.function > 7)
    return std::nullopt;
  return out;
}

fs::path pci_device_of(const fs::path &device) {
  std::error_code fault;
  for (fs::path at = fs::canonical(device, fault); !fault && at.has_relative_path();
       at = at.parent_path())
    if (parse_pci_address(at.filename().native()))
      return at;
  return {};
}

SysfsDevice look_at_device(const DeviceSpec &spec, const fs::path &sysfs) {
  SysfsDevice out;
  fs::path device;
  if (spec.kind == DeviceKind::pci)
    device = sysfs / "bus/pci/devices" / spec.bus_name;
  else if (!spec.interface.empty())
    device = sysfs / "class/net" / spec.interface / "device";
  if (device.empty())
    return out;
  fs::path pci = pci_device_of(device);
  if (!pci.empty())
    out.pci = parse_pci_address(pci.filename().native());
  else if (spec.kind == DeviceKind::pci) // absent: its address is known all the same
    out.pci = parse_pci_address(spec.bus_name);
  if (pci.empty())
    pci = device;
  out.vendor_id = first_word(pci / "vendor");
  out.device_id = first_word(pci / "device");
  out.revision = first_word(pci / "revision");
  out.driver = name_of_link(device / "driver");
  if (const fs::path rdma = first_entry(pci / "infiniband"); !rdma.empty())
    out.firmware = first_word(rdma / "fw_ver");
  if (!parse_number(first_word(pci / "numa_node"), out.numa_node)) // "-1": there is but one
    out.numa_node = -1;
  if (spec.kind == DeviceKind::pci)
    look_at_interface(first_entry(pci / "net"), out);
  return out;
}

} // namespace dpdkx::net
