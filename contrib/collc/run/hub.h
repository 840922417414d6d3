// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The processes of a run, and what they exchange by way of the one that started them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace collc::run {

// One process's connection to the hub.
class line {
public:
  line(int fd, int ranks) : fd_(fd), ranks_(ranks) {}
  // Of all ranks, in their order; false: some process has gone.
  bool allgather(const void *mine, std::size_t bytes, void *all) const;
  // The last word.
  bool report(const std::string &text) const;

private:
  int fd_, ranks_;
};

struct ending {
  bool reported = false;
  std::string report;
  int status = 0; // as waitpid() has it
};

// Runs `body(rank, line)` in so many processes, which end with it; what becomes of each. Throws
// std::system_error if they can't be made.
std::vector<ending> run_ranks(int ranks, const std::function<void(int, const line &)> &body);

} // namespace collc::run
