// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/background.h"

#include "dpdkx/base/cpus.h"
#include "dpdkx/base/thread.h"

#include <pthread.h>
#include <unistd.h>

namespace dpdkx {

int Background::start(const char *name, int cpu, std::function<void()> run, std::string &error) {
  if (cpu >= 0 && !may_run_on(cpu)) {
    error = "FI_DPDKX_PROGRESS_CPU: '" + std::to_string(cpu) +
            "'; allowed: processors that this process may use (" + allowed_cpus() + ")";
    return -EINVAL;
  }
  // It answers others while the application computes.
  auto begin = [run = std::move(run)] {
    prefer_short_slices();
    run();
  };
  if (const int rc = start_thread(thread_, std::move(begin), error)) {
    error = std::string("no thread ") + name + ": " + error;
    return rc;
  }
  owner_ = getpid();
  pthread_setname_np(thread_.native_handle(), name);
  if (cpu >= 0)
    pin(thread_.native_handle(), cpu);
  return 0;
}

void Background::join() {
  if (!thread_.joinable())
    return;
  if (owner_ == getpid())
    thread_.join();
  else
    thread_.detach(); // it runs in the parent only
}

} // namespace dpdkx
