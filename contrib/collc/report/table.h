// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "collc/lower/lower.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace collc {

// A rank's works in the form that its kind of schedule has in the papers; with_data: also what
// moves.
std::string table_text(const compiler &c, const rank_schedule &s, bool with_data);
nlohmann::json table_json(const compiler &c, const rank_schedule &s);

} // namespace collc
