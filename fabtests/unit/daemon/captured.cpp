// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/daemon/captured.h"

#include <sys/mman.h>
#include <unistd.h>

#include "unit/unit.h"

Captured::Captured(int fd)
    : fd_(fd), file_(memfd_create("captured", MFD_CLOEXEC)), before_(dup(fd)) {
  assert_true(file_ >= 0 && before_ >= 0);
  dup2(file_, fd_);
}

Captured::~Captured() {
  dup2(before_, fd_);
  close(before_);
  close(file_);
}

std::string Captured::text() const {
  std::string out;
  char block[512];
  for (ssize_t n; (n = pread(file_, block, sizeof(block), static_cast<off_t>(out.size()))) > 0;)
    out.append(block, static_cast<std::size_t>(n));
  return out;
}
