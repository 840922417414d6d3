// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/queue_plan.h"

#include "unit/unit.h"

using namespace dpdkx::link;

namespace {

using Texts = std::vector<std::string>;

Texts told(std::uint32_t pool, std::uint32_t rules, const QueueAbilities &able) {
  Texts texts;
  for (const QueuePlan &p : plan_queues(pool, rules, able))
    texts.push_back(to_string(p));
  return texts;
}

void plan__of_a_device_that_can_all(void **) {
  constexpr QueueAbilities able{.most = 64, .rss = true, .rules = true};
  assert_true(told(1, 0, able) == Texts{"one queue"});
  assert_true(told(4, 0, able) == (Texts{"RSS over 4 queues", "one queue"}));
  assert_true(told(4, 12, able) ==
              (Texts{"flow rules, 4 + 12 queues", "RSS over 4 queues", "one queue"}));
  assert_true(told(1, 3, able) == (Texts{"flow rules, 1 + 3 queues", "one queue"}));
}

void plan__of_fewer_queues_than_asked_for(void **) {
  assert_true(told(16, 0, {.most = 8, .rss = true}) == (Texts{"RSS over 8 queues", "one queue"}));
  constexpr QueueAbilities able{.most = 8, .rss = true, .rules = true};
  assert_true(told(4, 12, able)[0] == "flow rules, 1 + 7 queues");
  assert_true(told(4, 12, able)[1] == "RSS over 4 queues");
  assert_true(told(8, 2, able)[0] == "flow rules, 6 + 2 queues");
  assert_true(told(4, 4, {.most = 0}) == Texts{"one queue"}); // nothing is known
}

void plan__of_a_device_without_rss(void **) {
  assert_true(told(4, 0, {.most = 8}) == Texts{"one queue"});
  assert_true(told(4, 2, {.most = 8, .rules = true}) ==
              (Texts{"flow rules, 1 + 2 queues", "one queue"}));
}

// A queue of these that nobody looks at swallows packets.
void plan__of_a_driver_that_spreads_by_itself(void **) {
  for (const std::uint32_t pool : {1u, 4u, 9u})
    assert_true(told(pool, 0, {.most = 4, .by_itself = true}) == Texts{"fanout over 4 queues"});
  assert_true(told(4, 0, {.most = 1, .by_itself = true}) == Texts{"one queue"});
  for (const std::uint32_t rules : {2u, 3u})
    for (const QueuePlan &p : plan_queues(1, rules, {.most = 4, .by_itself = true, .rules = true}))
      assert_true(p.total() == 4 && p.spread == Spread::driver);
}

void plan__the_numbers_fit_the_device(void **) {
  for (const bool rss : {false, true})
    for (const bool rules : {false, true})
      for (std::uint16_t most = 1; most < 20; ++most)
        for (std::uint32_t pool = 1; pool < 20; ++pool)
          for (std::uint32_t own = 0; own < 20; ++own) {
            const auto plans = plan_queues(pool, own, {.most = most, .rss = rss, .rules = rules});
            assert_int_equal(plans.back().total(), 1);
            for (const QueuePlan &p : plans)
              assert_true(p.pool >= 1 && p.total() <= most && p.pool <= pool && p.rules <= own &&
                          (p.pool == 1) == (p.spread == Spread::none));
          }
}

const CMUnitTest cases[] = {
    cmocka_unit_test(plan__of_a_device_that_can_all),
    cmocka_unit_test(plan__of_fewer_queues_than_asked_for),
    cmocka_unit_test(plan__of_a_device_without_rss),
    cmocka_unit_test(plan__of_a_driver_that_spreads_by_itself),
    cmocka_unit_test(plan__the_numbers_fit_the_device),
};
const unit::Group group{"ethdev_queue_plan", cases};

} // namespace
