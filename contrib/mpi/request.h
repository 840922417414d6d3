// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A persistent request that this library knows, in one of the three ways that there are: by the
// runtime, by a non-blocking collective of the MPI's at each start, or the MPI's own.
//
// Used by one thread at a time, as MPI asks of programs.
#pragma once

#include "mpi/abi.h"

#include <cstdint>
#include <memory>

namespace coll {

class communicator;

class request {
public:
  // The communicator, unless it is the MPI's own.
  explicit request(std::shared_ptr<communicator> of) : of_(std::move(of)) {}
  request(const request &) = delete;
  request &operator=(const request &) = delete;
  virtual ~request() = default;

  // MPI's code; MPI_ERR_REQUEST if it is active.
  int start();
  [[nodiscard]] bool inactive() const { return state_ == state::inactive; }
  // Whether its epoch is over, or it is inactive. Makes progress.
  bool done();
  // After done(): it is inactive. The epoch's code.
  int settle();

  // Frees what the program has of the MPI, whose handle it is.
  virtual void release(MPI_Request handle) = 0;

  // Raises the code where errors of this request go, and returns it.
  int raise(int code) const;
  [[nodiscard]] const std::shared_ptr<communicator> &of() const { return of_; }

protected:
  virtual int begin() = 0;
  // An epoch that fails is over.
  virtual bool poll(int &code) = 0;

private:
  enum class state : std::uint8_t { inactive, active, complete };
  std::shared_ptr<communicator> of_;
  state state_ = state::inactive;
  int code_ = MPI_SUCCESS;
};

} // namespace coll
