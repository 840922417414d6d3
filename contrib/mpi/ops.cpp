// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "mpi/ops.h"

#include <map>
#include <mutex>

namespace coll {

namespace {

struct use {
  int requests = 0;
  bool freed = false;
};

std::mutex mutex;
std::map<MPI_Op, use> uses;

} // namespace

void keep(MPI_Op op) {
  const std::lock_guard lock(mutex);
  uses[op].requests++;
}

void drop(MPI_Op op) {
  bool frees = false;
  {
    const std::lock_guard lock(mutex);
    const auto found = uses.find(op);
    if (--found->second.requests > 0)
      return;
    frees = found->second.freed;
    uses.erase(found);
  }
  if (frees)
    PMPI_Op_free(&op);
}

bool frees_later(MPI_Op op) {
  const std::lock_guard lock(mutex);
  const auto found = uses.find(op);
  if (found == uses.end() || found->second.freed)
    return false;
  found->second.freed = true;
  return true;
}

} // namespace coll
