// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/check/command/device.h"

#include "dpdkx/daemon/module_file.h"
#include "dpdkx/link/daemon/client.h"
#include "dpdkx/link/ethdev/loader.h"

#include <cstdlib>

namespace dpdkx::check {

namespace {

bool open_of_daemon(const Settings &settings, std::shared_ptr<link::Device> &device,
                    std::string &error) {
  std::vector<link::DeviceInfo> found;
  if (link::daemon_devices(settings.daemon.socket, found, error) != 0) {
    error = "FI_DPDKX_DEVICE is not set, and there is no dpdkxd: " + error;
    return false;
  }
  if (found.empty()) {
    error = "dpdkxd at " + settings.daemon.socket + " has no device";
    return false;
  }
  return link::open_daemon_device(settings.daemon, found.front().link_name, device, error) == 0;
}

} // namespace

bool read_environment(Settings &settings, std::string &error) {
  return read_settings(
             [](const Setting &setting) -> const char * {
               return std::getenv(environment_name(setting).c_str());
             },
             settings, error) == 0;
}

bool open_device(const Settings &settings, std::shared_ptr<link::Device> &device,
                 std::string &error) {
  if (settings.devices.empty()) {
    if (settings.use_daemon)
      return open_of_daemon(settings, device, error);
    error = "FI_DPDKX_DEVICE is not set and FI_DPDKX_DAEMON is 'no'; allowed: a device, or dpdkxd";
    return false;
  }
  const link::EthdevModule *const module = daemon::load_module(error);
  std::size_t index;
  return module != nullptr &&
         link::open_first_free(*module, settings.device_requests(net::Family::v4),
                               settings.device_options, device, index, error) == 0;
}

} // namespace dpdkx::check
