// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "mpi/ways.h"

#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/ops.h"
#include "mpi/progress.h"

#include "collc/collc_runtime.h"

#include <utility>

namespace coll {

namespace {

bool is_predefined(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  check(PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
  return combiner == MPI_COMBINER_NAMED;
}

void keep_type(MPI_Datatype &type) {
  if (type != MPI_DATATYPE_NULL && !is_predefined(type))
    check(PMPI_Type_dup(type, &type));
}

} // namespace

runtime_request::runtime_request(std::shared_ptr<communicator> of, collc_rt_request *made)
    : request(std::move(of)), made_(made) {
  this->of()->count(1);
}

runtime_request::~runtime_request() {
  collc_rt_free(made_);
  of()->count(-1);
}

int runtime_request::begin() {
  runtime_was_driven();
  return collc_rt_start(made_) == 0 ? MPI_SUCCESS : error_code(collc_rt_error());
}

bool runtime_request::poll(int &code) {
  runtime_was_driven();
  int done = 0;
  if (collc_rt_test(made_, &done) != 0) {
    code = error_code(collc_rt_error());
    return true;
  }
  return done != 0;
}

void runtime_request::release(MPI_Request handle) { give_back_handle(handle); }

repeated_request::repeated_request(std::shared_ptr<communicator> of, const call &asked)
    : request(std::move(of)), asked_(asked), lane_(this->of()->lease()) {
  // The program may free its types and its operation while the request lives.
  keep_type(asked_.send.type);
  keep_type(asked_.receive.type);
  if (asked_.op != MPI_OP_NULL)
    keep(asked_.op);
  this->of()->count(1);
}

repeated_request::~repeated_request() {
  for (MPI_Datatype *type : {&asked_.send.type, &asked_.receive.type})
    if (*type != MPI_DATATYPE_NULL && !is_predefined(*type))
      PMPI_Type_free(type);
  if (asked_.op != MPI_OP_NULL)
    drop(asked_.op);
  of()->give_back(lane_);
  of()->count(-1);
}

int repeated_request::begin() {
  const MPI_Comm comm = of()->lane(lane_);
  const auto &[send, send_count, send_type] = asked_.send;
  const auto &[receive, receive_count, receive_type] = asked_.receive;
  switch (asked_.what) {
  case kind::barrier:
    return PMPI_Ibarrier(comm, &pending_);
  case kind::bcast:
    return COLL_LARGE(PMPI_Ibcast)(receive, receive_count, receive_type, asked_.root, comm,
                                   &pending_);
  case kind::alltoall:
    return COLL_LARGE(PMPI_Ialltoall)(send, send_count, send_type, receive, receive_count,
                                      receive_type, comm, &pending_);
  case kind::allgather:
    return COLL_LARGE(PMPI_Iallgather)(send, send_count, send_type, receive, receive_count,
                                       receive_type, comm, &pending_);
  case kind::gather:
    return COLL_LARGE(PMPI_Igather)(send, send_count, send_type, receive, receive_count,
                                    receive_type, asked_.root, comm, &pending_);
  case kind::scatter:
    return COLL_LARGE(PMPI_Iscatter)(send, send_count, send_type, receive, receive_count,
                                     receive_type, asked_.root, comm, &pending_);
  case kind::allreduce:
    return COLL_LARGE(PMPI_Iallreduce)(send, receive, receive_count, receive_type, asked_.op, comm,
                                       &pending_);
  }
  return MPI_ERR_INTERN;
}

bool repeated_request::poll(int &code) {
  int flag = 0;
  code = PMPI_Test(&pending_, &flag, MPI_STATUS_IGNORE);
  return code != MPI_SUCCESS || flag != 0;
}

void repeated_request::release(MPI_Request handle) { give_back_handle(handle); }

int own_request::begin() { return PMPI_Start(&handle_); }

bool own_request::poll(int &code) {
  int flag = 0;
  code = PMPI_Test(&handle_, &flag, MPI_STATUS_IGNORE);
  return code != MPI_SUCCESS || flag != 0;
}

void own_request::release(MPI_Request handle) { PMPI_Request_free(&handle); }

} // namespace coll
