// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Wait objects: what lets a thread block on a queue or counter, inside a call
// (Sleeper) or by itself, in poll() or on a condition variable (try_wait,
// fi_trywait(3)). While nobody waits, notify() costs one load.
//
// No wake-up is lost: who wants to wait first becomes a watcher, then looks
// whether there is something already; who adds something first adds it, then
// looks for watchers. The owner orders the two: under its lock, or by
// sequentially consistent atomics.
#pragma once

#include "util_ext/cond_signaller.h"
#include "util_ext/domain.h"
#include "util_ext/event.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>

namespace util_ext {

// When a blocking call gives up. Negative: never. The time runs from when it is first asked for:
// who finds at once what it looks for reads no clock.
class Deadline {
public:
  using Clock = std::chrono::steady_clock;

  explicit Deadline(int timeout_ms) : timeout_(timeout_ms) {}
  bool forever() const { return timeout_.count() < 0; }
  bool at_once() const { return timeout_.count() == 0; }
  bool passed() const { return at_once() || (!forever() && at() <= Clock::now()); }
  std::chrono::nanoseconds left() const; // not negative; forever: the most there is

private:
  Clock::time_point at() const {
    if (at_ == Clock::time_point())
      at_ = Clock::now() + timeout_;
    return at_;
  }

  const std::chrono::milliseconds timeout_;
  mutable Clock::time_point at_{};
};

class Wait {
public:
  // `source`: what to wait for besides notify(), null: nothing.
  Wait(WaitSource *source, fi_wait_obj object) : source_(source), object_(object) {}
  // FI_WAIT_SET: of what is in a wait set, which has the source too. Whatever
  // happens here is told there, and nobody waits here.
  explicit Wait(Wait &set) : shared_(set), source_(nullptr), object_(FI_WAIT_SET), watchers_(1) {}
  Wait(const Wait &) = delete;
  Wait &operator=(const Wait &) = delete;
  ~Wait();

  static bool defined(unsigned object) { return object <= FI_WAIT_POLLFD; }
  // Makes what `object` needs now: -FI_EMFILE, ...; -FI_ENOSYS: a descriptor is
  // asked for, and the source has none. The other form logs it for an `owner` (a CQ, say).
  int open();
  int open(const fi_provider &, fi_log_subsys, const char *owner);
  // Calls may block on it.
  bool blocking() const { return object_ != FI_WAIT_NONE && object_ != FI_WAIT_SET; }
  // There is something that interrupt() could wake.
  bool can_interrupt() const { return object_ != FI_WAIT_NONE; }
  // Applications may block on it by themselves.
  bool native() const { return is_native(object_); }
  static bool is_native(fi_wait_obj object) {
    return object == FI_WAIT_FD || object == FI_WAIT_UNSPEC || object == FI_WAIT_POLLFD ||
           object == FI_WAIT_MUTEX_COND;
  }

  // Something has been added or has changed. Any thread.
  void notify() noexcept {
    if (watchers_.load() != 0) [[unlikely]]
      wake();
  }

  // Makes threads that sleep, or else the next that wants to, return
  // (fi_cq_signal). Who may sleep takes a mark first.
  void interrupt() noexcept;
  std::uint64_t mark() const noexcept { return acknowledged_.load(); }
  bool interrupted(std::uint64_t mark) const noexcept { return interrupts_.load() != mark; }
  void acknowledge() noexcept { acknowledged_.store(interrupts_.load()); }

  // A thread that is about to sleep: a watcher from its construction on. Then
  // look for something to do, and if there is nothing, sleep().
  class Sleeper {
  public:
    explicit Sleeper(Wait &);
    ~Sleeper();
    Sleeper(const Sleeper &) = delete;
    Sleeper &operator=(const Sleeper &) = delete;

    // 0: look again; -FI_EINTR: a signal handler ran. May return early.
    int sleep(const Deadline &);

  private:
    friend Wait;
    Wait &wait_;
    Event *event_;
    Sleeper *next_ = nullptr, *prev_ = nullptr;
    bool woken_ = false;
  };

  // What a caller does before it sleeps, and as long as sleeps have turned out to be short: polls.
  // To be woken takes tens of microseconds, an answer that is on its way a few.
  class Patience {
  public:
    Patience(const Wait &wait, const Deadline &deadline)
        : wait_(wait), deadline_(deadline), until_clock_(looks_per_clock(wait)),
          left_(!deadline.at_once()) {}
    bool left() { // the clock is read now and then
      if (left_ && --until_clock_ == 0)
        look_at_clock();
      return left_;
    }

  private:
    // Who drives looks some 1.5 us before the first; who doesn't hardly does so.
    static unsigned looks_per_clock(const Wait &wait) { return wait.source_ ? 64 : 16; }
    void look_at_clock() {
      until_clock_ = looks_per_clock(wait_);
      const auto now = Deadline::Clock::now();
      if (until_ == Deadline::Clock::time_point())
        until_ = now + std::min(wait_.patience(), deadline_.left());
      left_ = now < until_;
    }

    const Wait &wait_;
    const Deadline &deadline_;
    Deadline::Clock::time_point until_{};
    unsigned until_clock_; // looks
    bool left_;
  };

  // fi_trywait: 0: the descriptor will become readable, or the condition be
  // signalled, when there is something to do. -FI_EAGAIN: there is already, or
  // `idle()` answered false.
  template <class Idle> int try_wait(Idle &&idle) {
    if (!native())
      return -FI_EINVAL;
    std::lock_guard lock(try_mutex_);
    if (int rc = open_native(); rc != 0)
      return rc;
    disarm_fd();
    if (!idle())
      return -FI_EAGAIN;
    watch_fd();
    if (idle() && arm_source()) {
      if (signaller_)
        signaller_->watch();
      return 0;
    }
    notify(); // another thread may be in poll() already
    return -FI_EAGAIN;
  }
  // To be asked by reading calls, before they look for something: the caller is
  // back from poll(), or never went there; the source need not watch any more.
  bool fd_armed() const noexcept { return shared_.fd_armed_.load(std::memory_order_relaxed); }
  void disarm_fd() noexcept;

  // FI_GETWAIT, FI_GETWAITOBJ.
  int control(int command, void *arg);

private:
  int open_fd(); // idempotent, as the next
  int open_native();
  int native_fd() const { return epoll_fd_ >= 0 ? epoll_fd_ : event_.fd(); }
  int give_native(void *arg);
  void watch_fd();
  bool arm_source();
  void wake() noexcept;
  // Only a caller that drives what it waits for gains by polling.
  std::chrono::nanoseconds patience() const noexcept {
    return std::chrono::nanoseconds(source_ ? patience_.load(std::memory_order_relaxed) : 0);
  }
  void learn(std::chrono::nanoseconds slept) noexcept;

  Wait &shared_ = *this; // or that of the set
  WaitSource *const source_;
  const fi_wait_obj object_;
  std::atomic<std::uint32_t> watchers_{0}; // sleepers, and one for fd_watched_
  static constexpr std::uint32_t least_patience = 2'000, most_patience = 50'000;
  std::atomic<std::uint32_t> patience_{20'000}; // ns; threads that race for it lose a hint
  std::atomic<bool> fd_armed_{false};
  std::atomic<bool> source_armed_{false}; // by try_wait
  std::atomic<std::uint64_t> interrupts_{0}, acknowledged_{0};

  std::mutex mutex_; // of the two below
  Sleeper *sleepers_ = nullptr;
  bool fd_watched_ = false; // event_ is to be set at the next change

  std::mutex try_mutex_; // one try_wait at a time; before mutex_
  Event event_;
  int epoll_fd_ = -1; // event_ and the source's descriptor
  std::unique_ptr<CondSignaller> signaller_;
};

} // namespace util_ext
