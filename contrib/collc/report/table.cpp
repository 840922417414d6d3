// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/report/table.h"

#include "collc/report/grid.h"
#include "collc/report/names.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace collc {

namespace {

using cells = std::vector<std::string>;

std::string peer_text(const rank_schedule &s, const work &w) {
  if (w.peer < 0)
    return "-";
  return std::to_string(w.peer) + (w.peer == s.rank ? " (itself)" : "");
}

std::string round_text(const work &w) {
  if (w.why == role::finish)
    return "C";
  return w.round > 0 ? std::to_string(w.round) : "-";
}

std::string added(const work &w) {
  return w.why == role::finish ? signed_text(w.value) : std::to_string(w.value);
}

std::string message_text(const work &w) {
  if (w.why == role::finish || w.round == 0)
    return name_of(w.why);
  return name_of(w.why) + std::to_string(w.round);
}

std::string purpose(const rank_schedule &s, const work &w) {
  std::string text;
  switch (w.why) {
  case role::signal:
    text = "to " + peer_text(s, w);
    break;
  case role::raise:
    return "data have come: raise the level by " + std::to_string(w.value);
  case role::data:
    text = "data to " + std::to_string(w.peer);
    break;
  case role::end:
    text = "end of data to " + std::to_string(w.peer);
    break;
  default:
    text = name_of(w.why);
  }
  return w.note.empty() ? text : text + ": \"" + w.note + '"';
}

// Columns that only some schedules need.
struct extras {
  bool path = false, trigger = false, target = false, window = false;

  explicit extras(const rank_schedule &s) {
    for (const work &w : s.works) {
      path |= w.trigger.path != s.works.front().trigger.path;
      trigger |= w.trigger.what != counter_id::role::tank;
      target |= w.target.what != counter_id::role::tank;
    }
    window = s.windows > 1;
  }
  void head(grid &g, bool with_data) const {
    if (path)
      g.columns.push_back({"path", true});
    if (trigger)
      g.columns.push_back({"trigger"});
    if (target)
      g.columns.push_back({"target"});
    if (window)
      g.columns.push_back({"window", true});
    if (with_data)
      g.columns.push_back({"moves"});
  }
  void fill(cells &row, const algorithm &a, const work &w, bool with_data) const {
    if (path)
      row.push_back(std::to_string(w.trigger.path));
    if (trigger)
      row.push_back(name_of(w.trigger));
    if (target)
      row.push_back(w.value == 0 ? "-" : name_of(w.target));
    if (window)
      row.push_back(std::to_string(w.window + 1));
    if (with_data)
      row.push_back(w.moved.from.length > 0 ? text_of(a, w.moved) : "-");
  }
};

cells barrier_row(const rank_schedule &s, const work &w) {
  return {round_text(w), std::to_string(w.threshold), name_of(w.what), added(w), peer_text(s, w)};
}

cells message_row(const rank_schedule &s, const work &w) {
  return {message_text(w),
          round_text(w),
          w.real_round > 0 ? std::to_string(w.real_round) : "-",
          std::to_string(w.threshold),
          name_of(w.what),
          added(w),
          peer_text(s, w)};
}

cells source_row(const rank_schedule &s, const work &w, std::size_t i) {
  const bool local = w.what == operation::local_add;
  const std::string much = w.value == 0 ? "-" : added(w);
  return {std::to_string(i),  std::to_string(w.threshold), name_of(w.what),
          local ? much : "-", local ? "-" : much,          purpose(s, w)};
}

} // namespace

std::string table_text(const compiler &c, const rank_schedule &s, bool with_data) {
  grid g;
  if (s.barrier)
    g.columns = {{"r"}, {"Th", true}, {"operation"}, {"Iv", true}, {"peer"}};
  else if (s.single_source)
    g.columns = {{"Rq", true},           {"Th", true},           {"operation"},
                 {"adds locally", true}, {"adds at peer", true}, {"what for"}};
  else
    g.columns = {{"message"}, {"r"}, {"R", true}, {"Th", true}, {"op"}, {"Iv", true}, {"peer"}};
  const extras more(s);
  more.head(g, with_data);
  for (std::size_t i = 0; i < s.works.size(); ++i) {
    const work &w = s.works[i];
    g.rows.push_back(s.barrier         ? barrier_row(s, w)
                     : s.single_source ? source_row(s, w, i)
                                       : message_row(s, w));
    more.fill(g.rows.back(), c.source(), w, with_data);
  }
  std::string out = text_of(g);
  for (const tank &t : s.tanks)
    if (t.start > 0)
      out += "Start pours " + std::to_string(t.start) + " into " + name_of(t.id) + '\n';
  if (c.how().ahead > 0) {
    out += "RTRs are for the epoch " + std::to_string(c.how().ahead) + " later\n";
    for (const tank &t : s.tanks)
      if (t.told > 0)
        out += "in the epochs before, Start pours " + std::to_string(t.told) + " into " +
               name_of(t.id) + '\n';
  }
  if (s.works.empty())
    out += "nothing to do\n";
  return out;
}

nlohmann::json table_json(const compiler &c, const rank_schedule &s) {
  auto works = nlohmann::json::array();
  for (const work &w : s.works) {
    nlohmann::json j{{"message", name_of(w.why)},     {"threshold", w.threshold},
                     {"operation", name_of(w.what)},  {"value", w.value},
                     {"trigger", name_of(w.trigger)}, {"path", w.trigger.path},
                     {"window", w.window + 1}};
    if (w.peer >= 0)
      j["peer"] = w.peer;
    if (w.value != 0)
      j["target"] = name_of(w.target);
    if (w.round > 0)
      j["round"] = w.round;
    if (w.real_round > 0)
      j["real_round"] = w.real_round;
    if (w.ahead > 0)
      j["ahead"] = w.ahead;
    if (!w.note.empty())
      j["note"] = w.note;
    if (w.what == operation::write || w.what == operation::atomic) {
      j["completion"] = name_of(w.completion);
      j["moves"] = {{"bytes", w.moved.from.length},
                    {"from", c.source().buffer_name(w.moved.from.buffer)},
                    {"offset", w.moved.from.offset},
                    {"to", c.source().buffer_name(w.moved.to_buffer)},
                    {"at", w.moved.to_offset}};
    }
    if (w.what == operation::atomic) {
      j["atomic"] = c.how().combining.fi_operation;
      j["datatype"] = c.how().combining.fi_type;
    }
    works.push_back(std::move(j));
  }
  auto tanks = nlohmann::json::array();
  for (const tank &t : s.tanks)
    tanks.push_back(
        {{"name", name_of(t.id)}, {"start", t.start}, {"told_ahead", t.told}, {"full", t.full}});
  return {{"algorithm", c.source().file}, {"ranks", c.asked().ranks}, {"rank", s.rank},
          {"tanks", std::move(tanks)},    {"windows", s.windows},     {"works", std::move(works)}};
}

} // namespace collc
