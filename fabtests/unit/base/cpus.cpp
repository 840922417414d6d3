// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/cpus.h"

#include <sched.h>

#include "unit/unit.h"

using namespace dpdkx;

static void cpus__are_those_of_the_thread(void **) {
  cpu_set_t before;
  assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
  int first = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(first), &before))
    ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(first), &one);
  assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
  const bool runs_there = may_run_on(first), runs_elsewhere = may_run_on(first + 1);
  const std::string list = allowed_cpus();
  assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
  assert_true(runs_there);
  assert_false(runs_elsewhere);
  assert_string_equal(list.c_str(), std::to_string(first).c_str());
}

static void cpus__numbers_that_are_none(void **) {
  for (const int cpu : {-1, CPU_SETSIZE, CPU_SETSIZE - 1, 1 << 30})
    assert_false(may_run_on(cpu));
}

// Each listed one may be run on, and nothing between the ranges.
static void cpus__a_list_of_ranges(void **) {
  std::string told;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!may_run_on(cpu))
      continue;
    const bool begins = !may_run_on(cpu - 1), ends = !may_run_on(cpu + 1);
    if (begins)
      told += (told.empty() ? "" : ",") + std::to_string(cpu);
    if (!begins && ends)
      told += "-" + std::to_string(cpu);
  }
  assert_string_equal(allowed_cpus().c_str(), told.c_str());
}

static void pinning__lets_go_again(void **) {
  const std::string before = allowed_cpus();
  int first = 0;
  while (!may_run_on(first))
    ++first;
  const Pinning pinning(pthread_self());
  assert_true(pinning.to(first));
  const std::string pinned = allowed_cpus();
  const bool nowhere = pinning.to(CPU_SETSIZE - 1);
  assert_true(pinning.to(-1));
  assert_string_equal(pinned.c_str(), std::to_string(first).c_str());
  assert_false(nowhere);
  assert_string_equal(allowed_cpus().c_str(), before.c_str());
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(cpus__are_those_of_the_thread),
    cmocka_unit_test(cpus__numbers_that_are_none),
    cmocka_unit_test(cpus__a_list_of_ranges),
    cmocka_unit_test(pinning__lets_go_again),
};
static const unit::Group group{"cpus", cases};
