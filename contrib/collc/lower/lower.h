// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A collective, compiled: any rank's part on demand, whatever number of ranks there is.
#pragma once

#include "collc/ir/expand.h"
#include "collc/lower/options.h"
#include "collc/lower/plan.h"
#include "collc/lower/schedule.h"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace collc {

class compiler {
public:
  // Throws error if the request is none that can be met.
  compiler(const algorithm &a, const request &q, const lowering &how);

  [[nodiscard]] const algorithm &source() const { return algorithm_; }
  [[nodiscard]] const request &asked() const { return request_; }
  [[nodiscard]] const lowering &how() const { return how_; }

  rank_program program(std::int64_t rank) const;
  rank_schedule schedule(std::int64_t rank);
  rank_schedule schedule(const rank_program &p);

  // What is to be added to the tank of `rank`.
  event find(std::int64_t rank, std::int64_t path, event_kind what, std::int64_t source,
             std::uint32_t ordinal);
  // Everything that adds to that tank adds 1.
  bool counts(std::int64_t rank, std::int64_t path);
  // Where `rank` has the message to or from `peer` in its own order of rounds.
  std::int64_t round_of_sending(std::int64_t rank, std::int64_t path, std::int64_t peer,
                                std::uint32_t ordinal);
  std::int64_t round_of_receiving(std::int64_t rank, std::int64_t path, std::int64_t peer,
                                  std::uint32_t ordinal);

private:
  void check_landing() const;
  struct planned {
    rank_program program;
    std::vector<tank_plan> plans; // by path
  };
  const planned &plans_of(std::int64_t rank);
  const tank_plan *plan_of(std::int64_t rank, std::int64_t path);
  const path_program *path_of(std::int64_t rank, std::int64_t path);

  const algorithm &algorithm_;
  request request_;
  lowering how_;
  // Of peers that were asked about; emptied when they are too many.
  std::unordered_map<std::int64_t, std::unique_ptr<planned>> known_;
  std::size_t known_events_ = 0;
};

// Splits what a rank queues into windows, by the room there is.
void make_windows(rank_schedule &s, std::uint64_t most_works);

rank_schedule lower_to_tanks(compiler &c, const rank_program &p);
rank_schedule lower_prematched(compiler &c, const rank_program &p);

} // namespace collc
