// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/program.h"

#include "dpdkx/daemon/check.h"
#include "dpdkx/daemon/command_line.h"
#include "dpdkx/daemon/console.h"
#include "dpdkx/daemon/metrics.h"
#include "dpdkx/daemon/options.h"
#include "dpdkx/daemon/serve.h"
#include "dpdkx/daemon/status_json.h"
#include "dpdkx/daemon/status_text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace dpdkx::daemon {

namespace {

constexpr int done = 0, failed = 1, not_allowed = 2;

int fail(const std::string &text, int code) {
  put_error(text);
  return code;
}

class Program {
public:
  explicit Program(const Surroundings &around) : around_(around) {}

  int run(int argc, const char *const *argv) {
    std::string error;
    if (!parse_command_line(argc, argv, line_, error))
      return fail(error, not_allowed);
    if (line_.command == Command::tell)
      return put(line_.text);
    if (!read_file(error) || !read_options(line_.given, file_, options_, error))
      return fail(error, not_allowed);
    switch (line_.command) {
    case Command::status:
      return show_status();
    case Command::metrics:
      return show_metrics();
    case Command::check:
      return show_check();
    default:
      return forward();
    }
  }

private:
  // Who asks the running one needs to know its socket, and no more: the file may be for root's
  // eyes, and of options that only its process can judge.
  bool read_file(std::string &error) {
    const auto is_socket = [](const Given &one) { return one.option == "socket"; };
    const bool asks = line_.command == Command::status || line_.command == Command::metrics;
    if (asks && std::ranges::any_of(line_.given, is_socket))
      return true;
    if (!read_given(line_, file_, error))
      return false;
    if (asks)
      std::erase_if(file_, [&](const Given &one) { return !is_socket(one); });
    return true;
  }

  int put(const std::string &text) const {
    return around_.out(text)
               ? done
               : fail(std::string("standard output: ") + std::strerror(errno), failed);
  }

  int forward() const {
    if (options_.config.devices.empty())
      return fail(
          "device: none; allowed: one or more, with --device or in " +
              line_.config.value_or(default_config_file) +
              ": a PCI address, an RDMA device, a kernel interface, or a DPDK virtual device",
          not_allowed);
    std::string error;
    const int rc = serve(line_, file_, options_, around_.open, around_.ask, error);
    return rc ? fail(error, failed) : done;
  }

  int show_check() const {
    const auto findings = check(options_, this_host(around_.ask));
    const int rc = put(findings_text(findings));
    return rc ? rc : would_start(findings) ? done : failed;
  }

  bool ask(std::string &json, Status &status, std::string &error) const {
    if (around_.ask(options_.config.socket, json, error))
      return false;
    return status_from_json(json, status, error);
  }

  int show_status() const {
    std::string json, error;
    Status before, now;
    if (!ask(json, before, error))
      return fail(error, failed);
    if (int rc = put(line_.json ? indented_json(json) : status_text(before)))
      return rc;
    while (line_.watch) {
      wait(*line_.watch);
      if (!ask(json, now, error))
        return fail(error, failed);
      const int rc = put(line_.json ? indented_json(json) : "\n" + status_change_text(before, now));
      if (rc)
        return rc;
      before = now;
    }
    return done;
  }

  static void wait(double seconds) {
    timespec time{};
    time.tv_sec = static_cast<time_t>(seconds);
    time.tv_nsec = static_cast<long>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
    while (nanosleep(&time, &time) != 0 && errno == EINTR) {
    }
  }

  int show_metrics() const {
    std::string json, error;
    Status status;
    return ask(json, status, error) ? put(metrics_text(status)) : fail(error, failed);
  }

  const Surroundings &around_;
  CommandLine line_;
  std::vector<Given> file_;
  Options options_;
};

} // namespace

int run_program(int argc, const char *const *argv, const Surroundings &around) {
  try {
    return Program(around).run(argc, argv);
  } catch (const std::exception &fault) { // std::bad_alloc
    return fail(fault.what(), failed);
  }
}

} // namespace dpdkx::daemon
