// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/queue_plan.h"

#include <algorithm>

namespace dpdkx::link {

namespace {

QueuePlan plan(std::uint32_t pool, std::uint32_t rules, const QueueAbilities &able) {
  const auto most = std::max<std::uint32_t>(able.most, 1);
  rules = able.rules ? std::min(rules, most - 1) : 0;
  if (able.by_itself)
    pool = most - rules; // one that isn't looked at would swallow its share
  else
    pool = able.rss ? std::clamp(pool, 1u, most - rules) : 1;
  const Spread spread = able.by_itself && most > 1 ? Spread::driver
                        : pool > 1                 ? Spread::rss
                                                   : Spread::none;
  return {static_cast<std::uint16_t>(pool), static_cast<std::uint16_t>(rules), spread};
}

} // namespace

std::vector<QueuePlan> plan_queues(std::uint32_t pool, std::uint32_t rules,
                                   const QueueAbilities &able) {
  std::vector<QueuePlan> plans{plan(pool, rules, able), plan(pool, 0, able)};
  if (!able.by_itself)
    plans.emplace_back();
  plans.erase(std::unique(plans.begin(), plans.end()), plans.end());
  return plans;
}

std::string to_string(const QueuePlan &p) {
  const auto pool = std::to_string(p.pool);
  if (p.rules != 0)
    return "flow rules, " + pool + " + " + std::to_string(p.rules) + " queues";
  switch (p.spread) {
  case Spread::driver:
    return "fanout over " + pool + " queues";
  case Spread::rss:
    return "RSS over " + pool + " queues";
  case Spread::none:
    break;
  }
  return "one queue";
}

} // namespace dpdkx::link
