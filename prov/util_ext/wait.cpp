// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/wait.h"

#include <cerrno>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace util_ext {

std::chrono::nanoseconds Deadline::left() const {
  const auto left = at_ - Clock::now();
  return left.count() > 0 ? left : std::chrono::nanoseconds(0);
}

Event::~Event() {
  if (fd_ >= 0)
    close(fd_);
}

int Event::open() {
  if (fd_ < 0)
    fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return fd_ < 0 ? -errno : 0;
}

// Neither can fail in a way that matters: a full counter is readable, an empty
// one is clear.
void Event::set() noexcept { (void)!eventfd_write(fd_, 1); }

void Event::clear() noexcept {
  eventfd_t count;
  (void)!eventfd_read(fd_, &count);
}

Wait::~Wait() {
  if (source_armed_.load())
    source_->disarm();
  if (epoll_fd_ >= 0)
    close(epoll_fd_);
}

int Wait::refuse(const fi_provider &prov, fi_log_subsys subsys, const char *owner,
                 unsigned object) {
  FI_WARN(&prov, subsys,
          "%s wait object %u: only FI_WAIT_NONE, UNSPEC, FD and YIELD are supported\n", owner,
          object);
  return -FI_ENOSYS;
}

int Wait::open(const fi_provider &prov, fi_log_subsys subsys, const char *owner) {
  const int rc = open();
  if (rc != 0)
    FI_WARN(&prov, subsys, "%s wait object FI_WAIT_FD: %s\n", owner, fi_strerror(-rc));
  return rc;
}

int Wait::open() {
  if (object_ != FI_WAIT_FD)
    return 0;
  return source_ && source_->fd() < 0 ? -FI_ENOSYS : open_fd();
}

int Wait::open_fd() {
  if (int rc = event_.open(); rc != 0)
    return rc;
  if (!source_ || epoll_fd_ >= 0)
    return 0;
  if (source_->fd() < 0)
    return -FI_ENOSYS;

  const int fd = epoll_create1(EPOLL_CLOEXEC);
  if (fd < 0)
    return -errno;
  epoll_event readable{};
  readable.events = EPOLLIN;
  if (epoll_ctl(fd, EPOLL_CTL_ADD, event_.fd(), &readable) != 0 ||
      epoll_ctl(fd, EPOLL_CTL_ADD, source_->fd(), &readable) != 0) {
    const int error = errno;
    close(fd);
    return -error;
  }
  epoll_fd_ = fd;
  return 0;
}

void Wait::wake() noexcept {
  std::lock_guard lock(mutex_);
  for (Sleeper *s = sleepers_; s; s = s->next_) {
    if (!s->woken_ && s->event_)
      s->event_->set();
    s->woken_ = true;
  }
  if (fd_watched_) {
    fd_watched_ = false;
    watchers_.fetch_sub(1);
    event_.set();
  }
}

void Wait::interrupt() noexcept {
  interrupts_.fetch_add(1);
  notify();
}

// Each thread that ever sleeps has one event of its own: what wakes one sleeper
// can't be consumed by another.
static Event *thread_event() {
  thread_local Event event;
  return event.open() == 0 ? &event : nullptr;
}

Wait::Sleeper::Sleeper(Wait &wait)
    : wait_(wait), event_(wait.object_ == FI_WAIT_YIELD ? nullptr : thread_event()) {
  if (event_)
    event_->clear();
  std::lock_guard lock(wait_.mutex_);
  next_ = wait_.sleepers_;
  if (next_)
    next_->prev_ = this;
  wait_.sleepers_ = this;
  wait_.watchers_.fetch_add(1);
}

Wait::Sleeper::~Sleeper() {
  std::lock_guard lock(wait_.mutex_);
  (prev_ ? prev_->next_ : wait_.sleepers_) = next_;
  if (next_)
    next_->prev_ = prev_;
  wait_.watchers_.fetch_sub(1);
}

int Wait::Sleeper::sleep(const Deadline &deadline) {
  WaitSource *const source = wait_.source_;
  if (!event_ || (source && source->fd() < 0)) {
    sched_yield();
    return 0;
  }

  int rc = 0;
  if (!source || source->arm()) {
    pollfd fds[2] = {{event_->fd(), POLLIN, 0}, {source ? source->fd() : -1, POLLIN, 0}};
    const auto left = deadline.forever() ? std::chrono::nanoseconds(0) : deadline.left();
    const timespec timeout{static_cast<time_t>(left.count() / 1'000'000'000),
                           static_cast<long>(left.count() % 1'000'000'000)};
    rc = ppoll(fds, 2, deadline.forever() ? nullptr : &timeout, nullptr) < 0 ? -errno : 0;
  }
  if (source)
    source->disarm();
  return rc;
}

// The event is cleared before the owner looks: what comes later sets it again.
void Wait::watch_fd() {
  std::lock_guard lock(mutex_);
  event_.clear();
  if (!fd_watched_) {
    fd_watched_ = true;
    watchers_.fetch_add(1);
  }
}

bool Wait::arm_source() {
  if (source_) {
    if (!source_->arm()) {
      source_->disarm();
      return false;
    }
    source_armed_.store(true);
    fd_armed_.store(true);
  }
  return true;
}

// Another thread may be in poll() on the descriptor, and would miss what the
// source no longer tells: it is woken.
void Wait::disarm_fd() noexcept {
  fd_armed_.store(false);
  if (source_armed_.exchange(false)) {
    source_->disarm();
    notify();
  }
}

int Wait::control(int command, void *arg) {
  if (!arg)
    return -FI_EINVAL;
  switch (command) {
  case FI_GETWAIT: {
    if (!has_fd())
      return -FI_ENODATA;
    std::lock_guard lock(try_mutex_);
    if (int rc = open_fd(); rc != 0)
      return rc;
    *static_cast<int *>(arg) = epoll_fd_ >= 0 ? epoll_fd_ : event_.fd();
    return 0;
  }
  case FI_GETWAITOBJ:
    *static_cast<fi_wait_obj *>(arg) = has_fd() ? FI_WAIT_FD : object_;
    return 0;
  default:
    return -FI_ENOSYS;
  }
}

} // namespace util_ext
