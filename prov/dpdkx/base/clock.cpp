// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/clock.h"

#include <ctime>

namespace dpdkx {

Time SystemClock::now() const {
  timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return Time(Duration(std::int64_t{ts.tv_sec} * 1'000'000'000 + ts.tv_nsec));
}

const SystemClock &SystemClock::instance() {
  static const SystemClock clock;
  return clock;
}

} // namespace dpdkx
