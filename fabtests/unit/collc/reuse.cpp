// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/check/reuse.h"

#include <algorithm>

#include "unit/collc/compiled.h"

using namespace collc;

namespace {

lowering tanks(unsigned n, bool ordered = true) {
  lowering how;
  how.tanks = n;
  how.ordered = ordered;
  return how;
}

reuse_result search(const std::string &name, std::int64_t ranks, const lowering &how,
                    const reuse_options &o = {}) {
  unit::compiled c(name, ranks, how);
  return check_reuse(world(*c), o);
}

void expect_clean(const std::string &name, std::int64_t ranks, const lowering &how,
                  unsigned epochs) {
  const reuse_result r = search(name, ranks, how, {.epochs = epochs});
  if (!r.found.empty())
    fail_msg("%s: %s", name.c_str(), r.found[0].explanation.c_str());
  assert_true(r.states > 1);
}

} // namespace

// A rank that is ahead by an operation is taken for one of the present.
static void reuse__allgather_on_one_tank(void **) {
  for (const bool ordered : {true, false}) {
    const lowering how = tanks(1, ordered);
    const reuse_result r = search("allgather:butterfly", 4, how);
    assert_int_equal(r.found.size(), 1);
    const finding &f = r.found[0];
    assert_string_equal(f.check.c_str(), "reuse");
    // What was found can be seen again.
    const std::string &hint = f.trace.back();
    const auto begin = hint.find('\'') + 1;
    unit::compiled c("allgather:butterfly", 4, how);
    const auto again = replay(world(*c), {}, hint.substr(begin, hint.rfind('\'') - begin));
    assert_string_equal(again.back().c_str(), ("wrong: " + f.explanation).c_str());
    assert_int_equal(again.size(), f.trace.size()); // less the hint, and what is wrong
    for (std::size_t i = 0; i + 1 < again.size(); ++i)
      assert_string_equal(again[i].c_str(), f.trace[i].c_str());
  }
}

static void reuse__two_tanks_in_turn(void **) {
  for (const char *const name :
       {"allgather:butterfly", "allgather:bruck", "allgather:ring", "alltoall:pairwise",
        "allreduce:butterfly", "gather:binomial", "scatter:flat", "broadcast:chain"})
    for (const std::int64_t ranks : {2, 3, 4})
      expect_clean(name, ranks, tanks(2), 3);
  expect_clean("allgather:butterfly", 4, tanks(2, false), 2);
}

static void reuse__barrier_on_one_tank(void **) {
  for (const std::int64_t ranks : {2, 3, 4, 5, 6})
    expect_clean("barrier:butterfly", ranks, tanks(1), ranks == 4 ? 4 : 2);
  expect_clean("barrier:butterfly", 4, tanks(1, false), 3);
  lowering own = tanks(1);
  own.own_start = true;
  expect_clean("barrier:butterfly", 4, own, 3);
}

// Where a level isn't taken back as a whole, the next operation goes wrong.
static void reuse__finds_a_wrong_reset(void **) {
  for (const std::int64_t wrong : {-1, 1}) {
    unit::compiled c("barrier:butterfly", 4, tanks(1));
    auto all = unit::schedules(*c);
    all[2].works.back().value += static_cast<std::uint64_t>(wrong);
    assert_false(check_reuse(world(*c, std::move(all)), {.epochs = 2}).found.empty());
  }
}

// The search and the check of levels are of one mind about a single start.
static void reuse__finds_what_fires_early(void **) {
  unit::compiled c("barrier:butterfly", 4);
  const auto works = c->schedule(1).works;
  for (std::size_t i = 0; i < works.size(); ++i) {
    if (works[i].threshold == 0)
      continue;
    auto all = unit::schedules(*c);
    --all[1].works[i].threshold;
    assert_false(check_reuse(world(*c, std::move(all)), {.epochs = 1}).found.empty());
  }
}

static void reuse__says_where_it_ends(void **) {
  unit::expect_same(
      unit::complaint([] { search("allgather:butterfly", 4, tanks(2), {.most_states = 100}); }),
      "--epochs: more than 100 states (--max-states); none of those that were looked at is wrong");
  unit::expect_part(unit::complaint([] { search("gather:flat", 70, tanks(2)); }),
                    "--epochs is for at most 64 works of a rank; rank 0 has ");
  unit::expect_part(unit::complaint([] {
                      lowering how;
                      how.how = scheme::prematched;
                      search("barrier:butterfly", 4, how);
                    }),
                    "--epochs is for the scheme 'watertank'");
  unit::compiled c("barrier:butterfly", 2);
  unit::expect_same(unit::complaint([&] { replay(world(*c), {}, "s0 1>0"); }),
                    "--replay: '1>0' can't happen then; what can: 0>1 s1");
  assert_string_equal(replay(world(*c), {}, "s0 0>1").back().c_str(),
                      "rank 0's SIG1 to rank 1 of epoch 1 arrives: 0 +1 = 1");
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(reuse__allgather_on_one_tank),  cmocka_unit_test(reuse__two_tanks_in_turn),
    cmocka_unit_test(reuse__barrier_on_one_tank),    cmocka_unit_test(reuse__finds_a_wrong_reset),
    cmocka_unit_test(reuse__finds_what_fires_early), cmocka_unit_test(reuse__says_where_it_ends)};
static const unit::Group group{"reuse", cases};
