// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "mpi/progress.h"

#include "mpi/communicator.h"

#include "collc/collc_runtime.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <thread>

#include <sched.h>
#include <unistd.h>

namespace coll {

namespace {

using namespace std::chrono_literals;

// How long the program may leave the runtime alone.
constexpr auto period = 1ms;
// Turns of waiting loops without a system call: a peer on another core answers within them.
constexpr unsigned busy_turns = 100;

std::atomic<bool> driven{false};

class background {
public:
  background() {
    // Signals are the program's threads' to handle.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  background(const background &) = delete;
  background &operator=(const background &) = delete;
  ~background() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, period, [this] { return over_; }))
      if (!driven.exchange(false, std::memory_order_relaxed))
        collc_rt_progress(nullptr); // a group that fails says so to its requests
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

std::mutex mutex;
int users = 0;

// A child of fork() has no such thread, which could not be waited for there.
struct background_of_process {
  std::unique_ptr<background> thread;
  pid_t process = 0;

  void begin() {
    process = getpid();
    thread = std::make_unique<background>();
  }
  void end() {
    if (process == getpid())
      thread.reset();
    else
      (void)thread.release();
  }
  ~background_of_process() { end(); }
} only;

} // namespace

void runtime_was_driven() { driven.store(true, std::memory_order_relaxed); }

void drive_mpi(const communicator &by) {
  // Nobody ever sends there; to look makes progress.
  int flag = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, 0, by.own(), &flag, MPI_STATUS_IGNORE);
}

void begin_background() {
  const std::lock_guard lock(mutex);
  if (users++ == 0)
    only.begin();
}

void end_background() {
  const std::lock_guard lock(mutex);
  if (--users == 0)
    only.end();
}

bool idle_turns::for_mpi() const {
  // A small collective's time is a dozen looks.
  constexpr unsigned looks = 32;
  return turns_ >= busy_turns || turns_ % looks == looks - 1;
}

void idle_turns::pass() {
  if (++turns_ > busy_turns)
    sched_yield();
}

} // namespace coll
