// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/check/check.h"

#include "collc/check/landing.h"
#include "collc/check/levels.h"
#include "collc/check/matching.h"
#include "collc/check/races.h"
#include "collc/check/result.h"

#include <nlohmann/json.hpp>

namespace collc {

std::vector<finding> check(compiler &c) {
  if (auto found = check_matching(c.source(), c.asked()); !found.empty())
    return found;
  try {
    return check(world(c));
  } catch (const limit_error &e) {
    return {{"limits", e.what(), {}}};
  }
}

std::vector<finding> check(const world &w) {
  if (auto found = check_levels(w); !found.empty())
    return found;
  const execution run(w);
  if (auto found = run.stuck(); !found.empty())
    return found;
  if (auto found = check_races(w, run); !found.empty())
    return found;
  if (auto found = check_landing(w, run); !found.empty())
    return found;
  return check_result(w, run);
}

std::string findings_text(const compiler &c, const std::vector<finding> &all) {
  std::string text = c.source().file + ", " + std::to_string(c.asked().ranks) + " ranks";
  if (all.empty())
    return text + ": matching, limits, levels, deadlock, races, " +
           (c.how().landing ? "landing, " : "") + "data: nothing found\n";
  text += ":\n";
  for (const finding &f : all) {
    text += f.check + ": " + f.explanation + '\n';
    for (const std::string &line : f.trace)
      text += "    " + line + '\n';
  }
  return text;
}

nlohmann::json findings_json(const compiler &c, const std::vector<finding> &all) {
  auto list = nlohmann::json::array();
  for (const finding &f : all)
    list.push_back({{"check", f.check}, {"explanation", f.explanation}, {"trace", f.trace}});
  return {
      {"algorithm", c.source().file}, {"ranks", c.asked().ranks}, {"findings", std::move(list)}};
}

} // namespace collc
