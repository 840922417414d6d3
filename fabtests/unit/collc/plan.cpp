// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lower/plan.h"

#include <algorithm>

#include "unit/collc/compiled.h"

using namespace collc;

namespace {

std::vector<std::uint64_t> weights(const std::string &name, std::int64_t ranks, std::int64_t rank,
                                   const lowering &how = {}, const request &q = {}) {
  unit::compiled c(name, ranks, how, q);
  const rank_program p = c->program(rank);
  std::vector<std::uint64_t> out;
  const tank_plan plan(p, p.paths.front(), how);
  for (const event &e : plan.of().events)
    out.push_back(e.weight);
  return out;
}

using list = std::vector<std::uint64_t>;

} // namespace

static void plan__powers_of_two(void **) {
  assert_true(weights("barrier:butterfly", 16, 5) == (list{8, 4, 2, 1}));
  assert_true(weights("allgather:butterfly", 8, 5) == (list{32, 16, 8, 4, 2, 1}));
  // Of rounds that a rank has no part in, their bucket is missing.
  assert_true(weights("barrier:butterfly", 5, 0) == (list{8, 4, 2}));
  assert_true(weights("barrier:butterfly", 5, 1) == (list{1}));
  assert_true(weights("barrier:butterfly", 5, 4) == (list{4, 2}));
}

// What is waited for together, or comes in order, is counted.
static void plan__counts(void **) {
  assert_true(weights("broadcast:flat", 5, 0) == (list{1, 1, 1, 1}));
  assert_true(weights("broadcast:chain", 5, 2) == list(8, 1));
  assert_true(weights("allgather:ring", 5, 2) == (list{5, 1, 1, 1, 1}));
  assert_true(weights("reduce:binomial", 8, 4) == (list{3, 1, 1})); // the parent's word, 2 children
}

// Where nothing keeps the order, it takes buckets.
static void plan__without_order(void **) {
  lowering how;
  how.ordered = false;
  assert_true(weights("allgather:ring", 4, 2, how) == (list{8, 4, 2, 1}));
  request q;
  q.parameters["segments"] = 64;
  assert_int_equal(weights("broadcast:chain", 3, 1, how, q).front(), std::uint64_t{1} << 63);
  q.parameters["segments"] = 65;
  unit::expect_same(unit::complaint([&] { weights("broadcast:chain", 3, 1, how, q); }),
                    "rank 1: the tank's level needs 65 bits; a counter has 64: fewer rounds, or "
                    "rounds with several "
                    "messages, need fewer");
}

static void plan__refuses_two_in_one_bucket(void **) {
  unit::expect_same(unit::complaint([] {
                      unit::compiled c(
                          unit::text("collective barrier rounds 1 round 1 { if rank == "
                                     "0 { recv 1 recv 2 } else { send 0 } }"),
                          3);
                      c->schedule(0);
                    }),
                    "rank 0: in round 1 both rank 1 and rank 2 add to the tank: where 'rounds' is "
                    "stated, each bucket is poured by one");
}

// No later event, nor all of them together, makes up for an earlier one of another class.
static void plan__no_sum_of_later_ones_is_enough(void **) {
  for (const auto &b : builtins())
    for (const std::int64_t ranks : {2, 5, 8, 16}) {
      if (b.name == "alltoall:butterfly" && ranks == 5)
        continue;
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const list w = weights(std::string(b.name), ranks, rank);
        std::uint64_t later = 0;
        for (std::size_t i = w.size(); i-- > 0;) {
          const bool raise = i > 0 && w[i] > 1 && w[i - 1] == 1; // follows by itself
          assert_true(raise || i + 1 == w.size() || w[i] == w[i + 1] || w[i] > later || w[i] == 1);
          later += w[i];
        }
      }
    }
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(plan__powers_of_two), cmocka_unit_test(plan__counts),
    cmocka_unit_test(plan__without_order), cmocka_unit_test(plan__refuses_two_in_one_bucket),
    cmocka_unit_test(plan__no_sum_of_later_ones_is_enough)};
static const unit::Group group{"plan", cases};
