// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A deferred work that calls something.
#pragma once

#include "util_ext/trigger.h"

#include <functional>
#include <utility>

namespace sim {

class Firing final : public util_ext::Work {
public:
  explicit Firing(std::function<int()> what) : what_(std::move(what)) {}

private:
  int fire() noexcept override { return what_(); }
  std::function<int()> what_;
};

} // namespace sim
