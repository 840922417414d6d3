// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The processors that the calling thread, and what it starts, may run on, and
// where a thread is to stay.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <string>

namespace dpdkx {

bool may_run_on(int cpu);
std::string allowed_cpus(); // "0-3,8"
bool pin(pthread_t thread, int cpu);

// Keeps a thread where it is wanted, and lets it go again.
class Pinning {
public:
  explicit Pinning(pthread_t thread);
  // -1: wherever it could run before. False, with errno: it can't.
  bool to(int cpu) const;

private:
  const pthread_t thread_;
  cpu_set_t before_;
  bool known_;
};

} // namespace dpdkx
