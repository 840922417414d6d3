// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The algorithms that come with the compiler, as texts.
#pragma once

#include "collc/lang/ast.h"

#include <span>
#include <string>
#include <string_view>

namespace collc {

struct builtin {
  std::string_view name; // COLLECTIVE:VARIANT
  std::string_view text;
};

std::span<const builtin> builtins(); // by name

// One of those, or a file where there is none of that name; throws error.
algorithm load(const std::string &name);
std::string text_of(const std::string &name);

} // namespace collc
