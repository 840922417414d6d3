// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/check_parts.h"

#include "dpdkx/net/sysfs_device.h"
#include "dpdkx/net/text.h"

#include <linux/capability.h>

namespace dpdkx::daemon {

namespace {

struct Capability {
  int number;
  const char *name;
};

constexpr Capability net_raw{CAP_NET_RAW, "CAP_NET_RAW"}, net_admin{CAP_NET_ADMIN, "CAP_NET_ADMIN"},
    ipc_lock{CAP_IPC_LOCK, "CAP_IPC_LOCK"}, sys_admin{CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
    sys_rawio{CAP_SYS_RAWIO, "CAP_SYS_RAWIO"};

constexpr std::uint64_t enough_locked = std::uint64_t{64} << 20; // of net_af_packet's rings

class Privileges {
public:
  explicit Privileges(const std::filesystem::path &root) {
    const auto self = root / "proc/self";
    const std::string effective = kernel_field(self / "status", "CapEff");
    if (!net::parse_number(std::string_view(effective), capabilities_, 16))
      capabilities_ = 0;
    std::string limit = kernel_field(self / "limits", "Max locked memory");
    limit = limit.substr(0, limit.find(' ')); // the soft one
    if (limit == "unlimited" || !net::parse_number(std::string_view(limit), locked_))
      locked_ = UINT64_MAX;
  }
  bool has(const Capability &one) const { return capabilities_ >> one.number & 1; }
  std::uint64_t locked() const { return has(ipc_lock) ? UINT64_MAX : locked_; }

private:
  std::uint64_t capabilities_ = 0, locked_ = UINT64_MAX;
};

std::vector<Capability> needed_for(const DeviceConfig &device, const CheckedHost &host) {
  switch (device.request.spec.kind) {
  case net::DeviceKind::af_packet:
    return link::by_packet_sockets(device.request.spec, device.options)
               ? std::vector{net_raw}
               : std::vector{net_raw, net_admin};
  case net::DeviceKind::af_xdp:
    return {net_raw, net_admin, sys_admin};
  case net::DeviceKind::pci: {
    const auto driver = net::look_at_device(device.request.spec, host.root / "sys").driver;
    if (driver.starts_with("mlx") || driver == "mana")
      return {net_raw, net_admin, ipc_lock};
    if (driver == "uio_pci_generic" || driver == "igb_uio")
      return {sys_admin, sys_rawio}; // for physical addresses, and ports
    return {};
  }
  default: // of virtual devices only those that make an interface
    return device.request.spec.bus_name.starts_with("net_tap") ||
                   device.request.spec.bus_name.starts_with("net_tun")
               ? std::vector{net_admin}
               : std::vector<Capability>{};
  }
}

std::string joined(const std::vector<Capability> &list, const char *separator) {
  std::string text;
  for (const Capability &one : list)
    text += (text.empty() ? "" : separator) + std::string(one.name);
  return text;
}

} // namespace

void check_privileges(const Config &config, const CheckedHost &host, Findings &out) {
  const Privileges mine(host.root);
  for (const DeviceConfig &device : config.devices) {
    const std::string &about = device.request.spec.text;
    std::vector<Capability> has, lacks;
    for (const Capability &one : needed_for(device, host))
      (mine.has(one) ? has : lacks).push_back(one);
    if (!lacks.empty())
      out.missing(about, "this process lacks " + joined(lacks, ", "),
                  "run it as root, or systemd's AmbientCapabilities=" + joined(lacks, " "));
    else if (!has.empty())
      out.fine(about, "privileges: " + joined(has, ", "));
    const bool locks = device.request.spec.kind != net::DeviceKind::vdev &&
                       !link::by_packet_sockets(device.request.spec, device.options);
    if (locks && mine.locked() < enough_locked)
      out.missing(about, std::to_string(mine.locked() >> 10) + "KiB of memory may be locked",
                  "ulimit -l unlimited, systemd's LimitMEMLOCK=infinity, or CAP_IPC_LOCK");
  }
}

} // namespace dpdkx::daemon
