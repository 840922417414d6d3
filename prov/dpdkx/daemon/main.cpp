// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// dpdkxd(8): the program around dpdkx::daemon::Daemon.
#include "dpdkx/daemon/console.h"
#include "dpdkx/daemon/module_file.h"
#include "dpdkx/daemon/program.h"
#include "dpdkx/daemon/status_json.h"

#include <cerrno>
#include <config.h> // the build's; this folder has one, too

namespace {

using namespace dpdkx::daemon;

int open_daemon(const Config &, std::unique_ptr<Service> &, std::string &error) {
  error = "dpdkxd " PACKAGE_VERSION " can't forward yet";
  return -ENOSYS;
}

int ask_daemon(const std::string &socket, std::string &, std::string &error) {
  error = "socket: '" + socket + "': nobody listens there";
  return -ECONNREFUSED;
}

} // namespace

int main(int argc, char **argv) {
  return run_program(argc, argv, {open_daemon, ask_daemon, put_out});
}
