// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/rdma_device.h"

#include "dpdkx/net/libibverbs.h"
#include "dpdkx/net/sysfs_device.h"

#include <set>

namespace dpdkx::net {

namespace {

namespace fs = std::filesystem;

bool is_file_name(const std::string &name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

} // namespace

std::optional<RdmaDevice> find_rdma_device(const std::string &name, const fs::path &sysfs) {
  std::error_code none;
  fs::path device = sysfs / "class/infiniband" / name;
  if (!is_file_name(name) || !fs::exists(device, none))
    return std::nullopt;
  if (sysfs == "/sys")
    if (const fs::path told = ibverbs_device(name); !told.empty())
      device = told;
  return RdmaDevice{name, pci_device_of(device / "device").filename()};
}

std::string rdma_device_names(const fs::path &sysfs) {
  std::error_code none;
  std::set<std::string> names;
  for (const auto &entry : fs::directory_iterator(sysfs / "class/infiniband", none))
    if (!pci_device_of(entry.path() / "device").empty())
      names.insert(entry.path().filename());
  std::string text;
  for (const auto &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

} // namespace dpdkx::net
