// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "mpi/init.h"

#include "mpi/communicator.h"
#include "mpi/error.h"
#include "mpi/examine.h"
#include "mpi/handle.h"
#include "mpi/settings.h"
#include "mpi/table.h"
#include "mpi/ways.h"

#include <array>
#include <atomic>
#include <new>
#include <string>

#include <fmt/format.h>

namespace coll {

namespace {

// The MPI's own, for a call as the program made it.
int own_init(const call &asked, MPI_Request *handle) {
  const auto &[send, send_count, send_type] = asked.send;
  const auto &[receive, receive_count, receive_type] = asked.receive;
  const auto &[what, comm, info, s, r, root, op] = asked;
  switch (what) {
  case kind::barrier:
    return COLL_OWN(Barrier_init)(comm, info, handle);
  case kind::bcast:
    return COLL_OWN_LARGE(Bcast_init)(receive, receive_count, receive_type, root, comm, info,
                                      handle);
  case kind::allgather:
    return COLL_OWN_LARGE(Allgather_init)(send, send_count, send_type, receive, receive_count,
                                          receive_type, comm, info, handle);
  case kind::alltoall:
    return COLL_OWN_LARGE(Alltoall_init)(send, send_count, send_type, receive, receive_count,
                                         receive_type, comm, info, handle);
  case kind::gather:
    return COLL_OWN_LARGE(Gather_init)(send, send_count, send_type, receive, receive_count,
                                       receive_type, root, comm, info, handle);
  case kind::scatter:
    return COLL_OWN_LARGE(Scatter_init)(send, send_count, send_type, receive, receive_count,
                                        receive_type, root, comm, info, handle);
  case kind::allreduce:
    return COLL_OWN_LARGE(Allreduce_init)(send, receive, receive_count, receive_type, op, comm,
                                          info, handle);
  }
  return MPI_ERR_INTERN;
}

// The verdict of all ranks.
enum class vote : std::uint8_t { error, no, yes };

vote all_vote(communicator &c, const finding &f, const call &asked) {
  const auto yes = [](bool b) { return static_cast<std::int64_t>(b ? 1 : 0); };
  // What all must say, and what must be alike: the least of a number and of its negative tell.
  const std::array<std::int64_t, 5> alike{static_cast<std::int64_t>(asked.what),
                                          static_cast<std::int64_t>(f.collective.bytes), asked.root,
                                          f.operation.number, f.element.number};
  std::array<std::int64_t, 2 + 2 * alike.size()> values{};
  values[0] = yes(f.error == MPI_SUCCESS);
  values[1] = yes(f.why_not.empty());
  for (std::size_t i = 0; i < alike.size(); i++) {
    values[2 + 2 * i] = alike[i];
    values[3 + 2 * i] = -alike[i];
  }
  c.agree(values);
  if (values[0] == 0)
    return vote::error;
  for (std::size_t i = 0; i < alike.size(); i++)
    if (values[2 + 2 * i] != -values[3 + 2 * i])
      return vote::no;
  return values[1] != 0 ? vote::yes : vote::no;
}

void say(const call &asked, const communicator &c, const std::string &way) {
  if (c.rank() == 0 && verbose())
    fmt::print(stderr, "dpdkx-coll: {} on {} ranks: {}\n", name_of(asked.what), c.ranks(), way);
}

// Once a process: what was asked for by name can't be had.
void complain(const communicator &c, const std::string &why) {
  static std::atomic<bool> said{false};
  const mode asked = settled_mode();
  if (asked != mode::automatic && c.rank() == 0 && !said.exchange(true))
    fmt::print(stderr, "dpdkx-coll: DPDKX_COLL is '{}', which there is not here: {}\n",
               asked == mode::offload ? "offload" : "function", why);
}

void hand_out(MPI_Request handle, std::shared_ptr<request> r, MPI_Request *to) {
  enter(handle, std::move(r));
  *to = handle;
}

std::string told(const finding &f, collc_rt_group *group, collc_rt_request *made) {
  collc_rt_group_info g{};
  g.size = sizeof g;
  collc_rt_group_query(group, &g);
  collc_rt_request_info r{};
  r.size = sizeof r;
  collc_rt_request_query(made, &r);
  return fmt::format("{}, {} bytes by {} over {}",
                     g.mode == COLLC_RT_OFFLOAD ? "offload" : "function", f.collective.bytes,
                     r.algorithm, g.provider);
}

// False: the runtime can't, on any rank; why_not tells.
bool init_by_runtime(const call &asked, const finding &f, const std::shared_ptr<communicator> &c,
                     MPI_Request *handle, std::string &why_not) {
  collc_rt_group *const group = c->group();
  if (group == nullptr) {
    why_not = c->why_no_group();
    complain(*c, why_not);
    return false;
  }
  collc_rt_request *made = nullptr;
  if (collc_rt_init(group, &f.collective, &made) != 0) {
    why_not = collc_rt_error();
    return false;
  }
  say(asked, *c, told(f, group, made));
  const auto r = std::make_shared<runtime_request>(c, made);
  hand_out(take_handle(c->own()), r, handle);
  return true;
}

void init_repeated(const call &reduced, const std::shared_ptr<communicator> &c, MPI_Request *handle,
                   const std::string &why) {
  const auto r = std::make_shared<repeated_request>(c, reduced);
  say(reduced, *c, fmt::format("the MPI's non-blocking one, as {}", why));
  hand_out(take_handle(c->own()), r, handle);
}

void init_on(const call &asked, bool inter, MPI_Request *handle) {
  const auto c = communicator::of(asked.comm);
  const place at{c->rank(), c->ranks()};
  const call reduced = significant(asked, at);
  if (inter) {
    init_repeated(reduced, c, handle, "this is an intercommunicator");
    return;
  }
  const finding f = examine(reduced, at);
  std::string why = f.why_not;
  switch (all_vote(*c, f, reduced)) {
  case vote::error:
    throw mpi_error{f.error != MPI_SUCCESS
                        ? f.error
                        : error_code(fmt::format("{}: another rank's arguments are wrong",
                                                 name_of(asked.what)))};
  case vote::no:
    if (why.empty())
      why = "another rank's arguments are others, or not for the runtime";
    break;
  case vote::yes:
    if (init_by_runtime(asked, f, c, handle, why))
      return;
    break;
  }
  init_repeated(reduced, c, handle, why);
}

} // namespace

int init(const call &asked, MPI_Request *handle) noexcept {
  if (settled_mode() == mode::off)
    return own_init(asked, handle);
  int inter = 0;
  const int code = PMPI_Comm_test_inter(asked.comm, &inter);
  if (code != MPI_SUCCESS)
    return code;
  return guarded(asked.comm, [&] {
    if (handle == nullptr)
      throw mpi_error{MPI_ERR_ARG};
    init_on(asked, inter != 0, handle);
    return MPI_SUCCESS;
  });
}

} // namespace coll
