// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Who may listen at a path: one process, which holds the lock of a file beside
// it, PATH.lock. The socket itself can't say so: a daemon that was killed leaves
// it, and of two that find it so, the later would remove what the first has made
// of it. The file goes with its holder; one that was killed leaves it, unlocked.
#pragma once

#include "dpdkx/link/host/fork_guard.h"

#include <string>

namespace dpdkx::daemon {

class PathLock {
public:
  PathLock() = default;
  ~PathLock();
  PathLock(const PathLock &) = delete;

  // 0; -EADDRINUSE: another has it; another negative errno: the file can't be had.
  int take(const std::string &path);
  const std::string &file() const { return file_; }

private:
  std::string file_;
  link::host::Fd fd_;
};

} // namespace dpdkx::daemon
