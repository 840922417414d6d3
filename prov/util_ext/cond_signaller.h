// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// FI_WAIT_MUTEX_COND: applications block on a condition variable, but what there
// is to wait for is a descriptor. A thread stands between them: it sleeps on the
// descriptor, and broadcasts when that is readable. Nobody who adds something to
// a queue needs the application's mutex for it.
#pragma once

#include "util_ext/event.h"

#include <atomic>
#include <pthread.h>
#include <sys/types.h>
#include <thread>

namespace util_ext {

class CondSignaller {
public:
  CondSignaller() = default;
  ~CondSignaller(); // nobody may wait on the condition any more
  CondSignaller(const CondSignaller &) = delete;
  CondSignaller &operator=(const CondSignaller &) = delete;

  // The descriptor outlives this. 0 or a negative errno; nothing if it runs already.
  int start(int fd);
  // The next time that the descriptor is readable is to be told: any number of
  // calls, one broadcast.
  void watch() noexcept { control_.set(); }

  pthread_mutex_t *mutex() { return &mutex_; }
  pthread_cond_t *cond() { return &cond_; }

private:
  void run(int fd) noexcept;

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t cond_ = PTHREAD_COND_INITIALIZER;
  Event control_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
  pid_t owner_ = 0; // the process that has the thread
};

} // namespace util_ext
