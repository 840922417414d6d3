// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#define UNIT_MADE_ONCE
#include "unit/property.h"

UNIT_DRAWN_TYPES

namespace unit {

bool run_property(const std::string &name, const std::function<void()> &property) {
  return rc::check(name, property);
}

} // namespace unit
