// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "mpi/request.h"

#include "mpi/communicator.h"
#include "mpi/error.h"

namespace coll {

int request::start() {
  if (state_ != state::inactive)
    return MPI_ERR_REQUEST;
  code_ = MPI_SUCCESS;
  const int code = begin();
  if (code == MPI_SUCCESS)
    state_ = state::active;
  return code;
}

bool request::done() {
  if (state_ == state::active && poll(code_))
    state_ = state::complete;
  return state_ != state::active;
}

int request::settle() {
  const int code = state_ == state::complete ? code_ : MPI_SUCCESS;
  state_ = state::inactive;
  return code;
}

int request::raise(int code) const {
  return coll::raise(of_ ? of_->for_errors() : MPI_COMM_WORLD, code);
}

} // namespace coll
