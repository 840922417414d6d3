// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "unit/unit.h"

#include <initializer_list>
#include <string>

// Every part is in the text.
inline void expect_parts(const std::string &text, std::initializer_list<const char *> parts) {
  for (const char *part : parts)
    if (text.find(part) == std::string::npos)
      fail_msg("'%s' isn't in '%s'", part, text.c_str());
}

inline void expect_equal(const std::string &text, const char *expected) {
  assert_string_equal(text.c_str(), expected);
}
