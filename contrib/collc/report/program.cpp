// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/report/program.h"

#include "collc/report/names.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace collc {

namespace {

std::string text_of(const algorithm &a, const range &r) {
  return fmt::format("{}[{}:{}]", a.buffer_name(r.buffer), r.offset, r.length);
}

std::string waits(std::int64_t after) {
  return after > 0 ? fmt::format(", after what comes in rounds up to {}", after)
                   : ", from the start";
}

template <typename M, typename Parts>
std::string message(const algorithm &a, const M &m, const char *what, const Parts &parts) {
  std::string text = fmt::format("  round {}: {} {}", m.round, what, m.peer);
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? " " : ", ") + text_of(a, parts[i]);
  if (m.has_data && parts.empty())
    text += " no bytes";
  if (m.combines)
    text += " combining";
  text += waits(m.after);
  return m.note.empty() ? text + '\n' : text + ": \"" + m.note + "\"\n";
}

nlohmann::json json_of(const algorithm &a, const range &r) {
  return {{"buffer", a.buffer_name(r.buffer)}, {"offset", r.offset}, {"bytes", r.length}};
}

nlohmann::json json_of(const algorithm &a, const piece &p) {
  nlohmann::json j = json_of(a, p.from);
  j["to"] = a.buffer_name(p.to_buffer);
  j["at"] = p.to_offset;
  return j;
}

template <typename Parts> nlohmann::json all_of(const algorithm &a, const Parts &parts) {
  auto all = nlohmann::json::array();
  for (const auto &p : parts)
    all.push_back(json_of(a, p));
  return all;
}

template <typename M, typename Parts>
nlohmann::json json_of(const algorithm &a, const M &m, const char *what, const Parts &parts) {
  nlohmann::json j{{"what", what},
                   {"peer", m.peer},
                   {"round", m.round},
                   {"after", m.after},
                   {"signal", !m.has_data},
                   {"combining", m.combines},
                   {"pieces", all_of(a, parts)}};
  if (!m.note.empty())
    j["note"] = m.note;
  return j;
}

} // namespace

std::string program_text(const algorithm &a, const rank_program &p) {
  std::string out = fmt::format("rank {} of {}\n", p.rank, p.ranks);
  for (std::size_t b = 0; b < p.sizes.size(); ++b)
    if (p.sizes[b] > 0)
      out += fmt::format("buffer {}: {} bytes\n", a.buffer_name(static_cast<int>(b)), p.sizes[b]);
  for (const piece &c : p.start)
    out += "start: copy " + text_of(a, c) + '\n';
  for (const auto &path : p.paths) {
    out += fmt::format("path {}\n", path.number);
    for (const auto &r : path.receives)
      out += message(a, r, "recv", r.places);
    for (const auto &s : path.sends)
      out += message(a, s, "send", s.pieces);
    for (const auto &c : path.combines)
      out += fmt::format("  round {}: combine {}, after what comes in rounds up to {}\n", c.round,
                         text_of(a, c.what), c.round);
  }
  for (const piece &c : p.finish)
    out += "finish: copy " + text_of(a, c) + '\n';
  return out;
}

nlohmann::json program_json(const algorithm &a, const rank_program &p) {
  nlohmann::json j{{"algorithm", a.file}, {"rank", p.rank}, {"ranks", p.ranks}};
  if (p.rounds >= 0)
    j["rounds"] = p.rounds;
  for (std::size_t b = 0; b < p.sizes.size(); ++b)
    j["buffers"][a.buffer_name(static_cast<int>(b))] = p.sizes[b];
  j["start"] = all_of(a, p.start);
  j["finish"] = all_of(a, p.finish);
  j["paths"] = nlohmann::json::array();
  for (const auto &path : p.paths) {
    auto all = nlohmann::json::array();
    for (const auto &r : path.receives)
      all.push_back(json_of(a, r, "recv", r.places));
    for (const auto &s : path.sends)
      all.push_back(json_of(a, s, "send", s.pieces));
    for (const auto &c : path.combines)
      all.push_back({{"what", "combine"},
                     {"round", c.round},
                     {"after", c.round},
                     {"pieces", nlohmann::json::array({json_of(a, c.what)})}});
    j["paths"].push_back({{"path", path.number}, {"operations", std::move(all)}});
  }
  return j;
}

} // namespace collc
