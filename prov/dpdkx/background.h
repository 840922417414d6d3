// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A thread of the provider inside the application's process: it takes none of
// the application's signals, has a name, and is nobody's in a forked child.
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>
#include <thread>

namespace dpdkx {

class Background {
public:
  ~Background() { join(); }

  // `cpu` >= 0: where it runs. 0, or a negative errno and what is allowed (-EINVAL: no such
  // processor for this process). `run` must not throw.
  int start(const char *name, int cpu, std::function<void()> run, std::string &error);
  // The caller has told it to end.
  void join();
  bool running() const { return thread_.joinable(); }

private:
  std::thread thread_;
  pid_t owner_ = 0;
};

} // namespace dpdkx
