// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A call of MPI_*_init: its arguments, whichever collective it is.
#pragma once

#include "mpi/abi.h"

#include <cstdint>

namespace coll {

enum class kind : std::uint8_t { barrier, bcast, allgather, alltoall, gather, scatter, allreduce };

constexpr const char *name_of(kind k) {
  switch (k) {
  case kind::barrier:
    return "Barrier_init";
  case kind::bcast:
    return "Bcast_init";
  case kind::allgather:
    return "Allgather_init";
  case kind::alltoall:
    return "Alltoall_init";
  case kind::gather:
    return "Gather_init";
  case kind::scatter:
    return "Scatter_init";
  case kind::allreduce:
    return "Allreduce_init";
  }
  return "";
}

// One side of a call, as MPI has it: of what is sent or received per peer.
struct side {
  void *buffer = nullptr; // of what is sent too: MPI_IN_PLACE turns one into the other
  count_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

// Collectives with one buffer (Bcast) have it in `receive`; Allreduce has its count and type in
// both.
struct call {
  kind what;
  MPI_Comm comm;
  MPI_Info info;
  side send, receive;
  int root = 0;
  MPI_Op op = MPI_OP_NULL;
};

inline side sent(const void *buffer, count_t count, MPI_Datatype type) {
  return {const_cast<void *>(buffer), count, type};
}

} // namespace coll
