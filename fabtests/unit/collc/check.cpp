// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// All that is built in is right; and what is wrong is found.
#include "collc/check/check.h"

#include "common/sanitized.h"

#include <nlohmann/json.hpp>

#include "unit/collc/compiled.h"

using namespace collc;

namespace {

bool rooted(const algorithm &a) {
  return a.what == collective::broadcast || a.what == collective::gather ||
         a.what == collective::scatter || a.what == collective::reduce;
}

bool power_of_two(std::int64_t n) { return (n & (n - 1)) == 0; }

void expect_right(const std::string &name, std::int64_t ranks, const lowering &how,
                  const request &q) {
  const std::string said = unit::complaint([&] {
    unit::compiled c(name, ranks, how, q);
    const auto found = check(*c);
    if (!found.empty())
      fail_msg("%s, root %d, %d bytes: %s", name.c_str(), static_cast<int>(q.root),
               static_cast<int>(q.bytes), findings_text(*c, found).c_str());
  });
  const bool refused = name == "alltoall:butterfly" && !power_of_two(ranks);
  assert_int_equal(said.empty(), !refused);
  if (refused)
    unit::expect_part(said, "the butterfly needs a power of two as the number of ranks");
}

void expect_all_right(std::int64_t ranks, const lowering &how, const request &more = {}) {
  for (const auto &b : builtins()) {
    const std::string name(b.name);
    const bool roots = rooted(load(name));
    for (const std::int64_t root : {std::int64_t{0}, std::int64_t{1}, ranks / 2, ranks - 1}) {
      if (root >= ranks || (root > 0 && !roots))
        continue;
      request q = more;
      q.root = root;
      for (const std::int64_t bytes : {0, 8, 40}) {
        q.bytes = bytes;
        expect_right(name, ranks, how, q);
      }
    }
  }
}

// The first finding's check; empty: none.
std::string found_by(const std::string &text, std::int64_t ranks, const request &more = {}) {
  unit::compiled c(unit::text("collective " + text), ranks, {}, more);
  const auto found = check(*c);
  return found.empty() ? "" : found.front().check;
}

// What is found with one work of one rank changed.
template <typename Change>
std::string found_with(unit::compiled &c, std::size_t rank, std::size_t i, Change change) {
  auto all = unit::schedules(*c);
  change(all[rank].works[i]);
  const auto found = check(world(*c, std::move(all)));
  return found.empty() ? "" : found.front().check;
}

} // namespace

static void check__built_in(void **) {
  for (std::int64_t ranks = 1; ranks <= 17; ++ranks)
    expect_all_right(ranks, {});
}

static void check__built_in_of_many_ranks(void **) {
  for (const std::int64_t ranks : {32, 33, 64})
    if (!fabtest::sanitized || ranks == 33)
      expect_all_right(ranks, {});
}

static void check__built_in_lowered_in_other_ways(void **) {
  for (const std::int64_t ranks : {1, 2, 5, 6, 8}) {
    lowering how;
    how.wait_for_delivery = true;
    expect_all_right(ranks, how);
    how = {};
    how.own_start = true;
    expect_all_right(ranks, how);
    how = {};
    how.counted_writes = how.raise_for_branches = false;
    expect_all_right(ranks, how);
    how = {};
    how.ordered = false;
    expect_all_right(ranks, how);
    how = {};
    how.most_works = 4;
    expect_all_right(ranks, how);
    how = {};
    how.how = scheme::prematched;
    expect_all_right(ranks, how);
    request early;
    early.ready = readiness::early;
    expect_all_right(ranks, {}, early);
  }
}

static void check__messages_that_do_not_match(void **) {
  const char *const two = "barrier if rank == 0 { round 1 { ";
  assert_string_equal(found_by(std::string(two) + "send 1 } }", 2).c_str(), "matching");
  assert_string_equal(found_by(std::string(two) + "recv 1 } }", 2).c_str(), "matching");
  // Of different kinds, places, rounds.
  assert_string_equal(found_by("gather if rank == 1 { round 1 { send 0 input[0:8] to output[0] } } "
                               "else { round 1 { recv 1 } }",
                               2)
                          .c_str(),
                      "matching");
  assert_string_equal(found_by("gather if rank == 1 { round 1 { send 0 input[0:8] to output[0] } } "
                               "else { round 1 { recv 1 output[8:8] } }",
                               2)
                          .c_str(),
                      "matching");
  assert_string_equal(found_by("reduce if rank == 1 { round 1 { send 0 input[0:8] to output[0] } } "
                               "else { round 1 { recv 1 output[0:8] combining } }",
                               2)
                          .c_str(),
                      "matching");
  assert_string_equal(
      found_by("barrier rounds 2 if rank == 0 { round 1 { send 1 } } else { round 2 { recv 0 } }",
               2)
          .c_str(),
      "matching");
}

static void check__deadlock(void **) {
  unit::compiled c(unit::text("collective barrier let peer = 1 - rank round 1 { recv peer } "
                              "round 2 { send peer }"),
                   2);
  const auto found = check(*c);
  assert_int_equal(found.size(), 1);
  assert_string_equal(found[0].check.c_str(), "deadlock");
  assert_string_equal(found[0].trace[0].c_str(),
                      "rank 0's SIG2 to rank 1 waits for rank 1's SIG2 to rank 0");
  assert_string_equal(found[0].trace[1].c_str(),
                      "rank 1's SIG2 to rank 0 waits for rank 0's SIG2 to rank 1");
}

static void check__result(void **) {
  // A barrier that lets rank 0 go early.
  assert_string_equal(
      found_by("barrier if rank == 0 { round 1 { send 1 } } else { round 1 { recv 0 } }", 2)
          .c_str(),
      "data");
  // One block too few; one in the wrong place; the same one twice.
  assert_string_equal(found_by("allgather start copy input[0:8] to output[rank * 8]", 2).c_str(),
                      "data");
  assert_string_equal(found_by("gather if rank == 0 { start copy input[0:8] to output[8] round 1 { "
                               "recv 1 output[0:8] } } else { round 1 { send 0 input[0:8] to "
                               "output[0] } }",
                               2)
                          .c_str(),
                      "data");
  assert_string_equal(
      found_by(
          "reduce ready once if rank == 0 { start copy input[0:8] to output[0] } for i in 1 .. "
          "2 { round i { if rank == 0 { recv 1 output[0:8] combining } else { send 0 "
          "input[0:8] to output[0] combining } } }",
          2)
          .c_str(),
      "data");
  // What was never written is forwarded.
  assert_string_equal(found_by("broadcast ready early round 1 { if rank == 1 { send 0 data[0:8] } "
                               "else { recv 1 data[0:8] } }",
                               2)
                          .c_str(),
                      "data");
}

static void check__races(void **) {
  // Nobody has said that the memory may be written to.
  request never;
  never.ready = readiness::never;
  for (const char *const name : {"allgather:butterfly", "allgather:ring", "gather:flat"}) {
    unit::compiled c(name, 4, {}, never);
    const auto found = check(*c);
    assert_true(!found.empty() && found[0].check == "races");
    unit::expect_part(found[0].explanation, "has started");
  }
  // Swapped in place: what is being sent may be overwritten.
  const char *const swapped = "alltoall scratch s[8] start copy input[8 - rank * 8 : 8] to s[0] "
                              "round 1 { send 1 - rank s[0:8] recv 1 - rank s[0:8] }";
  assert_string_equal(found_by(swapped, 2).c_str(), "races");
  // Sent on before it has come.
  assert_string_equal(found_by("broadcast ready once round 1 { if rank == 0 { send 1 data[0:8] } "
                               "if rank == 1 { recv 0 data[0:8] } } round 2 { if rank == 1 { send "
                               "2 data[0:8] after 0 } if rank == 2 { recv 1 data[0:8] } }",
                               3)
                          .c_str(),
                      "races");
}

static void check__limits(void **) {
  lowering how;
  how.width = 36;
  unit::compiled fits("allgather:butterfly", 33, how);
  assert_true(check(*fits).empty());
  how.width = 13;
  unit::compiled small("allgather:butterfly", 33, how); // 7 rounds of 2 check points
  auto found = check(*small);
  assert_true(!found.empty() && found[0].check == "limits");
  unit::expect_part(found[0].explanation, "needs 14 bits; a counter has 13");
  how = {};
  how.most_counters = 5;
  unit::compiled few("broadcast:trinaryx3", 9, how);
  found = check(*few);
  assert_true(!found.empty() && found[0].check == "limits");
  unit::expect_part(found[0].explanation, "needs 6 counters; there are 5");
  how = {};
  how.most_works = 2;
  unit::compiled none("broadcast:trinaryx3", 9, how);
  found = check(*none);
  assert_true(!found.empty() && found[0].check == "limits");
}

// Each threshold is as low as it can be, each bucket as large as it must be: where all of them come
// from others, who may be ahead, and none is left out.
static void check__finds_changed_levels(void **) {
  for (const char *const name : {"barrier:butterfly", "barrier:dissemination",
                                 "allgather:butterfly", "allgather:bruck", "alltoall:pairwise"})
    for (const std::int64_t ranks : {4, 8}) {
      unit::compiled c(name, ranks);
      const auto works = c->schedule(1).works;
      for (std::size_t i = 0; i < works.size(); ++i) {
        if (works[i].threshold > 0)
          assert_string_equal(found_with(c, 1, i, [](work &w) { --w.threshold; }).c_str(),
                              "levels");
        if (works[i].value != 0 && works[i].why != role::finish) {
          assert_true(!found_with(c, 1, i, [](work &w) { --w.value; }).empty());
          assert_true(!found_with(c, 1, i, [](work &w) { w.value *= 2; }).empty());
        }
      }
    }
}

static void check__finds_moved_data(void **) {
  for (const char *const name : {"allgather:butterfly", "alltoall:pairwise", "gather:binomial",
                                 "scatter:binomial", "reduce:binomial", "broadcast:chain"}) {
    unit::compiled c(name, 6);
    for (std::size_t rank = 0; rank < 6; ++rank) {
      const auto works = c->schedule(static_cast<std::int64_t>(rank)).works;
      for (std::size_t i = 0; i < works.size(); ++i)
        if (works[i].moved.from.length > 0) {
          assert_true(!found_with(c, rank, i, [](work &w) { w.moved.to_offset += 1; }).empty());
          assert_true(!found_with(c, rank, i, [](work &w) { w.moved.from.length -= 1; }).empty());
        }
    }
  }
}

static void check__says_what_it_found(void **) {
  unit::compiled c("barrier:butterfly", 4);
  assert_string_equal(
      findings_text(*c, check(*c)).c_str(),
      "barrier:butterfly, 4 ranks: matching, limits, levels, deadlock, races, data: "
      "nothing found\n");
  const std::vector<finding> one = {{"races", "two at once", {"a", "b"}}};
  assert_string_equal(findings_text(*c, one).c_str(),
                      "barrier:butterfly, 4 ranks:\nraces: two at once\n    a\n    b\n");
  assert_true(findings_json(*c, one)["findings"][0]["trace"][1] == "b");
}

static const CMUnitTest cases[] = {cmocka_unit_test(check__built_in),
                                   cmocka_unit_test(check__built_in_of_many_ranks),
                                   cmocka_unit_test(check__built_in_lowered_in_other_ways),
                                   cmocka_unit_test(check__messages_that_do_not_match),
                                   cmocka_unit_test(check__deadlock),
                                   cmocka_unit_test(check__result),
                                   cmocka_unit_test(check__races),
                                   cmocka_unit_test(check__limits),
                                   cmocka_unit_test(check__finds_changed_levels),
                                   cmocka_unit_test(check__finds_moved_data),
                                   cmocka_unit_test(check__says_what_it_found)};
static const unit::Group group{"check", cases};
