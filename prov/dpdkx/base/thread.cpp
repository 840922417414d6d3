// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/thread.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

namespace dpdkx {

namespace {

// A thread inherits the mask of the one that starts it.
class AllSignalsBlocked {
public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked &) = delete;

private:
  sigset_t before_;
};

} // namespace

int start_thread(std::thread &thread, std::function<void()> run, std::string &error) {
  const AllSignalsBlocked blocked;
  try {
    thread = std::thread(std::move(run));
    return 0;
  } catch (const std::system_error &e) {
    error = std::strerror(e.code().value());
    if (e.code().value() == EAGAIN)
      error += "; allowed: as many threads as RLIMIT_NPROC (ulimit -u), the control group's "
               "pids.max and RLIMIT_AS leave room for";
    return -e.code().value();
  }
}

} // namespace dpdkx
