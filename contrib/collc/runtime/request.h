// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A request: what the group's mutex guards of it, and what it does.
#pragma once

#include "collc/runtime/group.h"

namespace collc::rt {

class request {
public:
  // Collective.
  request(group &, const collc_rt_collective *asked);
  ~request();
  request(const request &) = delete;

  [[nodiscard]] group &owner() const { return group_; }
  [[nodiscard]] bool active() const { return active_; }

  // Under the group's mutex. Throw failure.
  void start();
  bool test(); // whether it is inactive now
  void advance() { runner_->advance(); }
  void query(collc_rt_request_info &) const;

private:
  struct introduction;

  void introduce(outcome own);
  void connect();
  [[nodiscard]] unsigned turn() const { return plan_->turn(starts_); }

  group &group_;
  std::unique_ptr<plan> plan_;
  std::unique_ptr<runner> runner_;
  bool active_ = false;
  std::uint64_t starts_ = 0;
  std::uint64_t most_tanks_ = 0, most_buffers_ = 0;
};

} // namespace collc::rt
