// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The three ways that a request can go.
#pragma once

#include "mpi/call.h"
#include "mpi/communicator.h"
#include "mpi/request.h"

#include <memory>

struct collc_rt_request;

namespace coll {

// By the runtime.
class runtime_request final : public request {
public:
  runtime_request(std::shared_ptr<communicator> of, collc_rt_request *made);
  ~runtime_request() override;
  void release(MPI_Request handle) override;

private:
  int begin() override;
  bool poll(int &code) override;

  collc_rt_request *made_;
};

// By the MPI's non-blocking collective, called anew at each start, on a lane of its own.
class repeated_request final : public request {
public:
  // Collective.
  repeated_request(std::shared_ptr<communicator> of, const call &asked);
  ~repeated_request() override;
  void release(MPI_Request handle) override;

private:
  int begin() override;
  bool poll(int &code) override;

  call asked_;
  int lane_;
  MPI_Request pending_ = MPI_REQUEST_NULL;
};

// The MPI's own persistent collective, whose handle the program has. Known here only where the MPI
// can't tell that it is inactive.
class own_request final : public request {
public:
  explicit own_request(MPI_Request handle) : request(nullptr), handle_(handle) {}
  void release(MPI_Request handle) override;

private:
  int begin() override;
  bool poll(int &code) override;

  MPI_Request handle_;
};

} // namespace coll
