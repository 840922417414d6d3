// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "mpi/handle.h"

#include "mpi/error.h"

#include <mutex>
#include <vector>

namespace coll {

namespace {

std::mutex mutex;
std::vector<MPI_Request> unused;

} // namespace

MPI_Request take_handle(MPI_Comm without_world) {
  {
    const std::lock_guard lock(mutex);
    if (!unused.empty()) {
      const MPI_Request handle = unused.back();
      unused.pop_back();
      return handle;
    }
  }
  // It keeps its communicator from being freed: the own one only where there is no other.
  int initialized = 0;
  PMPI_Initialized(&initialized);
  MPI_Request handle = MPI_REQUEST_NULL;
  check(PMPI_Send_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0,
                       initialized != 0 ? MPI_COMM_SELF : without_world, &handle));
  return handle;
}

void give_back_handle(MPI_Request handle) {
  const std::lock_guard lock(mutex);
  unused.push_back(handle);
}

void free_handles() {
  const std::lock_guard lock(mutex);
  for (MPI_Request &handle : unused)
    PMPI_Request_free(&handle);
  unused.clear();
}

} // namespace coll
