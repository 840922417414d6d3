// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/wait.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace util_ext {

std::chrono::nanoseconds Deadline::left() const {
  if (forever())
    return std::chrono::nanoseconds::max();
  const auto until = at(); // first: it may read the clock
  const auto left = until - Clock::now();
  return left.count() > 0 ? left : std::chrono::nanoseconds(0);
}

Wait::~Wait() {
  signaller_.reset(); // it sleeps on what follows
  if (source_armed_.load())
    source_->disarm();
  if (epoll_fd_ >= 0)
    close(epoll_fd_);
}

int Wait::open(const fi_provider &prov, fi_log_subsys subsys, const char *owner) {
  const int rc = open();
  if (rc != 0)
    FI_WARN(&prov, subsys, "%s wait object %u: %s\n", owner, unsigned{object_}, fi_strerror(-rc));
  return rc;
}

int Wait::open() {
  if (!native() || object_ == FI_WAIT_UNSPEC) // which takes one when it needs it
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

// Its thread comes when somebody may block there.
int Wait::open_native() {
  if (const int rc = open_fd(); rc != 0 || object_ != FI_WAIT_MUTEX_COND)
    return rc;
  if (!signaller_)
    signaller_ = std::make_unique<CondSignaller>();
  return signaller_->start(native_fd());
}

void Wait::wake() noexcept {
  if (&shared_ != this)
    return shared_.notify();
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
  if (&shared_ != this)
    return shared_.interrupt();
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
    const auto left = deadline.left();
    const timespec timeout{static_cast<time_t>(left.count() / 1'000'000'000),
                           static_cast<long>(left.count() % 1'000'000'000)};
    const auto before = Deadline::Clock::now();
    rc = ppoll(fds, 2, deadline.forever() ? nullptr : &timeout, nullptr) < 0 ? -errno : 0;
    wait_.learn(Deadline::Clock::now() - before);
  }
  if (source)
    source->disarm();
  return rc;
}

void Wait::learn(std::chrono::nanoseconds slept) noexcept {
  constexpr std::chrono::nanoseconds little = std::chrono::microseconds(100);
  const std::uint32_t p = patience_.load(std::memory_order_relaxed);
  patience_.store(slept < little ? std::min(p * 2, most_patience) : std::max(p / 2, least_patience),
                  std::memory_order_relaxed);
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
  if (&shared_ != this)
    return shared_.disarm_fd();
  fd_armed_.store(false);
  if (source_armed_.exchange(false)) {
    source_->disarm();
    notify();
  }
}

int Wait::control(int command, void *arg) {
  if (command != FI_GETWAIT && command != FI_GETWAITOBJ)
    return -FI_ENOSYS;
  if (!arg)
    return -FI_EINVAL;
  if (command == FI_GETWAIT)
    return give_native(arg);
  *static_cast<fi_wait_obj *>(arg) = object_ == FI_WAIT_UNSPEC ? FI_WAIT_FD : object_;
  return 0;
}

int Wait::give_native(void *arg) {
  if (!native())
    return -FI_ENODATA;
  std::lock_guard lock(try_mutex_);
  if (const int rc = open_native(); rc != 0)
    return rc;
  switch (object_) {
  case FI_WAIT_MUTEX_COND:
    *static_cast<fi_mutex_cond *>(arg) = {signaller_->mutex(), signaller_->cond()};
    return 0;
  case FI_WAIT_POLLFD: { // one, and always the same
    auto &out = *static_cast<fi_wait_pollfd *>(arg);
    const std::size_t room = out.nfds;
    if (room && !out.fd)
      return -FI_EINVAL;
    out.change_index = 1;
    out.nfds = 1;
    if (room == 0)
      return -FI_ETOOSMALL;
    out.fd[0] = {native_fd(), POLLIN, 0};
    return 0;
  }
  default:
    *static_cast<int *>(arg) = native_fd();
    return 0;
  }
}

} // namespace util_ext
