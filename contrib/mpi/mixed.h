// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Requests of a call that waits for several, or tests them: those that this library knows, and
// the MPI's.
#pragma once

#include "mpi/abi.h"
#include "mpi/request.h"

#include <memory>
#include <span>
#include <vector>

namespace coll {

// The status of what has nothing to tell. MPI_ERROR stays, as MPI says, unless `code` is given.
void set_empty(MPI_Status *status);
void set_empty(MPI_Status *status, int code);

class mixed {
public:
  mixed(int count, MPI_Request handles[]);

  // None is known: the call is the MPI's alone. All else below is for others.
  [[nodiscard]] bool none_known() const { return known_.empty(); }

  // As MPI_Testall, MPI_Testany and MPI_Testsome, but for `raise`.
  int test_all(int *flag, MPI_Status statuses[]);
  int test_any(int *index, int *flag, MPI_Status *status);
  int test_some(int *count, int indices[], MPI_Status statuses[]);

  // Between tests that found nothing.
  void drive();

private:
  struct of_ours {
    int index;
    std::shared_ptr<request> what;
  };

  void put_back();
  int some_of_ours(int *count, int indices[], MPI_Status statuses[]);

  std::span<MPI_Request> handles_;
  std::vector<std::shared_ptr<request>> known_;
  std::vector<of_ours> ours_; // active ones
  std::vector<MPI_Request> theirs_;
  std::vector<int> their_indices_;
};

} // namespace coll
