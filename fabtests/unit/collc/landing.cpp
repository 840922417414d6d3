// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lower/landing.h"

#include "collc/check/check.h"
#include "collc/check/reuse.h"

#include <algorithm>

#include "unit/collc/compiled.h"

using namespace collc;

namespace {

lowering landing(collective what, unsigned tanks = 0) {
  lowering how;
  let_land(how, what, tanks);
  return how;
}

lowering landing(const std::string &name, unsigned tanks = 0) {
  return landing(load(name).what, tanks);
}

std::string hindered(const std::string &text, std::int64_t ranks = 2) {
  return unit::complaint([&] {
    algorithm a = unit::text("collective " + text);
    const lowering how = landing(a.what);
    unit::compiled c(std::move(a), ranks, how);
  });
}

constexpr const char *that_land[] = {
    "allgather:bruck",    "allgather:butterfly", "allgather:ring",   "allreduce:butterfly",
    "alltoall:butterfly", "alltoall:pairwise",   "broadcast:binary", "broadcast:binomial",
    "broadcast:chain",    "broadcast:flat",      "broadcast:kary",   "broadcast:trinaryx3",
    "gather:binomial",    "gather:flat",         "scatter:binomial", "scatter:flat"};

bool rooted(collective c) {
  return c == collective::broadcast || c == collective::gather || c == collective::scatter;
}

// A rank that is folded in gets its own block back, and so twice.
bool can_land(const std::string &name, std::int64_t ranks) {
  return (ranks & (ranks - 1)) == 0 ||
         (name != "alltoall:butterfly" && name != "allgather:butterfly");
}

// What check() finds first; empty: nothing.
std::string found(const std::string &name, std::int64_t ranks, const lowering &how) {
  unit::compiled c(name, ranks, how);
  const auto all = check(*c);
  return all.empty() ? "" : all.front().check;
}

std::string reused(const std::string &name, std::int64_t ranks, const lowering &how,
                   unsigned epochs) {
  unit::compiled c(name, ranks, how);
  const auto r = check_reuse(world(*c), {.epochs = epochs});
  return r.found.empty() ? "" : r.found.front().explanation;
}

} // namespace

// The root has its children's words of two epochs before; they have as many of it as they want.
static void landing__a_broadcast_of_two(void **) {
  unit::compiled c("broadcast:flat", 2, landing("broadcast:flat"));
  const rank_program root = c->program(0), leaf = c->program(1);
  const int there = first_scratch;
  assert_true(root.start == (std::vector<piece>{{{buffer_data, 0, 8}, there, 0}}));
  assert_true(root.finish.empty() && leaf.start.empty());
  assert_true(leaf.finish == (std::vector<piece>{{{there, 0, 8}, buffer_data, 0}}));
  assert_int_equal(leaf.sizes.back(), 8);

  const rank_schedule sends = c->schedule(0), gets = c->schedule(1);
  assert_int_equal(sends.works.size(), 3); // DAT, RTE, FIN
  assert_true(sends.works[0].moved == (piece{{there, 0, 8}, there, 0}));
  assert_int_equal(sends.works[0].threshold, 1);
  assert_int_equal(sends.tanks[0].told, 1);
  assert_int_equal(gets.works.size(), 2); // RTR, FIN
  assert_true(gets.works[0].why == role::ready && gets.works[0].ahead == 2 &&
              gets.works[0].threshold == 0);
  assert_int_equal(gets.tanks[0].told, 0);
  assert_int_equal(gets.counters.size(), 4);
}

// Nobody is told anything.
static void landing__an_allgather(void **) {
  unit::compiled c("allgather:butterfly", 8, landing("allgather:butterfly"));
  const rank_schedule s = c->schedule(3);
  assert_int_equal(s.works.size(), 6);
  assert_true(std::ranges::none_of(s.works, [](const work &w) { return w.why == role::ready; }));
  assert_int_equal(s.works[0].threshold, 0);
  assert_int_equal(s.counters.size(), 3);
}

// What is sent of the input is read once, at the start: its copy stands behind what comes.
static void landing__an_alltoall(void **) {
  unit::compiled c("alltoall:pairwise", 3, landing("alltoall:pairwise"));
  const rank_program p = c->program(1);
  const int there = first_scratch;
  assert_true(p.start.back() == (piece{{buffer_input, 0, 24}, there, 64}));
  assert_int_equal(p.sizes.back(), 64 + 24);
  assert_true(p.paths[0].sends[0].pieces == (std::vector<piece>{{{there, 64 + 16, 8}, there, 8}}));
}

static void landing__what_is_built_in_is_right(void **) {
  for (const char *const name : that_land)
    for (const std::int64_t ranks : {1, 2, 3, 4, 5, 8, 13})
      for (const std::int64_t root : {std::int64_t{0}, ranks - 1}) {
        const algorithm a = load(name);
        if ((root > 0 && !rooted(a.what)) || !can_land(name, ranks))
          continue;
        for (const std::int64_t bytes : {8, 40}) {
          request q;
          q.root = root;
          q.bytes = bytes;
          for (const bool delivered : {false, true}) {
            lowering how = landing(a.what);
            how.wait_for_delivery = delivered;
            unit::compiled c(name, ranks, how, q);
            const auto all = check(*c);
            if (!all.empty())
              fail_msg("%s", findings_text(*c, all).c_str());
          }
        }
      }
}

static void landing__whatever_the_order(void **) {
  for (const char *const name : that_land) {
    const bool root = rooted(load(name).what);
    for (const std::int64_t ranks : {2, 3}) {
      if (!can_land(name, ranks) || (ranks == 3 && std::string(name) == "broadcast:trinaryx3"))
        continue;
      // So many epochs that each memory is used again.
      const unsigned tanks = root && ranks == 2 ? 4 : 3;
      const std::string wrong = reused(name, ranks, landing(name, tanks), tanks + 1);
      if (!wrong.empty())
        fail_msg("%s of %d: %s", name, static_cast<int>(ranks), wrong.c_str());
    }
  }
}

// Words that are for too late an epoch; memories, or tanks, that are too few.
static void landing__finds_what_is_used_too_early(void **) {
  for (const char *const name : {"broadcast:flat", "gather:flat", "scatter:binomial"}) {
    lowering how = landing(name, 3);
    assert_string_equal(found(name, 3, how).c_str(), "");
    how.ahead = 2; // into the tank that is waited at
    assert_string_equal(found(name, 3, how).c_str(), "landing");
    how.ahead = 3; // into memory that is in use
    assert_string_equal(found(name, 3, how).c_str(), "landing");
    unit::expect_part(reused(name, 2, how, 5), " lands at rank ");
  }
  for (const char *const name : {"allgather:ring", "alltoall:pairwise"}) {
    assert_string_equal(found(name, 3, landing(name, 1)).c_str(), "landing");
    assert_false(reused(name, 3, landing(name, 1), 3).empty());
    // Two are enough for those that send no longer when they are done.
    lowering how = landing(name, 2);
    assert_string_equal(found(name, 3, how).c_str(), "");
    assert_string_equal(reused(name, 3, how, 3).c_str(), "");
    how.lag = 1;
    assert_string_equal(found(name, 3, how).c_str(), "landing");
  }
  {
    lowering how = landing("scatter:flat", 1);
    how.lag = 1;
    assert_string_equal(found("scatter:flat", 2, how).c_str(), "landing");
    unit::expect_part(reused("scatter:flat", 2, how, 3), "in memory that is still being sent");
  }
  // A root that nobody holds back.
  request q;
  q.ready = readiness::never;
  lowering how = landing("broadcast:flat");
  unit::compiled c("broadcast:flat", 2, how, q);
  auto all = unit::schedules(*c);
  for (work &w : all[0].works)
    w.threshold = 0;
  assert_false(check_reuse(world(*c, std::move(all)), {.epochs = 6}).found.empty());
}

static void landing__what_hinders(void **) {
  unit::expect_part(hindered("barrier round 1 { send 1 - rank recv 1 - rank }"),
                    "data of t can't land: a barrier has none");
  unit::expect_part(
      hindered("reduce if rank == 0 { round 1 { recv 1 output[0:8] combining } } else "
               "{ round 1 { send 0 input[0:8] to output[0] combining } }"),
      "what comes to rank 0 is combined with what is there");
  // One place for two messages, which words keep apart.
  unit::expect_part(hindered("allgather scratch s[8] for r in 1 .. 2 { round r { send 1 - rank "
                             "input[0:8] to s[0] recv 1 - rank s[0:8] } }"),
                    "bytes of s of rank 0 come twice");
  unit::expect_part(hindered("allgather start copy input[0:8] to output[0] round 1 { send 1 - rank "
                             "input[0:8] to output[0] recv 1 - rank output[0:8] }"),
                    "bytes of output of rank 0 come twice");
  unit::expect_part(hindered("allgather start copy output[0:8] to output[8]"),
                    "bytes of output of rank 0 are copied at the start");
  // A message of another path isn't waited for.
  unit::expect_part(hindered("broadcast path 0 { round 1 { if rank == 0 { send 1 data[0:8] } if "
                             "rank == 1 { recv 0 data[0:8] } } } path 1 { round 2 { if rank == 1 { "
                             "send 2 data[0:8] } if rank == 2 { recv 1 data[0:8] } } }",
                             3),
                    "bytes of data of rank 1 are sent before they have come");
  unit::expect_part(unit::complaint([] {
                      request q;
                      q.bytes = 0;
                      unit::compiled c("broadcast:flat", 2, landing(collective::broadcast), q);
                    }),
                    "there are none");
  unit::expect_part(unit::complaint([] {
                      unit::compiled c("broadcast:flat", 2, landing(collective::broadcast, 9));
                    }),
                    "the number of tanks is 9; allowed: 1 to 8");
}

static const CMUnitTest cases[] = {cmocka_unit_test(landing__a_broadcast_of_two),
                                   cmocka_unit_test(landing__an_allgather),
                                   cmocka_unit_test(landing__an_alltoall),
                                   cmocka_unit_test(landing__what_is_built_in_is_right),
                                   cmocka_unit_test(landing__whatever_the_order),
                                   cmocka_unit_test(landing__finds_what_is_used_too_early),
                                   cmocka_unit_test(landing__what_hinders)};
static const unit::Group group{"landing", cases};
