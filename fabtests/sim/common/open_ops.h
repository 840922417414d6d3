// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Operations that nobody waits for, none of which may fail: how many are still
// to end, and what is to be looked at when one does.
#pragma once

#include "sim/common/check.h"
#include "sim/common/world.h"

#include <functional>

namespace sim {

class OpenOps {
public:
  explicit OpenOps(World &world) : world_(world) {}

  unsigned open() const { return open_; }
  void when_done(Op &op, std::function<void(const Op &)> then = {}) {
    ++open_;
    op.on_done = [this, then = std::move(then)](Op &o, const Done &d) {
      if (d.err != 0)
        FAIL("an operation fails: err {}\n{}", d.err, world_.dump());
      --open_;
      if (then)
        then(o);
    };
  }

private:
  World &world_;
  unsigned open_ = 0;
};

} // namespace sim
