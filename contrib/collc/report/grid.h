// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include <string>
#include <vector>

namespace collc {

// Columns under their headings; numbers to the right, where `right` says so.
struct grid {
  struct column {
    std::string heading;
    bool right = false;
  };
  std::vector<column> columns;
  std::vector<std::vector<std::string>> rows;
};

std::string text_of(const grid &g);

} // namespace collc
