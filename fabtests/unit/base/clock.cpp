// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/clock.h"

#include <atomic>
#include <ctime>
#include <thread>
#include <vector>

#include "unit/unit.h"

using namespace dpdkx;

namespace {

constexpr Duration tolerance = std::chrono::microseconds(1);

Time kernels_time() {
  timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return Time(std::chrono::seconds(ts.tv_sec) + Duration(ts.tv_nsec));
}

// Long enough for it to be read in each of its ways.
void system_clock__is_the_kernels(void **) {
  const Clock &clock = SystemClock::instance();
  const Time end = kernels_time() + std::chrono::milliseconds(20);
  for (Time before = kernels_time(); before < end;) {
    const Time told = clock.now();
    const Time after = kernels_time();
    assert_true(told >= before - tolerance);
    assert_true(told <= after + tolerance);
    before = after;
  }
}

void system_clock__is_right_after_a_pause(void **) {
  const Clock &clock = SystemClock::instance();
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    const Time before = kernels_time();
    const Time told = clock.now();
    assert_true(told >= before - tolerance);
    assert_true(told <= kernels_time() + tolerance);
  }
}

void system_clock__serves_threads_at_once(void **) {
  const Clock &clock = SystemClock::instance();
  std::atomic<unsigned> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const Time end = kernels_time() + std::chrono::milliseconds(10);
      for (Time before = kernels_time(); before < end; before = kernels_time()) {
        const Time told = clock.now();
        wrong += told < before - tolerance || told > kernels_time() + tolerance;
      }
    });
  for (auto &thread : threads)
    thread.join();
  assert_int_equal(wrong.load(), 0);
}

void never__is_later_than_anything(void **) {
  assert_true(never > SystemClock::instance().now() + std::chrono::hours(1000000));
}

const CMUnitTest cases[] = {
    cmocka_unit_test(system_clock__is_the_kernels),
    cmocka_unit_test(system_clock__is_right_after_a_pause),
    cmocka_unit_test(system_clock__serves_threads_at_once),
    cmocka_unit_test(never__is_later_than_anything),
};
const unit::Group group{"clock", cases};

} // namespace
