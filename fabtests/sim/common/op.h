// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// One call of a simulated application, its memory, and what became of it.
#pragma once

#include "harness/calls.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace sim {

using harness::AtomicHow;
using harness::CounterHow;
using harness::Done;
using harness::ReceiveHow;
using harness::RemoteHow;
using harness::SendHow;

struct Op {
  std::uint32_t node = 0;
  bool is_send = false;
  bool many = false; // multi-receive: several completions, the last with FI_MULTI_RECV
  std::vector<std::byte> memory;
  std::vector<Done> done;
  std::function<void(Op &, const Done &)> on_done; // may post; must not run the world

  bool finished() const {
    return many ? !done.empty() && (done.back().flags & FI_MULTI_RECV || done.back().err != 0)
                : !done.empty();
  }
  bool ok() const { return finished() && done.back().err == 0; }
  int error() const { return finished() ? done.back().err : 0; }
};

} // namespace sim
