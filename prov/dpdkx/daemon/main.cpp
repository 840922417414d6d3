// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// dpdkxd(8): the program around dpdkx::daemon::Daemon.
#include "dpdkx/daemon/console.h"
#include "dpdkx/daemon/daemon.h"
#include "dpdkx/daemon/module_file.h"
#include "dpdkx/daemon/program.h"
#include "dpdkx/daemon/status_json.h"
#include "dpdkx/link/daemon/client.h"

#include <cerrno>
#include <config.h> // the build's; this folder has one, too

namespace {

using namespace dpdkx;
using namespace dpdkx::daemon;

class Forwarding final : public Service {
public:
  explicit Forwarding(std::unique_ptr<Daemon> daemon) : daemon_(std::move(daemon)) {}
  void run() override { daemon_->run(); }
  void stop() override { daemon_->stop(); }
  void reload(const Config &config) override { daemon_->reload(config); }

private:
  const std::unique_ptr<Daemon> daemon_;
};

int open_device(const DeviceConfig &device, std::shared_ptr<link::Device> &out,
                std::string &error) {
  const link::EthdevModule *const module = load_module(error);
  link::DeviceOptions options = device.options;
  options.collected = true; // by the thread that forwards
  return module != nullptr ? module->open_device(device.request, options, out, error) : -ENODEV;
}

// Who starts it can wait for the line.
void tell_running(Daemon &daemon, const std::string &socket) {
  for (const DeviceStatus &device : daemon.status().devices)
    put_out("dpdkxd: " + device.info.link_name + ", " + net::to_string(device.info.address) +
            ", for who asks at " + socket + "\n");
}

int open_daemon(const Config &config, std::unique_ptr<Service> &out, std::string &error) {
  std::unique_ptr<Daemon> daemon;
  if (const int rc = Daemon::create(
          config,
          {.open_device = open_device, .describe = status_to_json, .version = PACKAGE_VERSION},
          daemon, error))
    return rc;
  tell_running(*daemon, config.socket);
  out = std::make_unique<Forwarding>(std::move(daemon));
  return 0;
}

int ask_daemon(const std::string &socket, std::string &json, std::string &error) {
  return link::daemon_status(socket, json, error);
}

} // namespace

int main(int argc, char **argv) {
  return run_program(argc, argv, {open_daemon, ask_daemon, put_out});
}
