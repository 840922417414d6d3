// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Starts the ranks of a case as processes of their own, brings their messages together, and ends
// them: at the first failure, or when time is up.
#pragma once

#include "team.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace fabtest {

using rank_body = std::function<void(team &)>;

struct run_limits {
  std::chrono::milliseconds time{30'000};
  std::uint32_t may_die = 0; // bit r: rank r may end by SIGKILL
};

struct outcome {
  enum class verdict { passed, skipped, failed } result = verdict::passed;
  std::string text;
};

// Processes are forked before any of them has called libfabric; the caller must not have either.
outcome run_ranks(int ranks, const rank_body &body, const run_limits &limits);

// With several launchers (--oob), the first runs the cases and the others serve it.
using body_lookup = std::function<rank_body(const std::string &name)>;
class launcher_group {
public:
  launcher_group();
  [[nodiscard]] bool coordinates() const;
  void serve(const body_lookup &lookup); // until the coordinator ends
  outcome run(const std::string &name, int ranks, const rank_body &body, const run_limits &limits);

private:
  unique_fd listener_;
  std::vector<channel> launchers_; // by index; [0] stays empty
};

} // namespace fabtest
