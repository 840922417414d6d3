// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Figures of the papers, and of collc(1).
#include "collc/report/resources.h"

#include "collc/lower/landing.h"

#include "common/sanitized.h"

#include <nlohmann/json.hpp>

#include "unit/collc/compiled.h"

using namespace collc;

static void resources__allgather_of_82944_ranks(void **) {
  if (fabtest::sanitized)
    skip();
  unit::compiled c("allgather:butterfly", 82944);
  const resources r = measure(*c);
  assert_int_equal(r.rounds, 18);
  assert_int_equal(r.real_rounds, 36);
  assert_int_equal(r.counters, 1);
  assert_int_equal(r.reusable_counters, 2);
  assert_int_equal(r.prematched_counters, 54);
  assert_int_equal(r.level_bits, 36); // more than 32
  assert_int_equal(r.works, 52);
}

static void resources__allgather_of_a_million_ranks(void **) {
  if (fabtest::sanitized)
    skip();
  unit::compiled c("allgather:butterfly", 1000000);
  const resources r = measure(*c);
  assert_int_equal(r.rounds, 21);
  assert_int_equal(r.real_rounds, 42);
  assert_int_equal(r.counters, 1);
  assert_int_equal(r.prematched_counters, 63);
  assert_int_equal(r.level_bits, 42);
}

// 3 for each round and FIN, where ranks is a power of two.
static void resources__works_of_an_allgather(void **) {
  for (const std::int64_t n : {1, 3, 6, 10}) {
    unit::compiled c("allgather:butterfly", std::int64_t{1} << n);
    const resources r = measure(*c);
    assert_int_equal(r.works, 3 * n + 1);
    assert_int_equal(r.all_works, r.works << n);
    assert_int_equal(r.all_bytes, (std::uint64_t{8} << n) * ((std::uint64_t{1} << n) - 1));
  }
}

static void resources__trinaryx3(void **) {
  unit::compiled c("broadcast:trinaryx3", 100);
  const resources r = measure(*c);
  assert_int_equal(r.counters, 3);
  assert_int_equal(r.prematched_counters, 9);
}

// With a counter for each message, 1,024 of them are soon used up.
static void resources__pipelines_of_the_papers(void **) {
  for (const std::int64_t segments : {2049, 129}) {
    request q;
    q.bytes = 128 << 20;
    q.parameters["segments"] = segments;
    unit::compiled c("broadcast:chain", 8, {}, q);
    const resources r = measure(*c);
    assert_int_equal(r.counters, 1);
    assert_int_equal(r.message_counters, segments);
    assert_int_equal(r.works, segments + 1); // a word to the root before
    lowering how;
    how.most_works = 1024;
    unit::compiled bound("broadcast:chain", 8, how, q);
    assert_int_equal(measure(*bound).windows, segments == 2049 ? 3 : 1);
  }
}

// What is counted is what the scheme itself uses, where it is lowered.
static void resources__prematched(void **) {
  lowering how;
  how.how = scheme::prematched;
  for (const std::int64_t ranks : {8, 13}) {
    unit::compiled c("allgather:butterfly", ranks, how);
    const resources r = measure(*c);
    assert_int_equal(r.counters, 3 * r.rounds);
    assert_int_equal(r.counters, r.prematched_counters);
  }
}

// Two tanks are for the word of the next epoch but one; four memories of 24 bytes.
static void resources__landing(void **) {
  lowering how;
  let_land(how, collective::gather);
  unit::compiled c("gather:flat", 3, how);
  const resources r = measure(*c);
  assert_int_equal(r.counters, 1);
  assert_int_equal(r.reusable_counters, 4);
  assert_int_equal(r.landing_bytes, 4 * 24);
  unit::expect_part(resources_text(*c, r), "96  bytes, of the rank with the most memory");
  assert_true(resources_json(*c, r)["landing_bytes"] == 96);
  unit::compiled direct("gather:flat", 3);
  assert_int_equal(measure(*direct).landing_bytes, 0);
}

static void resources__json(void **) {
  unit::compiled c("barrier:butterfly", 8);
  const nlohmann::json j = resources_json(*c, measure(*c));
  assert_true(j["rounds"] == 3 && j["real_rounds"] == 3 && j["works"] == 4 && j["counters"] == 1);
  unit::expect_part(resources_text(*c, measure(*c)), "works                    4");
}

static const CMUnitTest cases[] = {cmocka_unit_test(resources__allgather_of_82944_ranks),
                                   cmocka_unit_test(resources__allgather_of_a_million_ranks),
                                   cmocka_unit_test(resources__works_of_an_allgather),
                                   cmocka_unit_test(resources__trinaryx3),
                                   cmocka_unit_test(resources__pipelines_of_the_papers),
                                   cmocka_unit_test(resources__prematched),
                                   cmocka_unit_test(resources__landing),
                                   cmocka_unit_test(resources__json)};
static const unit::Group group{"resources", cases};
