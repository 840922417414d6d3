// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "collc/ir/rank_program.h"
#include "collc/lang/ast.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace collc {

// What a rank does, and what each operation waits for.
std::string program_text(const algorithm &a, const rank_program &p);
nlohmann::json program_json(const algorithm &a, const rank_program &p);

} // namespace collc
