// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A measuring program as a child process: its output, its end, how long it took.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace fabtest {

struct command {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> env; // added; an empty value removes
};

struct child_result {
  int status = -1; // as of wait(2); -1: ended because time was up
  std::string out, err;
  std::chrono::duration<double> took{};
};

child_result run_child(const command &c, std::chrono::seconds limit);

} // namespace fabtest
