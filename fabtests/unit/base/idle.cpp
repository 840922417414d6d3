// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/idle.h"

#include <atomic>
#include <sched.h>
#include <thread>

#include "unit/unit.h"

using namespace dpdkx;

// Two pollers on one processor: a yield takes as long as the other runs.
static void idle__learns_that_others_wait(void **) {
  cpu_set_t before, one;
  assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before))
      CPU_SET(cpu, &one);
  assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);

  std::atomic<bool> stop{false};
  std::thread other([&] { // inherits the processor; runs for a while, then gives way
    while (!stop) {
      const Time end = SystemClock::instance().now() + std::chrono::microseconds(50);
      while (SystemClock::instance().now() < end)
        ;
      sched_yield();
    }
  });
  Idle idle(0);
  const Time end = SystemClock::instance().now() + std::chrono::seconds(20);
  while (!idle.crowded() && SystemClock::instance().now() < end)
    idle.after_turn(false);
  const bool crowded = idle.crowded();
  stop = true;
  other.join();
  sched_setaffinity(0, sizeof(before), &before);
  assert_true(crowded);
}

static void idle__work_keeps_it_from_yielding(void **) {
  Idle idle(0);
  for (std::uint32_t i = 0; i < 100 * Idle::quiet_turns; ++i)
    idle.after_turn(i % 16 == 0);
  assert_false(idle.crowded());
}

static void idle__a_fixed_number_does_not_adapt(void **) {
  Idle idle(4);
  for (int i = 0; i < 100000; ++i)
    idle.after_turn(false);
  assert_false(idle.crowded());
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(idle__learns_that_others_wait),
    cmocka_unit_test(idle__work_keeps_it_from_yielding),
    cmocka_unit_test(idle__a_fixed_number_does_not_adapt),
};
static const unit::Group group{"idle", cases};
