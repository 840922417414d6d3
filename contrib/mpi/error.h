// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Errors, as MPI has them: a code, whose text MPI_Error_string tells.
#pragma once

#include "mpi/abi.h"

#include <string>

namespace coll {

struct mpi_error {
  int code;
};

// Of calls that don't raise errors themselves, those on communicators of our own say.
inline void check(int code) {
  if (code != MPI_SUCCESS)
    throw mpi_error{code};
}

// A code of class MPI_ERR_OTHER with this text.
int error_code(const std::string &text);

// Calls the handler of the communicator; returns the code if that returns.
int raise(MPI_Comm comm, int code);

// Runs it; what it throws is raised on the communicator, and returned.
template <class Function> int guarded(MPI_Comm comm, Function function) noexcept {
  int code = MPI_ERR_INTERN;
  try {
    return function();
  } catch (const mpi_error &e) {
    code = e.code;
  } catch (const std::bad_alloc &) {
    code = MPI_ERR_NO_MEM;
  } catch (...) {
  }
  return raise(comm, code);
}

} // namespace coll
