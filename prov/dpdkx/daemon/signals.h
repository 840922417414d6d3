// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// SIGTERM, SIGINT and SIGHUP as calls on a thread of their own. To be made before any other
// thread, so that all of them leave these signals alone.
#pragma once

#include <csignal>
#include <functional>
#include <string>
#include <thread>

namespace dpdkx::daemon {

class Signals {
public:
  // They wait from here on.
  Signals();
  ~Signals(); // as end(); the mask is as it was
  Signals(const Signals &) = delete;

  // 0, or a negative errno with a text. Each call of these comes from the thread.
  int start(std::function<void(int signal)> stop, std::function<void()> reload, std::string &error);
  // The thread has ended; further signals come to nothing.
  void end();

private:
  void wait(const std::function<void(int)> &stop, const std::function<void()> &reload) const;

  sigset_t before_{};
  int signals_ = -1, end_ = -1; // signalfd, eventfd
  std::thread thread_;
};

} // namespace dpdkx::daemon
