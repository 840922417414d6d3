// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/serve.h"

#include "dpdkx/daemon/console.h"
#include "dpdkx/daemon/endpoint_text.h"
#include "dpdkx/daemon/metrics.h"
#include "dpdkx/daemon/metrics_server.h"
#include "dpdkx/daemon/notify.h"
#include "dpdkx/daemon/own_words.h"
#include "dpdkx/daemon/signals.h"
#include "dpdkx/daemon/status_json.h"

#include <cerrno>
#include <cstring>

namespace dpdkx::daemon {

namespace {

// What the running one was given, and what a reload makes of it.
class Reloader {
public:
  Reloader(const CommandLine &line, std::vector<Given> file, Service &service)
      : line_(line), file_(std::move(file)), service_(service) {}

  void reload() {
    notify(reloading());
    std::string error;
    if (!try_reload(error))
      log(LogLevel::warn, error + " (nothing has changed)");
    notify("READY=1");
  }

private:
  bool try_reload(std::string &error) {
    std::vector<Given> file, kept;
    std::vector<std::string> left;
    Options options;
    if (!read_given(line_, file, error) || !read_options(line_.given, file, options, error))
      return false;
    // What the command line gives stays: only the file's count.
    std::erase_if(file, [this](const Given &one) { return on_command_line(one.option); });
    kept = what_reload_changes(file_, file, left);
    if (!read_options(line_.given, kept, options, error))
      return false;
    for (const std::string &one : left)
      log(LogLevel::warn, one);
    file_ = kept;
    log_to_console(options.log_level);
    service_.reload(options.config);
    log(LogLevel::info, "configuration has been read again");
    return true;
  }

  bool on_command_line(const std::string &option) const {
    for (const Given &one : line_.given)
      if (one.option == option)
        return true;
    return false;
  }

  const CommandLine &line_;
  std::vector<Given> file_;
  Service &service_;
};

// As anyone would ask: the thread that forwards answers when it gets to it.
std::optional<std::string> ask_for_metrics(const std::string &socket, const AskStatus &ask) {
  std::string json, error;
  Status status;
  if (ask(socket, json, error) == 0 && status_from_json(json, status, error))
    return metrics_text(status);
  log(LogLevel::warn, "metrics: " + error);
  return std::nullopt;
}

int start_metrics(const Options &options, const AskStatus &ask, MetricsServer &server,
                  std::string &error) {
  Address address;
  if (options.metrics.empty())
    return 0;
  if (!parse_tcp_address(options.metrics, address, error))
    return -EINVAL;
  return server.start(
      address, [socket = options.config.socket, ask] { return ask_for_metrics(socket, ask); },
      error);
}

} // namespace

int serve(const CommandLine &line, const std::vector<Given> &file, const Options &options,
          const OpenService &open, const AskStatus &ask, std::string &error) {
  Signals signals; // before DPDK starts threads
  log_to_console(options.log_level);
  std::unique_ptr<Service> service;
  if (open(options.config, service, error)) {
    error = in_own_words(error);
    return 1;
  }
  MetricsServer metrics;
  Reloader reloader(line, file, *service);
  const auto stop = [&](int signal) {
    log(LogLevel::info, std::string("stops: ") + strsignal(signal));
    notify("STOPPING=1");
    service->stop();
  };
  if (start_metrics(options, ask, metrics, error) || signals.start(
                                                         stop, [&] { reloader.reload(); }, error))
    return 1;
  if (!notify("READY=1"))
    log(LogLevel::warn, std::string("NOTIFY_SOCKET: ") + std::strerror(errno) +
                            "; whoever has started dpdkxd was not told that it is ready");
  service->run();
  signals.end(); // which would call a service that has gone
  return 0;
}

} // namespace dpdkx::daemon
