// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "mpi/error.h"

#include <map>
#include <mutex>

namespace coll {

int error_code(const std::string &text) {
  // MPI never forgets a code: the same text gets the same one.
  static std::mutex mutex;
  static std::map<std::string, int> codes;
  const std::lock_guard lock(mutex);
  const auto known = codes.find(text);
  if (known != codes.end())
    return known->second;
  int code = MPI_ERR_OTHER;
  if (PMPI_Add_error_code(MPI_ERR_OTHER, &code) != MPI_SUCCESS)
    return MPI_ERR_OTHER;
  const std::string fitting = text.substr(0, MPI_MAX_ERROR_STRING - 1);
  PMPI_Add_error_string(code, const_cast<char *>(fitting.c_str()));
  codes.emplace(text, code);
  return code;
}

int raise(MPI_Comm comm, int code) {
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

} // namespace coll
