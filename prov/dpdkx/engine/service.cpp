// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Standing in for an application that computes: the device's packets are
// accepted and acknowledged, sessions kept alive and set up; what the packets
// say waits for the application's next call. Local peers need none of it.
#include "dpdkx/engine/impl.h"

namespace dpdkx::engine {

void Endpoint::Impl::service() {
  if (!device_.port || closed_)
    return;
  serving_ = true;
  read_clock();
  // What the link may have acknowledged is not dropped: it stays there until there is room. Then
  // nothing is timed either, for the acknowledgements of peers lie there, too.
  const bool keeps = device_.port->traits().acknowledges;
  constexpr unsigned bursts = 64; // a device's queue, and some
  for (unsigned i = 0; i < bursts && !(keeps && backlog_full()) && poll(device_) != 0; ++i) {
  }
  if (!(keeps && backlog_full()))
    run_timers();
  run_acks();
  finish();
  serving_ = false;
}

} // namespace dpdkx::engine
