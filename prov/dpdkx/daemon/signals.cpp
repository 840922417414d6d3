// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/signals.h"

#include "dpdkx/base/thread.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace dpdkx::daemon {

namespace {

// SIGPIPE comes to nothing: who reads the log may go.
sigset_t ours() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE})
    sigaddset(&set, signal);
  return set;
}

} // namespace

Signals::Signals() {
  const sigset_t set = ours();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  end_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void Signals::end() {
  if (thread_.joinable()) {
    eventfd_write(end_, 1);
    thread_.join();
  }
}

Signals::~Signals() {
  end();
  signalfd_siginfo ignored; // else they would come with the old mask
  while (signals_ >= 0 && read(signals_, &ignored, sizeof(ignored)) > 0) {
  }
  for (const int fd : {signals_, end_})
    if (fd >= 0)
      close(fd);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int Signals::start(std::function<void(int)> stop, std::function<void()> reload,
                   std::string &error) {
  if (signals_ < 0 || end_ < 0) {
    error = std::string("no file descriptor for signals: ") + std::strerror(EMFILE) +
            "; allowed: more of them (ulimit -n)";
    return -EMFILE;
  }
  return start_thread(
      thread_, [this, stop, reload] { wait(stop, reload); }, error);
}

void Signals::wait(const std::function<void(int)> &stop,
                   const std::function<void()> &reload) const {
  for (;;) {
    pollfd ready[] = {{signals_, POLLIN, 0}, {end_, POLLIN, 0}};
    if (poll(ready, 2, -1) < 0 && errno != EINTR)
      return;
    if (ready[1].revents != 0)
      return;
    signalfd_siginfo info;
    while (read(signals_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info)))
      if (info.ssi_signo == SIGHUP)
        reload();
      else if (info.ssi_signo != SIGPIPE)
        stop(static_cast<int>(info.ssi_signo));
  }
}

} // namespace dpdkx::daemon
