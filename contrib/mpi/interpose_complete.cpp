// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What programs call to start requests, and to wait for them and test them.
#include "mpi/abi.h"
#include "mpi/communicator.h"
#include "mpi/error.h"
#include "mpi/mixed.h"
#include "mpi/progress.h"
#include "mpi/table.h"

#include <new>
#include <vector>

using namespace coll;

namespace {

// Of a request that is done.
int complete(request &r, MPI_Status *status) {
  set_empty(status);
  const int code = r.settle();
  return code == MPI_SUCCESS ? code : r.raise(code);
}

int start(request &r) {
  const int code = r.start();
  return code == MPI_SUCCESS ? code : r.raise(code);
}

// Repeats a test until it has found something; the MPI goes on as well.
template <class Test> int wait(mixed &requests, Test test) {
  idle_turns idle;
  for (;;) {
    int flag = 0;
    const int code = test(&flag);
    if (code != MPI_SUCCESS || flag != 0)
      return code;
    if (idle.for_mpi())
      requests.drive();
    idle.pass();
  }
}

// A null request is told from others by nothing but its handle.
request *known_at(const MPI_Request *handle) {
  return handle != nullptr ? known(*handle) : nullptr;
}

} // namespace

#pragma GCC visibility push(default)

extern "C" {

int MPI_Start(MPI_Request *handle) {
  request *const r = known_at(handle);
  if (r == nullptr)
    return PMPI_Start(handle);
  return guarded(MPI_COMM_WORLD, [&] { return start(*r); });
}

int MPI_Startall(int count, MPI_Request handles[]) {
  return guarded(MPI_COMM_WORLD, [&] {
    if (count < 0 || handles == nullptr)
      return PMPI_Startall(count, handles);
    const auto all = known({handles, static_cast<std::size_t>(count)});
    if (all.empty())
      return PMPI_Startall(count, handles);
    std::vector<MPI_Request> theirs;
    for (std::size_t i = 0; i < all.size(); i++)
      if (!all[i])
        theirs.push_back(handles[i]); // persistent ones keep their handles
    const int code = theirs.empty() ? MPI_SUCCESS
                                    : PMPI_Startall(static_cast<int>(theirs.size()), theirs.data());
    if (code != MPI_SUCCESS)
      return code;
    for (const auto &r : all)
      if (r)
        if (const int failed = start(*r); failed != MPI_SUCCESS)
          return failed;
    return MPI_SUCCESS;
  });
}

int MPI_Wait(MPI_Request *handle, MPI_Status *status) {
  request *const r = known_at(handle);
  if (r == nullptr)
    return PMPI_Wait(handle, status);
  return guarded(MPI_COMM_WORLD, [&] {
    idle_turns idle;
    while (!r->done()) {
      if (r->of() && idle.for_mpi())
        drive_mpi(*r->of());
      idle.pass();
    }
    return complete(*r, status);
  });
}

int MPI_Test(MPI_Request *handle, int *flag, MPI_Status *status) {
  request *const r = known_at(handle);
  if (r == nullptr)
    return PMPI_Test(handle, flag, status);
  return guarded(MPI_COMM_WORLD, [&] {
    *flag = r->done() ? 1 : 0;
    if (*flag != 0)
      return complete(*r, status);
    if (r->of())
      drive_mpi(*r->of());
    return MPI_SUCCESS;
  });
}

int MPI_Request_get_status(MPI_Request handle, int *flag, MPI_Status *status) {
  request *const r = known(handle);
  if (r == nullptr)
    return PMPI_Request_get_status(handle, flag, status);
  return guarded(MPI_COMM_WORLD, [&] {
    *flag = r->done() ? 1 : 0;
    if (*flag != 0)
      set_empty(status);
    else if (r->of())
      drive_mpi(*r->of());
    return MPI_SUCCESS;
  });
}

int MPI_Waitall(int count, MPI_Request handles[], MPI_Status statuses[]) {
  return guarded(MPI_COMM_WORLD, [&] {
    mixed requests(count, handles);
    if (requests.none_known())
      return PMPI_Waitall(count, handles, statuses);
    return wait(requests, [&](int *flag) { return requests.test_all(flag, statuses); });
  });
}

int MPI_Testall(int count, MPI_Request handles[], int *flag, MPI_Status statuses[]) {
  return guarded(MPI_COMM_WORLD, [&] {
    mixed requests(count, handles);
    if (requests.none_known())
      return PMPI_Testall(count, handles, flag, statuses);
    const int code = requests.test_all(flag, statuses);
    if (*flag == 0)
      requests.drive();
    return code;
  });
}

int MPI_Waitany(int count, MPI_Request handles[], int *index, MPI_Status *status) {
  return guarded(MPI_COMM_WORLD, [&] {
    mixed requests(count, handles);
    if (requests.none_known())
      return PMPI_Waitany(count, handles, index, status);
    return wait(requests, [&](int *flag) { return requests.test_any(index, flag, status); });
  });
}

int MPI_Testany(int count, MPI_Request handles[], int *index, int *flag, MPI_Status *status) {
  return guarded(MPI_COMM_WORLD, [&] {
    mixed requests(count, handles);
    if (requests.none_known())
      return PMPI_Testany(count, handles, index, flag, status);
    const int code = requests.test_any(index, flag, status);
    if (*flag == 0)
      requests.drive();
    return code;
  });
}

int MPI_Waitsome(int count, MPI_Request handles[], int *done, int indices[],
                 MPI_Status statuses[]) {
  return guarded(MPI_COMM_WORLD, [&] {
    mixed requests(count, handles);
    if (requests.none_known())
      return PMPI_Waitsome(count, handles, done, indices, statuses);
    return wait(requests, [&](int *flag) {
      const int code = requests.test_some(done, indices, statuses);
      *flag = *done != 0 ? 1 : 0;
      return code;
    });
  });
}

int MPI_Testsome(int count, MPI_Request handles[], int *done, int indices[],
                 MPI_Status statuses[]) {
  return guarded(MPI_COMM_WORLD, [&] {
    mixed requests(count, handles);
    if (requests.none_known())
      return PMPI_Testsome(count, handles, done, indices, statuses);
    const int code = requests.test_some(done, indices, statuses);
    if (*done == 0)
      requests.drive();
    return code;
  });
}

} // extern "C"

#pragma GCC visibility pop
