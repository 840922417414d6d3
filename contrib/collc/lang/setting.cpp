// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lang/setting.h"

#include "collc/lang/error.h"

#include <charconv>

namespace collc {

std::pair<std::string, std::int64_t> parse_setting(const std::string &text) {
  const auto sign = text.find('=');
  std::int64_t value = 0;
  const char *const end = text.data() + text.size();
  const auto read = sign == std::string::npos
                        ? std::from_chars_result{text.data(), std::errc::invalid_argument}
                        : std::from_chars(text.data() + sign + 1, end, value);
  if (read.ec != std::errc{} || read.ptr != end)
    throw error("--set " + text + ": expected NAME=NUMBER");
  return {text.substr(0, sign), value};
}

} // namespace collc
