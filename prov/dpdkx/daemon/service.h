// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the program around it sees of what forwards, so that tests can put another in its place.
#pragma once

#include "dpdkx/daemon/config.h"

#include <functional>
#include <memory>
#include <string>

namespace dpdkx::daemon {

class Service {
public:
  virtual ~Service() = default;
  virtual void run() = 0; // until stop(); the calling thread forwards
  // From any thread:
  virtual void stop() = 0;
  virtual void reload(const Config &) = 0;
};

// 0, or a negative errno with a text.
using OpenService = std::function<int(const Config &, std::unique_ptr<Service> &, std::string &)>;

// Asks who listens at a socket for its status, in JSON; any thread. 0; -ECONNREFUSED: nobody is
// there; another negative errno; with a text.
using AskStatus =
    std::function<int(const std::string &socket, std::string &json, std::string &error)>;

} // namespace dpdkx::daemon
