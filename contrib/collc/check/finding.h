// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include <string>
#include <vector>

namespace collc {

// Something that is wrong with a schedule.
struct finding {
  std::string check;              // which one found it
  std::string explanation;        // in one line
  std::vector<std::string> trace; // how it comes about
};

} // namespace collc
