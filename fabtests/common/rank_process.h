// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// One rank as a child process: pinned and moved to its namespace as asked, then the case's body.
#pragma once

#include "launcher.h"

namespace fabtest {

// How the child gets its channel to the hub, once it runs.
using channel_source = std::function<channel()>;

pid_t start_rank(int rank, int ranks, const rank_body &body, const channel_source &to_hub);

// Empty where the process ended as it should.
std::string explain_exit(int rank, int status, bool may_die);

} // namespace fabtest
