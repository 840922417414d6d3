// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/domain_wait.h"

#include "dpdkx/provider.h"

#include <algorithm>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace dpdkx {

namespace {

// How often a device is looked at that can't tell when something arrives.
constexpr Duration blind_poll = std::chrono::microseconds(100);

constexpr Time::rep count(Time time) { return time.time_since_epoch().count(); }

int add(int epoll, int fd) {
  epoll_event readable{};
  readable.events = EPOLLIN;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &readable);
}

} // namespace

DomainWait::~DomainWait() {
  for (const int fd : {epoll_, timer_})
    if (fd >= 0)
      close(fd);
}

int DomainWait::fd() {
  const std::lock_guard lock(mutex_);
  if (epoll_ < 0)
    if (const int rc = open())
      FI_WARN(&provider, FI_LOG_DOMAIN, "no descriptor to wait on: %s\n", fi_strerror(-rc));
  return epoll_;
}

int DomainWait::open() {
  if (const int rc = kick_.open())
    return rc;
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (epoll < 0 || timer < 0 || add(epoll, timer) != 0 || add(epoll, kick_.fd()) != 0) {
    const int error = errno;
    for (const int fd : {epoll, timer})
      if (fd >= 0)
        close(fd);
    return -error;
  }
  epoll_ = epoll;
  timer_ = timer;
  endpoints_.for_each(true, [this](engine::Endpoint &e) { watch(e, EPOLL_CTL_ADD); });
  return 0;
}

void DomainWait::watch(engine::Endpoint &endpoint, int operation) {
  const std::lock_guard lock(endpoint.mutex());
  for (const int fd : {endpoint.host_wait_fd(), endpoint.device_wait_fd()}) {
    epoll_event readable{};
    readable.events = EPOLLIN;
    // Failing costs promptness, not correctness: the timer remains.
    if (fd >= 0 && epoll_ctl(epoll_, operation, fd, &readable) != 0 && errno != EEXIST &&
        errno != ENOENT)
      FI_WARN(&provider, FI_LOG_DOMAIN, "epoll_ctl: %s\n", fi_strerror(errno));
  }
}

void DomainWait::attach(engine::Endpoint &endpoint) {
  const std::lock_guard lock(mutex_);
  if (epoll_ < 0)
    return;
  watch(endpoint, EPOLL_CTL_ADD);
  if (sleepers_.load() != 0)
    kick_.set(); // who sleeps arms anew, this one too
}

void DomainWait::detach(engine::Endpoint &endpoint) {
  const std::lock_guard lock(mutex_);
  if (epoll_ < 0)
    return;
  watch(endpoint, EPOLL_CTL_DEL);
  const std::lock_guard engine_lock(endpoint.mutex());
  if (sleepers_.load() != 0)
    endpoint.disarm();
}

bool DomainWait::arm() {
  const std::lock_guard lock(mutex_);
  // First, so that whoever posts after an endpoint was looked at sees it.
  sleepers_.fetch_add(1);
  if (epoll_ < 0)
    return false;
  kick_.clear();
  bool quiet = true;
  Time deadline = never;
  endpoints_.for_each(true, [&](engine::Endpoint &e) { quiet &= arm_endpoint(e, deadline); });
  if (!quiet || deadline <= SystemClock::instance().now())
    return false;
  set_timer(deadline);
  return true;
}

bool DomainWait::arm_endpoint(engine::Endpoint &endpoint, Time &deadline) {
  const std::lock_guard lock(endpoint.mutex());
  const bool quiet = endpoint.arm();
  deadline = std::min(deadline, endpoint.deadline());
  if (endpoint.has_device() && endpoint.device_wait_fd() < 0)
    deadline = std::min(deadline, SystemClock::instance().now() + blind_poll);
  return quiet;
}

void DomainWait::disarm() {
  const std::lock_guard lock(mutex_);
  if (sleepers_.fetch_sub(1) == 1)
    disarm_all();
}

void DomainWait::disarm_all() {
  endpoints_.for_each(true, [](engine::Endpoint &endpoint) {
    const std::lock_guard lock(endpoint.mutex());
    endpoint.disarm();
  });
  if (timer_ >= 0)
    set_timer(never);
}

void DomainWait::set_timer(Time deadline) {
  deadline_.store(count(deadline));
  itimerspec spec{}; // zeros: off
  if (deadline != never) {
    const auto ns = std::max<Time::rep>(count(deadline), 1);
    spec.it_value.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
    spec.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  }
  timerfd_settime(timer_, TFD_TIMER_ABSTIME, &spec, nullptr);
}

void DomainWait::posted_while_asleep(engine::Endpoint &endpoint) {
  bool quiet;
  Time due;
  {
    const std::lock_guard lock(endpoint.mutex());
    quiet = endpoint.arm();
    due = endpoint.deadline();
    if (sleepers_.load() == 0)
      endpoint.disarm(); // the last one has just left
  }
  if (!quiet || count(due) < deadline_.load())
    kick();
}

void DomainWait::kick() noexcept {
  if (kick_.fd() >= 0)
    kick_.set();
}

} // namespace dpdkx
