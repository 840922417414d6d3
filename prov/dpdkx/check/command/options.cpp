// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/check/command/options.h"

#include <CLI/CLI.hpp>
#include <config.h>

namespace dpdkx::check {

namespace {

Duration seconds(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}

} // namespace

Parsed parse(int argc, const char *const *argv, Options &out, std::string &text) {
  CLI::App app("Checks what passes between this host and others over dpdkx's device: small, "
               "MTU-sized and jumbo datagrams, in both directions.",
               "dpdkx-check");
  double timeout = 3, listen_for = 0;
  app.set_version_flag("--version", "dpdkx-check " PACKAGE_VERSION);
  app.add_option("HOST", out.hosts, "names or addresses, with :PORT if it is not --port");
  app.add_option("-p,--port", out.port,
                 "UDP port at which hosts answer, and this one does; dpdkxd's check-port")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_flag("-l,--listen", out.listen, "answer others, and tell who asks, until interrupted");
  auto *const limit = app.add_option("--for", listen_for, "with --listen: so many seconds")
                          ->check(CLI::Range(0.01, 1e6));
  app.add_option("-t,--timeout", timeout, "seconds to wait for a host's MAC address")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  app.add_flag("--json", out.json, "results as JSON");
  app.add_flag("-v,--verbose", out.verbose, "on standard error, what the device's driver says");
  app.footer("The device is FI_DPDKX_DEVICE, or that of dpdkxd where one runs; all FI_DPDKX_* "
             "settings count.\nExit code: 0 all is well, 1 something isn't, 2 wrong usage or no "
             "device.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion &version) {
    text = std::string(version.what()) + "\n";
    return Parsed::told;
  } catch (const CLI::Success &) {
    text = app.help();
    return Parsed::told;
  } catch (const CLI::ParseError &fault) {
    text = std::string(fault.what()) + "; allowed: what dpdkx-check --help tells";
    return Parsed::wrong;
  }
  out.timeout = seconds(timeout);
  if (limit->count())
    out.listen_for = seconds(listen_for);
  if (!out.hosts.empty() || out.listen)
    return Parsed::run;
  text = "no HOST; allowed: one or more, or --listen";
  return Parsed::wrong;
}

} // namespace dpdkx::check
