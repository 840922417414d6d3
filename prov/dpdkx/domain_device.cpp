// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/address_format.h"
#include "dpdkx/daemon_devices.h"
#include "dpdkx/domain.h"
#include "dpdkx/link/ethdev/loader.h"
#include "dpdkx/provider.h"

#include <algorithm>
#include <cstring>

namespace dpdkx {

namespace {

int no_such_domain(const char *name) {
  FI_WARN(&provider, FI_LOG_DOMAIN,
          "no domain '%s'; allowed: '%s', or an entry of FI_DPDKX_DEVICE as it is written there\n",
          name, host_domain_name);
  return -FI_ENODATA;
}

// Which of its addresses a device is opened with: the one that fi_getinfo has told.
net::Family family_of(const fi_info &info) {
  bool v6 = info.addr_format == FI_SOCKADDR_IN6;
  Address source;
  if (info.src_addr && read_address(info.addr_format, info.src_addr, info.src_addrlen, source) == 0)
    v6 = !source.is_v4();
  return v6 ? net::Family::v6 : net::Family::v4;
}

// The named device, or if another process was quicker, whichever is free.
int open_device(const link::EthdevModule &module, const Settings &settings, const fi_info &info,
                std::shared_ptr<link::Device> &device, std::string &error) {
  const char *name = info.domain_attr->name;
  const link::DeviceOptions &options = settings.device_options;
  const std::vector<link::DeviceRequest> requests = settings.device_requests(family_of(info));
  if (name) {
    const auto named = std::find_if(requests.begin(), requests.end(),
                                    [name](const auto &r) { return r.spec.text == name; });
    const int rc = module.open_device(*named, options, device, error);
    if (rc != -EBUSY)
      return rc;
  }
  std::size_t index;
  return link::open_first_free(module, requests, options, device, index, error);
}

int open_device_of_daemon(const Settings &settings, const char *name,
                          std::shared_ptr<link::Device> &device) {
  std::string error;
  const int rc =
      link::open_daemon_device(settings.daemon, name + daemon_domain_prefix.size(), device, error);
  if (rc) {
    FI_WARN(&provider, FI_LOG_DOMAIN, "domain '%s': %s\n", name, error.c_str());
    return rc;
  }
  FI_INFO(&provider, FI_LOG_DOMAIN, "device %s of dpdkxd at %s, driver %s, address %s\n",
          device->info().link_name.c_str(), settings.daemon.socket.c_str(),
          device->info().driver.c_str(), net::to_string(device->info().address).c_str());
  return 0;
}

bool is_device_of_daemon(const Settings &settings, const char *name) {
  return name && settings.use_daemon && std::string_view(name).starts_with(daemon_domain_prefix);
}

} // namespace

int open_device_of(const Settings &settings, const fi_info &info,
                   std::shared_ptr<link::Device> &device) {
  const char *name = info.domain_attr->name;
  if (name ? std::strcmp(name, host_domain_name) == 0 : settings.devices.empty())
    return 0;
  if (is_device_of_daemon(settings, name))
    return open_device_of_daemon(settings, name, device);
  const auto is_named = [name](const net::DeviceSpec &spec) { return !name || spec.text == name; };
  if (std::none_of(settings.devices.begin(), settings.devices.end(), is_named))
    return no_such_domain(name);

  std::string error;
  const link::EthdevModule *module = link::load_ethdev_module({}, error);
  const int rc = module ? open_device(*module, settings, info, device, error) : -FI_ENODEV;
  if (rc) {
    FI_WARN(&provider, FI_LOG_DOMAIN, "%s\n", error.c_str());
    return rc;
  }
  FI_INFO(&provider, FI_LOG_DOMAIN, "device %s, driver %s, address %s, DPDK %s\n",
          device->info().name.c_str(), device->info().driver.c_str(),
          net::to_string(device->info().address).c_str(), module->dpdk_version);
  return 0;
}

} // namespace dpdkx
