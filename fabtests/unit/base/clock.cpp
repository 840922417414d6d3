// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/clock.h"

#include <thread>

#include "unit/unit.h"

using namespace dpdkx;

namespace {

void system_clock__goes_forward_at_the_right_rate(void **) {
  const Clock &clock = SystemClock::instance();
  const auto reference = std::chrono::steady_clock::now();
  const Time start = clock.now();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const Duration passed = clock.now() - start;
  const Duration wanted = std::chrono::steady_clock::now() - reference;
  assert_true(passed >= std::chrono::milliseconds(5));
  assert_true(passed <= wanted);
}

void never__is_later_than_anything(void **) {
  assert_true(never > SystemClock::instance().now() + std::chrono::hours(1000000));
}

const CMUnitTest cases[] = {
    cmocka_unit_test(system_clock__goes_forward_at_the_right_rate),
    cmocka_unit_test(never__is_later_than_anything),
};
const unit::Group group{"clock", cases};

} // namespace
