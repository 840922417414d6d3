// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "collc/check/finding.h"
#include "collc/check/reuse_model.h"

#include <string>
#include <vector>

namespace collc {

struct reuse_result {
  std::vector<finding> found;
  std::uint64_t states = 0; // that were looked at
};

// Tries every order in which things can happen while a collective is started several times: finds
// the shortest one that breaks it, with the word that replays it. Throws error where there are more
// states than may be looked at.
reuse_result check_reuse(const world &w, const reuse_options &o);

// What happens in that order, line by line; the last one says what is wrong, if anything is. Throws
// error if it can't happen.
std::vector<std::string> replay(const world &w, const reuse_options &o, const std::string &order);

} // namespace collc
