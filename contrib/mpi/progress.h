// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Who makes progress. The program's calls that wait or test drive the runtime and the MPI; while
// it makes none of them, being in a blocking call of the MPI say, a thread drives the runtime.
#pragma once

#include "mpi/abi.h"

namespace coll {

class communicator;

// The program has just called what drives the runtime: the thread need not.
void runtime_was_driven();
// Drives what the MPI has under way, of any request.
void drive_mpi(const communicator &by);

// The thread; begins with the first group, and ends with the last. Calls must be paired.
void begin_background();
void end_background();

// Idle turns of a loop: from the second on it yields the CPU, as those waited for may need it.
class idle_turns {
public:
  void pass();
  // Whether the MPI is to be driven in this turn: that costs as much as several looks at a request.
  [[nodiscard]] bool for_mpi() const;

private:
  unsigned turns_ = 0;
};

} // namespace coll
