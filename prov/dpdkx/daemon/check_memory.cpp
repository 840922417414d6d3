// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/check_parts.h"

#include <charconv>
#include <fstream>
#include <set>
#include <sstream>

namespace dpdkx::daemon {

namespace {

namespace fs = std::filesystem;

constexpr const char *about = "huge pages";

struct Pages {
  std::uint64_t all = 0, free = 0, free_kb = 0;
};

// Of all sizes in a folder of hugepages-2048kB and the like.
Pages pages_in(const fs::path &folder) {
  Pages sum;
  std::error_code none;
  for (const auto &size : fs::directory_iterator(folder, none)) {
    const std::string name = size.path().filename();
    std::uint64_t kb = 0;
    constexpr std::string_view prefix = "hugepages-";
    if (!name.starts_with(prefix))
      continue;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), kb);
    const auto free = kernel_number(size.path() / "free_hugepages").value_or(0);
    sum.all += kernel_number(size.path() / "nr_hugepages").value_or(0);
    sum.free += free;
    sum.free_kb += free * kb;
  }
  return sum;
}

bool is_mounted(const fs::path &root) {
  std::ifstream mounts(root / "proc/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string what, where, type;
    if (words >> what >> where >> type && type == "hugetlbfs")
      return true;
  }
  return false;
}

// On the nodes of devices, where DPDK wants their memory.
void check_nodes(const Config &config, const CheckedHost &host, Findings &out) {
  std::set<int> nodes;
  for (const DeviceConfig &device : config.devices)
    if (const int node = node_of(device, host); node >= 0)
      nodes.insert(node);
  for (const int node : nodes) {
    const auto folder = "sys/devices/system/node/node" + std::to_string(node) + "/hugepages";
    std::error_code none;
    if (!fs::exists(host.root / folder, none))
      continue;
    const Pages there = pages_in(host.root / folder);
    const auto where = "NUMA node " + std::to_string(node);
    if (there.free)
      out.fine(about, std::to_string(there.free_kb / 1024) + "MiB free on " + where);
    else
      out.note(about, "none free on " + where + ", where a device is",
               "echo 512 > /" + folder + "/hugepages-2048kB/nr_hugepages");
  }
}

} // namespace

bool wants_huge_pages(const Config &config) {
  if (config.devices.empty())
    return false;
  const DeviceConfig &first = config.devices.front();
  return first.options.huge_pages == link::HugePages::always ||
         (first.options.huge_pages == link::HugePages::where_needed &&
          first.request.spec.kind == net::DeviceKind::pci);
}

void check_huge_pages(const Config &config, const CheckedHost &host, Findings &out) {
  if (!wants_huge_pages(config)) {
    if (!config.devices.empty())
      out.fine(about, "not needed");
    return;
  }
  const Pages pages = pages_in(host.root / "sys/kernel/mm/hugepages");
  const std::uint64_t wanted_kb = config.devices.front().options.memory_mb * std::uint64_t{1024};
  if (pages.free == 0) {
    out.missing(
        about, pages.all ? "all " + std::to_string(pages.all) + " are in use" : "none are reserved",
        "echo 512 > /proc/sys/vm/nr_hugepages");
    return;
  }
  const auto text =
      std::to_string(pages.free_kb / 1024) + "MiB in " + std::to_string(pages.free) + " free pages";
  if (pages.free_kb < wanted_kb)
    out.missing(about, text + ", while memory asks for " + std::to_string(wanted_kb / 1024) + "MiB",
                "more of them (/proc/sys/vm/nr_hugepages), or less --memory");
  else
    out.fine(about, text + (is_mounted(host.root)
                                ? "; hugetlbfs is mounted"
                                : "; no hugetlbfs is mounted, which dpdkxd doesn't need"));
  check_nodes(config, host, out);
}

} // namespace dpdkx::daemon
