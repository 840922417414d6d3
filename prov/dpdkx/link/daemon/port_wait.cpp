// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Sleeping until something arrives. The descriptor is an epoll set of the socket,
// where the daemon wakes us and whose end tells of its end, and of a timer for
// looking after its successor.
#include "dpdkx/link/daemon/port.h"

#include "dpdkx/base/log.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace dpdkx::link::daemon {

namespace {

constexpr long look_again_ns = 10'000'000; // while there is no daemon

bool add_to(const host::Fd &epoll, const host::Fd &fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  return fd && epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd.get(), &event) == 0;
}

} // namespace

int DaemonPort::wait_fd() {
  if (inherited() || epoll_)
    return inherited() ? -1 : epoll_.get();
  {
    const host::ForkHold hold;
    epoll_ = host::Fd(epoll_create1(EPOLL_CLOEXEC), hold);
    timer_ = host::Fd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), hold);
  }
  if (!epoll_ || !add_to(epoll_, timer_)) {
    epoll_.reset();
    return -1;
  }
  watch_socket();
  return epoll_.get();
}

void DaemonPort::watch_socket() {
  if (epoll_ && channel_.socket)
    add_to(epoll_, channel_.socket);
}

void DaemonPort::look_again_in(long ns) {
  itimerspec when{};
  when.it_value.tv_nsec = ns;
  if (timer_)
    timerfd_settime(timer_.get(), 0, &when, nullptr);
}

bool DaemonPort::arm() {
  if (inherited())
    return true;
  if (!epoll_)
    return false;
  look(SystemClock::instance().now());
  flush(); // whom nothing more is sent to may have been told of paths
  if (!events_.empty() || (state_ == State::attached && !notices_.empty()))
    return false;
  if (state_ != State::attached) {
    look_again_in(look_again_ns);
    next_look_ = {}; // whoever is woken looks
    return drained();
  }
  return channel_.sleep();
}

void DaemonPort::disarm() {
  if (inherited())
    return;
  if (channel_.own_sleep != nullptr)
    channel_.set_sleep(host::Sleep::may_sleep);
  if (state_ != State::attached)
    look_again_in(0);
}

} // namespace dpdkx::link::daemon
