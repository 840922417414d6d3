// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/thread.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

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

// struct sched_attr of Linux, in its first form; C libraries have it as of late, and no call for it
// before.
struct SchedulingAttributes {
  std::uint32_t size, policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
};
constexpr std::uint64_t shortest_slice_ns = 100'000; // that Linux takes

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

void prefer_short_slices() noexcept {
  SchedulingAttributes a{};
  if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) != 0 || a.policy != SCHED_OTHER)
    return;
  a.size = sizeof a;
  a.runtime = shortest_slice_ns;
  syscall(SYS_sched_setattr, 0, &a, 0); // refused: as before
}

} // namespace dpdkx
