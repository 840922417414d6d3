// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/event.h"

#include <cerrno>
#include <sys/eventfd.h>
#include <unistd.h>

namespace util_ext {

Event::~Event() {
  if (fd_ >= 0)
    close(fd_);
}

int Event::open() {
  if (fd_ < 0)
    fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return fd_ < 0 ? -errno : 0;
}

// Neither can fail in a way that matters: a full counter is readable, an empty
// one is clear.
void Event::set() noexcept { (void)!eventfd_write(fd_, 1); }

void Event::clear() noexcept {
  eventfd_t count;
  (void)!eventfd_read(fd_, &count);
}

} // namespace util_ext
