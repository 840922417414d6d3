// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What programs call at the beginning and the end: of MPI, of communicators, of requests.
#include "mpi/abi.h"
#include "mpi/communicator.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/ops.h"
#include "mpi/settings.h"
#include "mpi/table.h"

#include <new>

using namespace coll;

namespace {

// Frees a communicator of the program's, by `how`.
int free_communicator(MPI_Comm *comm, int (*how)(MPI_Comm *)) {
  if (comm == nullptr || *comm == MPI_COMM_NULL)
    return how(comm);
  const int code = guarded(*comm, [&] {
    if (const auto c = communicator::find(*comm))
      c->program_frees();
    return MPI_SUCCESS;
  });
  return code == MPI_SUCCESS ? how(comm) : code;
}

void end_all() {
  // Requests that the program has not freed: what is active stays, with its group.
  for (const entry &e : forget_all())
    if (e.what->inactive())
      e.what->release(e.handle);
  for (const auto &c : communicator::all())
    c->end();
  free_handles();
}

} // namespace

#pragma GCC visibility push(default)

extern "C" {

int MPI_Init(int *argc, char ***argv) {
  const int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS)
    agree_on_settings();
  return code;
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *granted) {
  const int code = PMPI_Init_thread(argc, argv, wanted, granted);
  if (code == MPI_SUCCESS)
    agree_on_settings();
  return code;
}

int MPI_Finalize() {
  guarded(MPI_COMM_WORLD, [] {
    end_all();
    return MPI_SUCCESS;
  });
  return PMPI_Finalize();
}

int MPI_Comm_free(MPI_Comm *comm) { return free_communicator(comm, PMPI_Comm_free); }

int MPI_Comm_disconnect(MPI_Comm *comm) { return free_communicator(comm, PMPI_Comm_disconnect); }

int MPI_Request_free(MPI_Request *handle) {
  request *const r = handle != nullptr ? known(*handle) : nullptr;
  if (r == nullptr)
    return PMPI_Request_free(handle);
  // MPI lets no program free a collective that is active.
  if (!r->done())
    return r->raise(MPI_ERR_REQUEST);
  return guarded(MPI_COMM_WORLD, [&] {
    const auto freed = forget(*handle);
    freed->release(*handle);
    *handle = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  });
}

int MPI_Op_free(MPI_Op *op) {
  if (op == nullptr || !frees_later(*op))
    return PMPI_Op_free(op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request *handle) {
  const request *const r = handle != nullptr ? known(*handle) : nullptr;
  return r != nullptr ? r->raise(MPI_ERR_REQUEST) : PMPI_Cancel(handle);
}

} // extern "C"

#pragma GCC visibility pop
