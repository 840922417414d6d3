// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "mpi/examine.h"

#include "mpi/error.h"
#include "mpi/settings.h"

#include <cstddef>
#include <utility>

namespace coll {

namespace {

struct refusal {
  std::string why;
};

bool in_place(const side &s) { return s.buffer == MPI_IN_PLACE; }

bool rooted(kind k) { return k == kind::bcast || k == kind::gather || k == kind::scatter; }

// Bytes of one side, whose arguments are looked at.
std::uint64_t bytes_of(const side &s) {
  if (s.count < 0)
    throw mpi_error{MPI_ERR_COUNT};
  if (s.type == MPI_DATATYPE_NULL)
    throw mpi_error{MPI_ERR_TYPE};
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  check(PMPI_Type_get_envelope(s.type, &integers, &addresses, &types, &combiner));
  if (combiner != MPI_COMBINER_NAMED)
    throw refusal{"a type is derived"};
  MPI_Count size = 0, low = 0, extent = 0;
  check(PMPI_Type_size_x(s.type, &size));
  check(PMPI_Type_get_extent_x(s.type, &low, &extent));
  if (low != 0 || extent != size)
    throw refusal{"a type has gaps"};
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(s.count), static_cast<std::uint64_t>(size),
                             &bytes))
    throw mpi_error{MPI_ERR_COUNT};
  if (bytes != 0 && s.buffer == nullptr)
    throw mpi_error{MPI_ERR_BUFFER};
  return bytes;
}

std::uint64_t same(std::uint64_t one, std::uint64_t other) {
  if (one != other)
    throw refusal{"what is sent and what is received differ in size"};
  return one;
}

std::byte *block(const side &s, std::uint64_t bytes, int index) {
  return static_cast<std::byte *>(s.buffer) + bytes * static_cast<std::uint64_t>(index);
}

// The blocks of all ranks on one side of a call, where there are any here, and this rank's own on
// the other.
struct blocks {
  std::uint64_t bytes; // of one
  void *all, *own;
};

blocks all_and_own(const side &all, const side &own, place at) {
  const std::uint64_t bytes = bytes_of(all);
  if (in_place(own))
    return {bytes, all.buffer, block(all, bytes, at.rank)};
  return {same(bytes, bytes_of(own)), all.buffer, own.buffer};
}

blocks only_own(const side &own) {
  if (in_place(own))
    throw mpi_error{MPI_ERR_BUFFER};
  return {bytes_of(own), nullptr, own.buffer};
}

// Gather, or allgather, which has all everywhere.
void fill_gather(collc_rt_collective &c, const call &asked, place at, bool all_here) {
  const blocks b = all_here ? all_and_own(asked.receive, asked.send, at) : only_own(asked.send);
  c.bytes = b.bytes;
  c.in = b.own;
  c.out = b.all;
}

void fill_scatter(collc_rt_collective &c, const call &asked, place at) {
  const blocks b =
      at.rank == asked.root ? all_and_own(asked.send, asked.receive, at) : only_own(asked.receive);
  c.bytes = b.bytes;
  c.in = b.all;
  c.out = b.own;
}

void fill_alltoall(collc_rt_collective &c, const call &asked) {
  c.kind = COLLC_RT_ALLTOALL;
  c.bytes = bytes_of(asked.receive);
  c.out = asked.receive.buffer;
  if (!in_place(asked.send))
    same(c.bytes, bytes_of(asked.send));
  c.in = in_place(asked.send) ? asked.receive.buffer : asked.send.buffer;
}

void fill_allreduce(finding &f, const call &asked) {
  collc_rt_collective &c = f.collective;
  c.kind = COLLC_RT_ALLREDUCE;
  if (asked.op == MPI_OP_NULL)
    throw mpi_error{MPI_ERR_OP};
  c.bytes = bytes_of(asked.receive);
  c.out = asked.receive.buffer;
  c.in = in_place(asked.send) ? asked.receive.buffer : asked.send.buffer;
  if (c.in == nullptr && c.bytes != 0)
    throw mpi_error{MPI_ERR_BUFFER};
  f.operation = operation_of(asked.op);
  f.element = element_of(asked.receive.type);
  c.operation = f.operation.name;
  c.type = f.element.name;
  if (c.operation == nullptr)
    throw refusal{"the operation is not one of the runtime's"};
  if (c.type == nullptr)
    throw refusal{"the type is not one that the runtime reduces"};
}

void fill(finding &f, const call &asked, place at) {
  collc_rt_collective &c = f.collective;
  c.size = sizeof c;
  c.root = asked.root;
  // Who has nothing to do with progress finds data in the buffer before any call, however small.
  c.flags = automatic_progress() ? COLLC_RT_DIRECT : 0;
  if (rooted(asked.what) && (asked.root < 0 || asked.root >= at.ranks))
    throw mpi_error{MPI_ERR_ROOT};
  switch (asked.what) {
  case kind::barrier:
    c.kind = COLLC_RT_BARRIER;
    return;
  case kind::bcast:
    c.kind = COLLC_RT_BROADCAST;
    c.bytes = bytes_of(asked.receive);
    c.out = asked.receive.buffer;
    break;
  case kind::allgather:
    c.kind = COLLC_RT_ALLGATHER;
    fill_gather(c, asked, at, true);
    break;
  case kind::alltoall:
    fill_alltoall(c, asked);
    break;
  case kind::gather:
    c.kind = COLLC_RT_GATHER;
    fill_gather(c, asked, at, at.rank == asked.root);
    break;
  case kind::scatter:
    c.kind = COLLC_RT_SCATTER;
    fill_scatter(c, asked, at);
    break;
  case kind::allreduce:
    fill_allreduce(f, asked);
    break;
  }
  if (c.bytes == 0)
    throw refusal{"there is nothing to move"};
}

} // namespace

call significant(const call &asked, place at) {
  call c = asked;
  const side nothing{nullptr, 0, MPI_BYTE};
  const bool root = c.root == MPI_ROOT || c.root == at.rank;
  const bool apart = c.root == MPI_PROC_NULL; // of the root's group, on an intercommunicator
  if (c.what == kind::gather && (!root || apart))
    c.receive = nothing;
  if (c.what == kind::gather && (c.root == MPI_ROOT || apart))
    c.send = nothing;
  if (c.what == kind::scatter && (!root || apart))
    c.send = nothing;
  if (c.what == kind::scatter && (c.root == MPI_ROOT || apart))
    c.receive = nothing;
  if (in_place(c.send) && c.what != kind::allreduce)
    c.send = {MPI_IN_PLACE, 0, MPI_BYTE};
  if (in_place(c.receive))
    c.receive = {MPI_IN_PLACE, 0, MPI_BYTE};
  return c;
}

finding examine(const call &asked, place at) {
  finding f;
  try {
    fill(f, asked, at);
  } catch (const mpi_error &e) {
    f.error = e.code;
  } catch (const refusal &r) {
    f.why_not = r.why;
  }
  return f;
}

} // namespace coll
