// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "common/log_lines.h"

#include "common/settings.h"

#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabtest {

std::vector<std::string> provider_lines(const std::string &text) {
  const std::string own = "::" + config().provider + ":";
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find(own) != line.npos && line.find("fi_param_get") == line.npos)
      found.push_back(line);
  return found;
}

void expect_line(const std::vector<std::string> &lines, const std::vector<std::string> &parts,
                 where at) {
  if (lines.size() != 1)
    fail(fmt::format("{} lines in the log, expected 1: {}", lines.size(), fmt::join(lines, " | ")),
         at);
  for (const auto &part : parts)
    if (lines[0].find(part) == std::string::npos)
      fail(fmt::format("'{}' is not in the log line: {}", part, lines[0]), at);
}

} // namespace fabtest
