// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/path_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dpdkx::daemon {

namespace {

link::host::Fd open_file(const std::string &file) {
  constexpr mode_t own = 0600; // nobody else keeps us out
  const link::host::ForkHold hold;
  return {open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, own), hold};
}

bool is_at(const link::host::Fd &fd, const std::string &file) {
  struct stat ours, there;
  return fstat(fd.get(), &ours) == 0 && lstat(file.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

} // namespace

PathLock::~PathLock() {
  if (fd_)
    unlink(file_.c_str());
}

int PathLock::take(const std::string &path) {
  file_ = path + ".lock";
  for (;;) {
    link::host::Fd fd = open_file(file_);
    if (!fd)
      return fd.error();
    if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
      return errno == EWOULDBLOCK ? -EADDRINUSE : -errno;
    if (is_at(fd, file_)) { // else its last holder has just removed it
      fd_ = std::move(fd);
      return 0;
    }
  }
}

} // namespace dpdkx::daemon
