// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon_devices.h"

#include "dpdkx/link/daemon/messages.h"
#include "dpdkx/provider.h"

#include <cerrno>

namespace dpdkx {

std::string daemon_domain_name(const link::DeviceInfo &info) {
  return std::string(daemon_domain_prefix) + info.link_name;
}

std::vector<link::DeviceInfo> daemon_devices(const Settings &settings) {
  std::vector<link::DeviceInfo> devices;
  if (!settings.devices.empty() || !settings.use_daemon)
    return devices;
  std::string error;
  const int rc = link::daemon_devices(settings.daemon.socket, devices, error);
  // As a rule there is none.
  if (rc == -ECONNREFUSED && settings.daemon.socket == link::daemon::default_socket)
    FI_DBG(&provider, FI_LOG_CORE, "%s\n", error.c_str());
  else if (rc)
    FI_WARN(&provider, FI_LOG_CORE, "FI_DPDKX_DAEMON: %s\n", error.c_str());
  return devices;
}

net::DeviceSpec spec_of(const link::DeviceInfo &info) {
  net::DeviceSpec spec;
  spec.kind = info.pci ? net::DeviceKind::pci : net::DeviceKind::af_packet;
  spec.text = daemon_domain_name(info);
  if (info.pci)
    spec.bus_name = info.name;
  if (info.link_name != info.name)
    spec.interface = info.link_name;
  return spec;
}

net::DeviceDescription description_of(const link::DeviceInfo &info) {
  net::DeviceDescription description;
  description.link_name = info.link_name;
  description.address = info.address;
  description.mtu = info.mtu;
  description.mac = info.mac;
  description.speed_mbps = info.bits_per_second / 1'000'000;
  return description;
}

} // namespace dpdkx
