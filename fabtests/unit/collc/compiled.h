// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// An algorithm, by name or as a text, ready to be asked about.
#pragma once

#include "collc/lang/builtin.h"
#include "collc/lang/parser.h"
#include "collc/lower/lower.h"

#include <string>
#include <vector>

#include "unit/unit.h"

namespace unit {

class compiled {
public:
  compiled(collc::algorithm a, std::int64_t ranks, const collc::lowering &how = {},
           const collc::request &more = {})
      : source_(std::move(a)), compiler_(source_, with_ranks(more, ranks), how) {}
  compiled(const std::string &name, std::int64_t ranks, const collc::lowering &how = {},
           const collc::request &more = {})
      : compiled(collc::load(name), ranks, how, more) {}
  compiled(const compiled &) = delete;
  compiled &operator=(const compiled &) = delete;

  collc::compiler *operator->() { return &compiler_; }
  collc::compiler &operator*() { return compiler_; }

private:
  static collc::request with_ranks(collc::request q, std::int64_t ranks) {
    q.ranks = ranks;
    return q;
  }
  collc::algorithm source_;
  collc::compiler compiler_;
};

inline std::vector<collc::rank_schedule> schedules(collc::compiler &c) {
  std::vector<collc::rank_schedule> all;
  for (std::int64_t rank = 0; rank < c.asked().ranks; ++rank)
    all.push_back(c.schedule(rank));
  return all;
}

inline collc::algorithm text(const std::string &t) { return collc::parse(t, "t"); }

// What the call says when it throws; empty if it doesn't.
template <typename Call> std::string complaint(Call call) {
  try {
    call();
  } catch (const collc::error &e) {
    return e.what();
  }
  return {};
}

inline void expect_same(const std::string &got, const std::string &wanted) {
  if (got != wanted)
    fail_msg("expected:\n%s\ngot:\n%s", wanted.c_str(), got.c_str());
}

inline void expect_part(const std::string &got, const std::string &part) {
  if (got.find(part) == std::string::npos)
    fail_msg("'%s' isn't in '%s'", part.c_str(), got.c_str());
}

} // namespace unit
