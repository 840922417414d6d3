// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// dpdkx-check(8): what passes between this host and others. The only file of
// these rooms that prints.
#include "dpdkx/base/log.h"
#include "dpdkx/check/command/device.h"
#include "dpdkx/check/command/hosts.h"
#include "dpdkx/check/command/options.h"
#include "dpdkx/check/command/report.h"
#include "dpdkx/check/command/wait.h"
#include "dpdkx/check/run.h"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <fmt/format.h>

namespace {

using namespace dpdkx;
using namespace dpdkx::check;

enum Exit { well = 0, not_well = 1, wrong = 2 };

int fail(const std::string &text) {
  fmt::print(stderr, "dpdkx-check: {}\n", text);
  return wrong;
}

void put(const std::string &text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

Time now() { return SystemClock::instance().now(); }

bool open_ports(link::Device &device, const Settings &settings, const Options &options,
                Run::Ports &ports, std::string &error) {
  const Address own = device.info().address.address.with_port(0);
  const bool asks = !options.hosts.empty();
  if (asks && (device.open_port(own, settings.ports(), ports.asks, error) != 0 ||
               device.open_port(own, settings.ports(), ports.unasked, error) != 0))
    return false;
  Address listening = own;
  listening.port = options.port;
  const int rc = device.open_port(listening, settings.ports(), ports.answers, error);
  // Whoever has it, dpdkxd as a rule, answers.
  return rc == 0 || (rc == -EADDRINUSE && !options.listen);
}

bool find_hosts(const Options &options, const Address &own, std::vector<Checked> &out,
                std::string &error) {
  for (const std::string &host : options.hosts) {
    Checked one{host, {}, {}};
    if (!find_host(host, options.port, own.is_v4(), one.address, error))
      return false;
    if (one.address.ip == own.ip || one.address.is_loopback()) {
      error = "HOST '" + host +
              "' is this host; allowed: others, for the device's packets don't "
              "come back to it";
      return false;
    }
    out.push_back(std::move(one));
  }
  return true;
}

void ask(Run &run, std::vector<Checked> &hosts, const Options &options) {
  for (const Checked &one : hosts)
    run.add(one.address);
  const Time give_up_at = now() + options.timeout;
  bool given_up = false;
  for (Wait wait(run); !run.done();) {
    const Time t = now();
    if (!given_up && t >= give_up_at) {
      given_up = true;
      run.give_up_unreached();
    }
    wait.after_turn(run.turn(t), t);
  }
  for (std::size_t i = 0; i < hosts.size(); ++i)
    hosts[i].result = run.result(i);
}

void listen(Run &run, const Options &options) {
  Askers askers;
  run.on_question([&](const Address &who, const wire::Probe &probe, std::uint32_t len) {
    askers.asked(who, probe, len, now());
  });
  const Time start = now();
  for (Wait wait(run);;) {
    const Time t = now();
    if (t - start >= options.listen_for)
      return;
    wait.after_turn(run.turn(t), t);
    if (const std::string lines = askers.quiet(t, options.json); !lines.empty())
      put(lines);
  }
}

int run(const Options &options) {
  Settings settings;
  std::string error;
  if (!read_environment(settings, error))
    return fail(error);
  settings.device_options.resolve_timeout = options.timeout;
  std::shared_ptr<link::Device> device;
  Run::Ports ports;
  if (!open_device(settings, device, error) ||
      !open_ports(*device, settings, options, ports, error))
    return fail(error);
  std::vector<Checked> hosts;
  if (!find_hosts(options, device->info().address.address.with_port(0), hosts, error))
    return fail(error);

  Run run(std::move(ports), settings.engine.session.key);
  const OwnSide own{device->info().link_name, run.port().traits().max_datagram};
  ask(run, hosts, options);
  if (!hosts.empty())
    put(options.json ? json(hosts, own) : table(hosts, own));
  if (options.listen) {
    if (!options.json)
      put(fmt::format("{} answers at {}\n", own.device,
                      to_string(device->info().address.address.with_port(options.port))));
    listen(run, options);
  }
  return all_well(hosts) ? well : not_well;
}

void log_to_console() {
  set_log_filter([](LogLevel) { return true; });
  set_log_sink([](LogLevel, std::string_view text) { fmt::print(stderr, "{}\n", text); });
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  std::string text;
  try {
    switch (parse(argc, argv, options, text)) {
    case Parsed::told:
      put(text);
      return well;
    case Parsed::wrong:
      return fail(text);
    case Parsed::run:
      break;
    }
    if (options.verbose)
      log_to_console();
    return run(options);
  } catch (const std::exception &fault) {
    return fail(fault.what());
  }
}
