// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "collc/check/finding.h"
#include "collc/check/world.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace collc {

// What is wrong with the collective as it is lowered; nothing: it is right, once. Stops at the
// first check that finds something.
std::vector<finding> check(compiler &c);
std::vector<finding> check(const world &w);

std::string findings_text(const compiler &c, const std::vector<finding> &all);
nlohmann::json findings_json(const compiler &c, const std::vector<finding> &all);

} // namespace collc
