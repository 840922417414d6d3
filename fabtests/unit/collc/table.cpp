// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Rows of the papers' tables, to the digit.
#include "collc/report/table.h"

#include <nlohmann/json.hpp>

#include "unit/collc/compiled.h"

using namespace collc;

namespace {

std::string table(const std::string &name, std::int64_t ranks, std::int64_t rank,
                  const lowering &how = {}, const request &more = {}) {
  unit::compiled c(name, ranks, how, more);
  return table_text(*c, c->schedule(rank), false);
}

request segments(std::int64_t n) {
  request q;
  q.parameters["segments"] = n;
  return q;
}

} // namespace

static void table__barrier(void **) {
  unit::expect_same(table("barrier:butterfly", 8, 0), "r  Th  operation        Iv  peer\n"
                                                      "1   0  REMOTE_CNTR_ADD   4  1\n"
                                                      "2   4  REMOTE_CNTR_ADD   2  2\n"
                                                      "3   6  REMOTE_CNTR_ADD   1  4\n"
                                                      "C   7  REMOTE_CNTR_ADD  -7  0 (itself)\n");
}

static void table__allgather(void **) {
  unit::expect_same(table("allgather:butterfly", 8, 0),
                    "message  r  R  Th  op                Iv  peer\n"
                    "RTR1     1  1   0  REMOTE_CNTR_ADD   32  1\n"
                    "DAT1     1  2  32  WRITE              0  1\n"
                    "RTE1     1  2  32  REMOTE_CNTR_ADD   16  1\n"
                    "RTR2     2  3  48  REMOTE_CNTR_ADD    8  2\n"
                    "DAT2     2  4  56  WRITE              0  2\n"
                    "RTE2     2  4  56  REMOTE_CNTR_ADD    4  2\n"
                    "RTR3     3  5  60  REMOTE_CNTR_ADD    2  4\n"
                    "DAT3     3  6  62  WRITE              0  4\n"
                    "RTE3     3  6  62  REMOTE_CNTR_ADD    1  4\n"
                    "FIN      C  7  63  REMOTE_CNTR_ADD  -63  0 (itself)\n");
}

static void table__allgather_that_is_told_early(void **) {
  request early;
  early.ready = readiness::early;
  unit::expect_same(table("allgather:butterfly", 4, 3, {}, early),
                    "message  r  R  Th  op                Iv  peer\n"
                    "RTR1     1  1   0  REMOTE_CNTR_ADD    8  2\n"
                    "RTR2     2  3   0  REMOTE_CNTR_ADD    2  1\n"
                    "DAT1     1  2   8  WRITE              0  2\n"
                    "RTE1     1  2   8  REMOTE_CNTR_ADD    4  2\n"
                    "DAT2     2  4  14  WRITE              0  1\n"
                    "RTE2     2  4  14  REMOTE_CNTR_ADD    1  1\n"
                    "FIN      C  5  15  REMOTE_CNTR_ADD  -15  3 (itself)\n");
}

static void table__branch(void **) {
  unit::expect_same(
      table("broadcast:binary", 7, 1),
      "Rq  Th  operation  adds locally  adds at peer  what for\n"
      " 0   0  WRITE                 -             1  to 0: \"I am here\"\n"
      " 1   1  CNTR_ADD              2             -  data have come: raise the level by 2\n"
      " 2   3  WRITE                 -             1  data to 3\n"
      " 3   3  WRITE                 -             1  data to 4\n");
  unit::expect_same(table("broadcast:binary", 7, 0),
                    "Rq  Th  operation  adds locally  adds at peer  what for\n"
                    " 0   6  WRITE                 -             1  data to 1\n"
                    " 1   6  WRITE                 -             1  data to 2\n");
}

// CNTR_ADD f at 1, then f writes at f + 1; or all of them at 1.
static void table__branch_of_any_fan_out(void **) {
  for (const std::int64_t f : {2, 3, 5, 9}) {
    request q;
    q.parameters["fanout"] = f;
    unit::compiled c("broadcast:kary", f * f + f + 1, {}, q);
    const auto works = c->schedule(1).works;
    assert_int_equal(works.size(), f + 2);
    assert_true(works[1].what == operation::local_add && works[1].threshold == 1);
    assert_int_equal(works[1].value, f);
    for (std::size_t i = 2; i < works.size(); ++i)
      assert_true(works[i].what == operation::write && works[i].value == 1 &&
                  works[i].threshold == static_cast<std::uint64_t>(f) + 1);
    lowering how;
    how.raise_for_branches = false;
    unit::compiled s("broadcast:kary", f * f + f + 1, how, q);
    const auto short_form = s->schedule(1).works;
    assert_int_equal(short_form.size(), f + 1);
    for (std::size_t i = 1; i < short_form.size(); ++i)
      assert_int_equal(short_form[i].threshold, 1);
  }
}

static void table__pipeline(void **) {
  unit::expect_same(table("broadcast:chain", 4, 0, {}, segments(2)),
                    "Rq  Th  operation  adds locally  adds at peer  what for\n"
                    " 0   3  WRITE                 -             1  data to 1\n"
                    " 1   3  WRITE                 -             1  data to 1\n");
  unit::expect_same(table("broadcast:chain", 4, 2, {}, segments(3)),
                    "Rq  Th  operation  adds locally  adds at peer  what for\n"
                    " 0   0  WRITE                 -             1  to 0: \"I am here\"\n"
                    " 1   1  WRITE                 -             1  data to 3\n"
                    " 2   2  WRITE                 -             1  data to 3\n"
                    " 3   3  WRITE                 -             1  data to 3\n");
  unit::compiled c("broadcast:chain", 4, {}, segments(3));
  assert_int_equal(c->schedule(3).works.size(), 1); // a leaf only says that it is there
}

static void table__own_start_raises_all_thresholds(void **) {
  lowering how;
  how.own_start = true;
  unit::expect_same(table("barrier:butterfly", 8, 0, how),
                    "r  Th  operation         Iv  peer\n"
                    "1   8  REMOTE_CNTR_ADD    4  1\n"
                    "2  12  REMOTE_CNTR_ADD    2  2\n"
                    "3  14  REMOTE_CNTR_ADD    1  4\n"
                    "C  15  REMOTE_CNTR_ADD  -15  0 (itself)\n"
                    "Start pours 8 into tank\n");
}

static void table__end_of_data_that_waits_for_delivery(void **) {
  lowering how;
  how.wait_for_delivery = true;
  unit::expect_same(table("allgather:butterfly", 4, 0, how),
                    "message  r  R  Th  op                Iv  peer        trigger\n"
                    "RTR1     1  1   0  REMOTE_CNTR_ADD   32  1           tank\n"
                    "DAT1     1  2  32  WRITE              0  1           tank\n"
                    "RTE1     1  2   1  REMOTE_CNTR_ADD   16  1           deliveries\n"
                    "DLV1     1  3   1  CNTR_ADD           8  -           deliveries\n"
                    "RTR2     2  4  56  REMOTE_CNTR_ADD    4  2           tank\n"
                    "DAT2     2  5  60  WRITE              0  2           tank\n"
                    "RTE2     2  5   2  REMOTE_CNTR_ADD    2  2           deliveries\n"
                    "DLV2     2  6   2  CNTR_ADD           1  -           deliveries\n"
                    "FIN      C  7  63  REMOTE_CNTR_ADD  -63  0 (itself)  tank\n");
}

static void table__rank_with_nothing_to_do(void **) {
  unit::expect_same(table("broadcast:binary", 1, 0),
                    "Rq  Th  operation  adds locally  adds at peer  what for\nnothing to do\n");
}

static void table__json_has_the_same_rows(void **) {
  unit::compiled c("allgather:butterfly", 8);
  const nlohmann::json j = table_json(*c, c->schedule(0));
  assert_int_equal(j["works"].size(), 10);
  const auto &dat = j["works"][1];
  assert_true(dat["message"] == "DAT" && dat["threshold"] == 32 && dat["operation"] == "WRITE" &&
              dat["peer"] == 1 && dat["completion"] == "transfers" && dat["moves"]["bytes"] == 8);
  assert_true(j["works"][9]["value"] == 0 - std::uint64_t{63});
  assert_true(j["tanks"][0]["full"] == 63);
}

static const CMUnitTest cases[] = {cmocka_unit_test(table__barrier),
                                   cmocka_unit_test(table__allgather),
                                   cmocka_unit_test(table__allgather_that_is_told_early),
                                   cmocka_unit_test(table__branch),
                                   cmocka_unit_test(table__branch_of_any_fan_out),
                                   cmocka_unit_test(table__pipeline),
                                   cmocka_unit_test(table__own_start_raises_all_thresholds),
                                   cmocka_unit_test(table__end_of_data_that_waits_for_delivery),
                                   cmocka_unit_test(table__rank_with_nothing_to_do),
                                   cmocka_unit_test(table__json_has_the_same_rows)};
static const unit::Group group{"table", cases};
