// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Serves one text over HTTP/1.1, GET /metrics, on a thread of its own: one client at a time,
// each for a short while, requests of bounded size, and nothing of them is trusted.
#pragma once

#include "dpdkx/base/address.h"
#include "dpdkx/base/clock.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace dpdkx::daemon {

using Metrics = std::function<std::optional<std::string>()>; // none: there are none now

// The answer to a request's head; metrics are made only if they are asked for.
std::string http_answer(std::string_view head, const Metrics &metrics);

class MetricsServer {
public:
  static constexpr std::size_t max_request = 8192;

  MetricsServer() = default;
  ~MetricsServer(); // the thread has ended
  MetricsServer(const MetricsServer &) = delete;

  // 0, or a negative errno with a text. `metrics` is called by the thread. Port 0: any, told
  // by port().
  int start(const Address &, Metrics metrics, std::string &error,
            Duration patience = std::chrono::seconds(2));
  std::uint16_t port() const { return port_; }

private:
  int listen_at(const Address &, std::string &error);
  void serve(const Metrics &metrics) const;
  void answer(int client, const Metrics &metrics) const;
  bool wait_for(int fd, short events, Time deadline) const;

  int listener_ = -1, end_ = -1;
  std::uint16_t port_ = 0;
  Duration patience_{};
  std::thread thread_;
};

} // namespace dpdkx::daemon
