// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lower/lower.h"

#include <algorithm>

#include "common/sanitized.h"
#include "unit/collc/compiled.h"

using namespace collc;

// A rank of a million needs nobody's part but its own, or its peers'.
static void lower__a_rank_of_a_million(void **) {
  if (fabtest::sanitized)
    skip();
  unit::compiled c("allgather:butterfly", 1000000);
  const auto works = c->schedule(999999).works;
  assert_int_equal(works.size(), 3 * 19 + 1); // not in a pair
  assert_int_equal(works.back().threshold, ((std::uint64_t{1} << 38) - 1) << 2);
  request q;
  q.root = 123456;
  unit::compiled tree("broadcast:binomial", 1000000, {}, q);
  assert_int_equal(tree->schedule(123457).works.size(), 1); // "I am here"
}

static void lower__windows(void **) {
  lowering how;
  how.most_works = 4;
  unit::compiled c("allgather:butterfly", 8, how);
  const rank_schedule s = c->schedule(0);
  assert_int_equal(s.windows, 3);
  for (std::size_t i = 0; i < s.works.size(); ++i)
    assert_int_equal(s.works[i].window, i / 4);
  how.most_works = 7;
  unit::compiled three("broadcast:trinaryx3", 9, how); // each path has a third of the room
  for (const work &w : three->schedule(1).works)
    assert_true(w.window < three->schedule(1).windows);
  how.most_works = 2;
  unit::compiled none("broadcast:trinaryx3", 9, how);
  unit::expect_same(unit::complaint([&] { none->schedule(1); }),
                    "rank 1 has 3 paths, each with deferred works of its own; there is room for 2");
}

static void lower__refuses_what_is_not_matched(void **) {
  unit::compiled lost(unit::text("collective barrier if rank == 0 { round 1 { send 1 } }"), 2);
  unit::expect_same(unit::complaint([&] { lost->schedule(0); }),
                    "message 1 from rank 0 to rank 1 is sent, but not received");
  unit::compiled late(unit::text("collective barrier if rank == 0 { round 1 { send 1 } round 2 { "
                                 "send 1 } } else { round 1 { recv 0 } }"),
                      2);
  unit::expect_same(unit::complaint([&] { late->schedule(0); }),
                    "message 2 from rank 0 to rank 1 is sent, but not received");
  unit::compiled never(
      unit::text("collective gather if rank == 0 { round 1 { recv 1 output[8:8] } }"), 2);
  unit::expect_same(unit::complaint([&] { never->schedule(0); }),
                    "message 1 from rank 1 to rank 0 is received, but not sent");
}

static void lower__refuses_widths_and_tanks(void **) {
  lowering how;
  how.width = 65;
  unit::expect_same(unit::complaint([&] { unit::compiled c("barrier:butterfly", 8, how); }),
                    "the width of counters is 65 bits; allowed: 1 to 64");
  how = {};
  how.tanks = 3;
  unit::expect_same(unit::complaint([&] { unit::compiled c("barrier:butterfly", 8, how); }),
                    "the number of tanks is 3; allowed: 1 or 2");
}

// A tank counts no completions: a failed transfer must not trigger anything.
static void lower__no_completion_goes_to_a_tank(void **) {
  for (const auto &b : builtins())
    for (const bool delivered : {false, true}) {
      lowering how;
      how.wait_for_delivery = delivered;
      unit::compiled c(std::string(b.name), 8, how);
      for (std::int64_t rank = 0; rank < 8; ++rank) {
        const rank_schedule s = c->schedule(rank);
        std::uint64_t transfers = 0;
        for (const work &w : s.works) {
          assert_true(w.completion.what != counter_id::role::tank);
          transfers += w.what == operation::write || w.what == operation::atomic;
        }
        assert_int_equal(transfers, s.transfers);
      }
    }
}

// FIN takes back all that has come, and nothing fires after it.
static void lower__tanks_are_emptied(void **) {
  for (const auto &b : builtins()) {
    unit::compiled c(std::string(b.name), 8);
    for (std::int64_t rank = 0; rank < 8; ++rank) {
      const rank_schedule s = c->schedule(rank);
      if (s.single_source)
        continue;
      for (const tank &t : s.tanks) {
        const work &last = s.works.back();
        assert_true(last.why == role::finish && last.threshold == t.full);
        assert_true(last.value + t.full == 0);
      }
    }
  }
}

static const CMUnitTest cases[] = {cmocka_unit_test(lower__a_rank_of_a_million),
                                   cmocka_unit_test(lower__windows),
                                   cmocka_unit_test(lower__refuses_what_is_not_matched),
                                   cmocka_unit_test(lower__refuses_widths_and_tanks),
                                   cmocka_unit_test(lower__no_completion_goes_to_a_tank),
                                   cmocka_unit_test(lower__tanks_are_emptied)};
static const unit::Group group{"lower", cases};
