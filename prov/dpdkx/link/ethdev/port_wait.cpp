// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Sleeping until something arrives. The fd is an epoll of three things: the device's
// own sockets, readable while it has frames that nobody has taken; an event that
// another port's poll signals after it has put something into our inbox; and a
// timer for questions that address resolution has to repeat.
#include "dpdkx/link/ethdev/port.h"

#include <algorithm>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace dpdkx::link {

namespace {

bool add_to_epoll(int epoll_fd, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  return fd >= 0 && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

void set_timer(int fd, Time at) {
  auto ns = std::max<std::int64_t>(at.time_since_epoch().count(), 1); // 0 would disarm it
  itimerspec when{};
  when.it_value = {ns / 1000000000, ns % 1000000000};
  timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, nullptr);
}

bool readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, 0) != 0;
}

void drain(int fd) {
  std::uint64_t ignored;
  (void)!read(fd, &ignored, sizeof(ignored));
}

} // namespace

int EthdevPort::wait_fd() {
  if (epoll_fd_ >= 0 || !device_->nic().tap().valid())
    return epoll_fd_;
  event_fd_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  timer_fd_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  bool all = add_to_epoll(epoll_fd_, event_fd_) && add_to_epoll(epoll_fd_, timer_fd_);
  for (const int fd : device_->nic().tap().fds())
    all = all && add_to_epoll(epoll_fd_, fd);
  if (!all)
    close_wait();
  return epoll_fd_;
}

bool EthdevPort::arm() {
  if (epoll_fd_ < 0)
    return false;
  drain(event_fd_);
  drain(timer_fd_);
  if (device_->resolving())
    set_timer(timer_fd_, device_->next_tick());
  return device_->arm(*this) &&
         std::ranges::none_of(device_->nic().tap().fds(), [](int fd) { return readable(fd); });
}

void EthdevPort::disarm() { device_->disarm(*this); }

void EthdevPort::wake() { (void)!eventfd_write(event_fd_, 1); }

void EthdevPort::close_wait() {
  for (int *fd : {&epoll_fd_, &event_fd_, &timer_fd_}) {
    if (*fd >= 0)
      close(*fd);
    *fd = -1;
  }
}

} // namespace dpdkx::link
