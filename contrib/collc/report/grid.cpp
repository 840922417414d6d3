// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/report/grid.h"

#include <algorithm>

#include <fmt/format.h>

namespace collc {

std::string text_of(const grid &g) {
  std::vector<std::size_t> widths;
  for (const auto &c : g.columns)
    widths.push_back(c.heading.size());
  for (const auto &row : g.rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  const auto line = [&](const auto &cell_of) {
    std::string text;
    for (std::size_t i = 0; i < g.columns.size(); ++i)
      text += fmt::format(fmt::runtime(g.columns[i].right ? "{}{:>{}}" : "{}{:<{}}"),
                          i == 0 ? "" : "  ", cell_of(i), widths[i]);
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  };
  line([&](std::size_t i) { return g.columns[i].heading; });
  for (const auto &row : g.rows)
    line([&](std::size_t i) { return row[i]; });
  return out;
}

} // namespace collc
