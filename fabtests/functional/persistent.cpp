// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Every algorithm of the compiler, run by the runtime of persistent collectives: started over and
// over while ranks come early and late, by the provider alone and by calls that make progress.
#include "common/case.h"
#include "common/sanitized.h"
#include "common/settings.h"
#include "functional/persistent_scene.h"

#include <bit>
#include <thread>

namespace fabtest {

namespace {

constexpr std::uint64_t epochs = sanitized ? 30 : 100;

const struct {
  collc_rt_kind kind;
  const char *name;
  bool powers_of_two = false;
} algorithms[] = {
    {COLLC_RT_BARRIER, "barrier:butterfly"},  {COLLC_RT_BARRIER, "barrier:dissemination"},
    {COLLC_RT_BROADCAST, "broadcast:binary"}, {COLLC_RT_BROADCAST, "broadcast:binomial"},
    {COLLC_RT_BROADCAST, "broadcast:chain"},  {COLLC_RT_BROADCAST, "broadcast:flat"},
    {COLLC_RT_BROADCAST, "broadcast:kary"},   {COLLC_RT_BROADCAST, "broadcast:trinaryx3"},
    {COLLC_RT_ALLGATHER, "allgather:bruck"},  {COLLC_RT_ALLGATHER, "allgather:butterfly"},
    {COLLC_RT_ALLGATHER, "allgather:ring"},   {COLLC_RT_ALLTOALL, "alltoall:butterfly", true},
    {COLLC_RT_ALLTOALL, "alltoall:pairwise"}, {COLLC_RT_GATHER, "gather:binomial"},
    {COLLC_RT_GATHER, "gather:flat"},         {COLLC_RT_SCATTER, "scatter:binomial"},
    {COLLC_RT_SCATTER, "scatter:flat"},       {COLLC_RT_REDUCE, "reduce:binomial"},
    {COLLC_RT_REDUCE, "reduce:flat"},         {COLLC_RT_ALLREDUCE, "allreduce:butterfly"},
};

class dawdler {
public:
  explicit dawdler(const team &t) : random_(config().seed + static_cast<std::uint64_t>(t.rank())) {}
  void dawdle() {
    if (random_.one_in(4))
      std::this_thread::sleep_for(std::chrono::microseconds(random_.below(100)));
  }

private:
  random_source random_;
};

void every_algorithm(const persistent_group &g, bool direct) {
  team &t = g.of();
  dawdler d(t);
  std::int64_t root = 0;
  for (const auto &a : algorithms) {
    if (a.powers_of_two && !std::has_single_bit(static_cast<unsigned>(t.size())))
      continue;
    root = a.kind == COLLC_RT_BROADCAST || (a.kind >= COLLC_RT_GATHER && a.kind <= COLLC_RT_REDUCE)
               ? (root + 1) % t.size()
               : 0;
    const std::uint64_t bytes = a.kind == COLLC_RT_BARRIER  ? 0
                                : a.kind >= COLLC_RT_REDUCE ? 264
                                                            : 205;
    persistent_request r(g, {.kind = a.kind,
                             .bytes = bytes,
                             .root = a.kind == COLLC_RT_ALLREDUCE ? 0 : root,
                             .algorithm = a.name,
                             .direct = direct});
    for (std::uint64_t e = 0; e < epochs; ++e) {
      d.dawdle();
      r.start();
      d.dawdle();
      r.wait();
      r.verify();
    }
  }
}

void every_algorithm(team &t, collc_rt_mode mode) {
  persistent_group g(t, mode);
  CHECK_EQ(static_cast<int>(g.query().mode), static_cast<int>(mode));
  for (const bool direct : {false, true})
    every_algorithm(g, direct);
  g.leave();
}

} // namespace

#define CASES(ranks_)                                                                              \
  CASE(offload_of_##ranks_, .ranks = ranks_, .seconds = 120) {                                     \
    every_algorithm(t, COLLC_RT_OFFLOAD);                                                          \
  }                                                                                                \
  CASE(function_of_##ranks_, .ranks = ranks_, .seconds = 120) {                                    \
    every_algorithm(t, COLLC_RT_FUNCTION);                                                         \
  }

CASES(1)
CASES(2)
CASES(3)
CASES(4)
CASES(8)

} // namespace fabtest
