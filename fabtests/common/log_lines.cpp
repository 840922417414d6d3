// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "common/log_lines.h"

#include "common/settings.h"

#include <sstream>

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

} // namespace fabtest
