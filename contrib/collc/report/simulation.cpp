// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/report/simulation.h"

#include "collc/report/grid.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace collc {

namespace {

double ns(picoseconds t) { return static_cast<double>(t) / 1000; }

// To a picosecond, without zeros at the end.
std::string text_of(picoseconds t) {
  std::string text = fmt::format("{}.{:03}", t / 1000, t % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text;
}

nlohmann::json json_of(const simulated &s) {
  return {{"time_ns", ns(s.last)},
          {"first_ns", ns(s.first)},
          {"median_ns", ns(s.median)},
          {"messages", s.messages}};
}

} // namespace

std::string simulation_text(const compiler &c, const loggops &how, const simulation &s) {
  const auto &q = c.asked();
  std::string out = fmt::format("{}, {} ranks, {} bytes\n", c.source().file, q.ranks, q.bytes);
  out += fmt::format(
      "L {:g} ns, o {:g} ns, g {:g} ns, G {:g} ns/B, O {:g} ns/B, S {} B, F {:g} ns\n", how.latency,
      how.overhead, how.gap, how.gap_per_byte, how.overhead_per_byte, how.rendezvous, how.fire);
  grid g;
  g.columns = {{"ns"}};
  if (s.triggered)
    g.columns.push_back({"triggered", true});
  if (s.driven)
    g.columns.push_back({"CPU-driven", true});
  const auto row = [&](const char *what, const auto &cell_of) {
    g.rows.push_back({what});
    for (const auto *r : {&s.triggered, &s.driven})
      if (*r)
        g.rows.back().push_back(cell_of(**r));
  };
  row("time", [](const simulated &r) { return text_of(r.last); });
  row("first rank", [](const simulated &r) { return text_of(r.first); });
  row("median rank", [](const simulated &r) { return text_of(r.median); });
  row("messages", [](const simulated &r) { return std::to_string(r.messages); });
  return out + text_of(g);
}

nlohmann::json simulation_json(const compiler &c, const loggops &how, const simulation &s) {
  const auto &q = c.asked();
  nlohmann::json out = {{"algorithm", c.source().file},
                        {"ranks", q.ranks},
                        {"root", q.root},
                        {"bytes", q.bytes},
                        {"model",
                         {{"latency_ns", how.latency},
                          {"overhead_ns", how.overhead},
                          {"gap_ns", how.gap},
                          {"gap_per_byte_ns", how.gap_per_byte},
                          {"overhead_per_byte_ns", how.overhead_per_byte},
                          {"rendezvous_bytes", how.rendezvous},
                          {"fire_ns", how.fire}}}};
  if (s.triggered)
    out["triggered"] = json_of(*s.triggered);
  if (s.driven)
    out["driven"] = json_of(*s.driven);
  return out;
}

} // namespace collc
