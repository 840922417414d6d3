// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a simulation tells: both kinds of progress side by side.
#pragma once

#include "collc/simulate/simulate.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace collc {

std::string simulation_text(const compiler &c, const loggops &how, const simulation &s);
nlohmann::json simulation_json(const compiler &c, const loggops &how, const simulation &s);

} // namespace collc
