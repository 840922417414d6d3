// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The environment variables DPDKX_COLL, DPDKX_COLL_PROGRESS and DPDKX_COLL_VERBOSE.
#pragma once

namespace coll {

enum class mode : int { off, automatic, offload, function };

// What all ranks do. Once agree_on_settings has been called it doesn't change; until then it is
// what this process' environment says.
mode settled_mode();
// Whether the provider's own threads carry requests on (FI_PROGRESS_AUTO). Settled likewise.
bool automatic_progress();
bool verbose();

// Collective over MPI_COMM_WORLD, when MPI has been initialised: where the environments of ranks
// differ, or a value is wrong, one of them says so, and all are off, or without automatic progress.
void agree_on_settings();

} // namespace coll
