// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a check does between two turns: polls while an answer may come at any
// moment, so that round trips are right, and else sleeps.
#pragma once

#include "dpdkx/check/run.h"

namespace dpdkx::check {

class Wait {
public:
  explicit Wait(Run &run) : run_(run), fds_(run.fds()) {}
  void after_turn(bool did, Time now);

private:
  void sleep(Duration);

  Run &run_;
  const std::vector<int> fds_;
  Time busy_at_ = Time::min();
};

} // namespace dpdkx::check
