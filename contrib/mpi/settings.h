// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The environment variables DPDKX_COLL and DPDKX_COLL_VERBOSE.
#pragma once

namespace coll {

enum class mode : int { off, automatic, offload, function };

// What all ranks do. Once agree_on_settings has been called it doesn't change; until then it is
// what this process' environment says.
mode settled_mode();
bool verbose();

// Collective over MPI_COMM_WORLD, when MPI has been initialised: where the environments of ranks
// differ, or a value is wrong, one of them says so, and all are off.
void agree_on_settings();

} // namespace coll
