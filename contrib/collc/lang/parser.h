// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The grammar is in collc(1).
#pragma once

#include "collc/lang/ast.h"

#include <string>
#include <string_view>

namespace collc {

// Throws text_error, with what was expected; `file` is for messages.
algorithm parse(std::string_view text, const std::string &file);

} // namespace collc
