// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What is asked of the compiler: a collective of so many ranks, and what the machine can do.
#pragma once

#include "collc/lang/ast.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace collc {

struct request {
  std::int64_t ranks = 8, root = 0, bytes = 8;
  std::map<std::string, std::int64_t> parameters; // others have their defaults
  std::optional<readiness> ready;                 // instead of the algorithm's own
  std::uint64_t most_steps = 1u << 24;            // of a rank, before it is taken for endless
};

} // namespace collc
