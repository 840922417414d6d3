// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Which requests of the program's this library knows, by their handles. Threads: any.
#pragma once

#include "mpi/request.h"

#include <memory>
#include <span>
#include <vector>

namespace coll {

void enter(MPI_Request handle, std::shared_ptr<request> r);
// Null if it isn't known. Costs next to nothing while none is, or the same as this thread's last is
// asked for. It lives until it is freed, which MPI allows no thread while another uses it.
request *known(MPI_Request handle);
// In the order of the handles, null for those that aren't known; empty if none of them is.
std::vector<std::shared_ptr<request>> known(std::span<const MPI_Request> handles);
// Forgets it.
std::shared_ptr<request> forget(MPI_Request handle);

struct entry {
  MPI_Request handle;
  std::shared_ptr<request> what;
};
// Forgets all.
std::vector<entry> forget_all();

} // namespace coll
