// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/check/matching.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace collc {

namespace {

using key =
    std::tuple<std::int64_t, std::int64_t, std::int64_t, std::uint32_t>; // path, from, to, ordinal

// In order, with what adjoins made one.
std::vector<range> merged(std::vector<range> all) {
  std::ranges::sort(all, {}, [](const range &r) { return std::tuple(r.buffer, r.offset); });
  std::vector<range> out;
  for (const range &r : all) {
    if (!out.empty() && out.back().buffer == r.buffer &&
        out.back().offset + out.back().length == r.offset)
      out.back().length += r.length;
    else
      out.push_back(r);
  }
  return out;
}

std::string text_of(const algorithm &a, const std::vector<range> &all) {
  std::string text;
  for (const range &r : all)
    text += (text.empty() ? "" : ", ") + a.buffer_name(r.buffer) + '[' + std::to_string(r.offset) +
            ':' + std::to_string(r.length) + ']';
  return text.empty() ? "no bytes" : text;
}

class matching {
public:
  matching(const algorithm &a, const request &q) : a_(a) {
    for (std::int64_t rank = 0; rank < q.ranks; ++rank)
      programs_.push_back(expand(a, q, rank));
  }

  std::vector<finding> run() {
    for (const auto &p : programs_)
      for (const auto &path : p.paths)
        for (const auto &r : path.receives)
          receives_[{path.number, r.peer, p.rank, r.ordinal}] = &r;
    for (const auto &p : programs_)
      for (const auto &path : p.paths)
        for (const auto &s : path.sends)
          if (auto f = compare({path.number, p.rank, s.peer, s.ordinal}, s, p.rounds >= 0);
              !f.explanation.empty())
            return {std::move(f)};
    for (const auto &[k, r] : receives_)
      return {
          {"matching", message(k) + " is received, but not sent", {"received at " + where(r->at)}}};
    return {};
  }

private:
  static std::string message(const key &k) {
    return "message " + std::to_string(std::get<3>(k) + 1) + " from rank " +
           std::to_string(std::get<1>(k)) + " to rank " + std::to_string(std::get<2>(k));
  }
  [[nodiscard]] std::string where(place at) const {
    return a_.file + ':' + std::to_string(at.line) + ':' + std::to_string(at.column);
  }

  finding compare(const key &k, const sending &s, bool same_rounds) {
    const auto found = receives_.find(k);
    if (found == receives_.end())
      return {"matching", message(k) + " is sent, but not received", {"sent at " + where(s.at)}};
    const receiving &r = *found->second;
    receives_.erase(found);
    std::vector<range> to;
    for (const piece &m : s.pieces)
      to.push_back(m.to());
    to = merged(std::move(to));
    const std::vector<range> into = merged(r.places);
    std::string what;
    if (s.has_data != r.has_data)
      what = s.has_data ? " has data, but is received as a signal"
                        : " is a signal, but is received as data";
    else if (s.combines != r.combines)
      what = s.combines ? " combines, but is received as one that does not"
                        : " does not combine, but is received as one that does";
    else if (same_rounds && s.round != r.round)
      what = " is sent in round " + std::to_string(s.round) + ", but received in round " +
             std::to_string(r.round);
    else if (to != into)
      what = " goes to " + text_of(a_, to) + ", but is received in " + text_of(a_, into);
    if (what.empty())
      return {};
    return {
        "matching", message(k) + what, {"sent at " + where(s.at), "received at " + where(r.at)}};
  }

  const algorithm &a_;
  std::vector<rank_program> programs_;
  std::map<key, const receiving *> receives_;
};

} // namespace

std::vector<finding> check_matching(const algorithm &a, const request &q) {
  return matching(a, q).run();
}

} // namespace collc
