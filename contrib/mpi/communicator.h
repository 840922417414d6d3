// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What belongs to a communicator of the program's from its first persistent collective on: a
// communicator of our own over the same ranks, for what this library has to say; the runtime's
// group; and lanes, communicators on which the MPI's non-blocking collectives run, one for each
// request, as requests may be started in any order.
#pragma once

#include "mpi/abi.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

struct collc_rt_group;

namespace coll {

class communicator : public std::enable_shared_from_this<communicator> {
public:
  // Collective when the communicator comes here for the first time.
  static std::shared_ptr<communicator> of(MPI_Comm comm);
  // Null if it never came.
  static std::shared_ptr<communicator> find(MPI_Comm comm);
  // All there are, in an order that is the same on all ranks.
  static std::vector<std::shared_ptr<communicator>> all();

  communicator(MPI_Comm comm, bool inter);
  communicator(const communicator &) = delete;
  communicator &operator=(const communicator &) = delete;
  ~communicator();

  [[nodiscard]] MPI_Comm own() const { return own_; }
  // The program's, whose error handler errors go to; when that is freed, the own one stands in.
  [[nodiscard]] MPI_Comm for_errors() const;
  [[nodiscard]] bool inter() const { return inter_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }

  // Collective: values become the least of all ranks, of both groups. Makes progress of all.
  void agree(std::span<std::int64_t> values);

  // Collective the first time: the runtime's group, or null, and why_no_group() tells.
  collc_rt_group *group();
  [[nodiscard]] const std::string &why_no_group() const { return why_no_group_; }

  // Collective: a lane that is free on all ranks, a new one if there is none.
  int lease();
  [[nodiscard]] MPI_Comm lane(int index) const;
  void give_back(int index);

  // Requests that live, of any way.
  void count(int change) { requests_ += change; }

  // Collective, as the program frees the communicator: with no request left on any rank, what
  // belongs to it is freed. Else that stays, for the requests, until the end.
  void program_frees();
  // Collective, at the end: frees it, as far as no request is active.
  void end();

private:
  struct lane_of_request {
    MPI_Comm comm;
    bool leased;
  };

  MPI_Comm make_comm(MPI_Comm from) const;
  void destroy();
  void forget();

  MPI_Comm program_, own_ = MPI_COMM_NULL;
  bool inter_;
  int rank_ = 0, ranks_ = 0;
  std::int64_t id_ = 0; // the same on all ranks
  collc_rt_group *group_ = nullptr;
  bool group_tried_ = false;
  std::string why_no_group_;
  mutable std::mutex mutex_; // program_, lanes_
  std::vector<lane_of_request> lanes_;
  std::atomic<std::int64_t> requests_{0};
};

} // namespace coll
