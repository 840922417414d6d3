// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/cond_signaller.h"

#include <csignal>
#include <poll.h>
#include <system_error>
#include <unistd.h>

namespace util_ext {

CondSignaller::~CondSignaller() {
  if (!thread_.joinable())
    return;
  if (owner_ != getpid()) {
    thread_.detach(); // it runs in the parent only
    return;
  }
  stopping_.store(true);
  control_.set();
  thread_.join();
  pthread_cond_destroy(&cond_);
  pthread_mutex_destroy(&mutex_);
}

int CondSignaller::start(int fd) {
  if (thread_.joinable())
    return 0;
  if (const int rc = control_.open(); rc != 0)
    return rc;
  sigset_t all, before; // signals are for the application's threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int rc = 0;
  try {
    thread_ = std::thread([this, fd] { run(fd); });
    owner_ = getpid();
    pthread_setname_np(thread_.native_handle(), "fi-signaller");
  } catch (const std::system_error &e) {
    rc = -e.code().value();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return rc;
}

void CondSignaller::run(int fd) noexcept {
  for (bool watching = false; !stopping_.load();) {
    pollfd fds[2] = {{control_.fd(), POLLIN, 0}, {watching ? fd : -1, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0)
      continue;
    if (fds[0].revents) {
      control_.clear();
      watching = true;
    } else if (fds[1].revents) {
      watching = false;
      // Who has looked in vain with the mutex held waits by the time that it is ours.
      pthread_mutex_lock(&mutex_);
      pthread_cond_broadcast(&cond_);
      pthread_mutex_unlock(&mutex_);
    }
  }
}

} // namespace util_ext
