// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/burst_lock.h"

#include <mutex>
#include <thread>

#include "unit/unit.h"

using namespace dpdkx;

static void lock__keeps_others_out(void **) {
  constexpr int times = 100'000;
  BurstLock lock;
  int n = 0;
  const auto add = [&] {
    for (int i = 0; i < times; ++i) {
      const std::lock_guard held(lock);
      ++n;
    }
  };
  std::thread other(add);
  add();
  other.join();
  assert_int_equal(n, 2 * times);
}

static void lock__is_not_had_twice(void **) {
  for (const bool shared : {true, false}) {
    BurstLock lock(shared);
    assert_true(lock.try_lock());
    assert_false(lock.try_lock());
    lock.unlock();
    assert_true(lock.try_lock());
    lock.unlock();
  }
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(lock__keeps_others_out),
    cmocka_unit_test(lock__is_not_had_twice),
};
static const unit::Group group{"burst_lock", cases};
