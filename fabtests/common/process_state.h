// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What of the process a library may have changed: threads, descriptors, memory, output.
#pragma once

#include "common/channel.h"

#include <cstddef>
#include <string>

namespace fabtest {

std::size_t thread_count();
std::size_t open_descriptors();
std::size_t resident_bytes(); // 0 under a sanitizer, which keeps for a while what has been freed

// Collects what is written to standard output and standard error while it lives.
class captured_output {
public:
  captured_output();
  ~captured_output();
  captured_output(const captured_output &) = delete;
  captured_output &operator=(const captured_output &) = delete;

  std::string stop(); // what was written

private:
  unique_fd file_, saved_out_, saved_err_;
};

} // namespace fabtest
