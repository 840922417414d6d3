// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/check/random.h"

#include "dpdkx/base/clock.h"

#include <sys/random.h>

namespace dpdkx::check {

std::uint64_t draw() {
  std::uint64_t out = 0;
  // Before the kernel has any, which is when a machine starts, nobody guards anything with it.
  if (getrandom(&out, sizeof(out), 0) != sizeof(out))
    out = static_cast<std::uint64_t>(SystemClock::instance().now().time_since_epoch().count());
  return out;
}

} // namespace dpdkx::check
