// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// An operation that is the work of a trigger: its end is the work's.
#pragma once

#include "util_ext/trigger.h"

#include <rdma/fabric.h>

#include <cstdint>

namespace dpdkx::op {

// In the flags of a request, where no application can put it: `context` is a Deferred, as a void *.
inline constexpr std::uint64_t deferred_work = std::uint64_t{1} << 63;

class Deferred : public util_ext::Work {
public:
  // What the context of an operation is to the application.
  static void *named(std::uint64_t flags, void *context) {
    return flags & deferred_work ? static_cast<Deferred *>(context)->context_ : context;
  }

  // The operation of those flags and that context is over, `error` as in an error entry: so is the
  // work. `context` becomes the application's. True: it wants to be told as of any operation.
  static bool end(std::uint64_t flags, void *&context, int error) noexcept {
    Deferred &self = *static_cast<Deferred *>(context);
    const bool tell = (flags & FI_COMPLETION) || (error != 0 && !self.counted_);
    context = self.context_;
    self.triggers_.ended(self, error);
    return tell;
  }

protected:
  // `counted`: the work has a completion counter. An error that nothing counts is told.
  Deferred(util_ext::Triggers &triggers, void *context, bool counted)
      : Work(true), triggers_(triggers), context_(context), counted_(counted) {}

  void *context() const { return context_; }
  bool counted() const { return counted_; }

private:
  util_ext::Triggers &triggers_;
  void *const context_;
  const bool counted_;
};

} // namespace dpdkx::op
