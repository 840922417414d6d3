// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A parameter as command lines give it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace collc {

// NAME=NUMBER, of an option --set; throws error.
std::pair<std::string, std::int64_t> parse_setting(const std::string &text);

} // namespace collc
