// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/simulate/uniform_loops.h"

#include <algorithm>
#include <set>

namespace collc {

namespace {

class loop_analysis {
public:
  explicit loop_analysis(const statement &loop) : turning_{loop.variable} { walk(loop.body); }

  [[nodiscard]] bool uniform() const { return uniform_; }
  [[nodiscard]] std::vector<int> others() const { return {others_.begin(), others_.end()}; }

private:
  // Changes from turn to turn.
  [[nodiscard]] bool turns(const expression_ptr &e) const {
    if (!e)
      return false;
    if (e->what == expression::kind::variable)
      return turning_.contains(static_cast<int>(e->value));
    return turns(e->a) || turns(e->b) || turns(e->c);
  }

  void collect(const expression_ptr &e) {
    if (!e)
      return;
    if (e->what == expression::kind::variable && !turns(e))
      others_.insert(static_cast<int>(e->value));
    collect(e->a);
    collect(e->b);
    collect(e->c);
  }

  void must_stay(const expression_ptr &e) { uniform_ = uniform_ && !turns(e); }
  void may_turn(const expression_ptr &e) {
    if (!turns(e))
      return;
    uniform_ = uniform_ && !e->varies;
    collect(e);
  }

  void walk(const std::vector<statement> &body) {
    for (const auto &s : body)
      walk(s);
  }

  void walk(const statement &s) {
    switch (s.what) {
    case statement::kind::let:
      if (turns(s.value)) {
        turning_.insert(s.variable);
        collect(s.value);
      }
      break;
    case statement::kind::require:
    case statement::kind::round:
      may_turn(s.value);
      break;
    case statement::kind::branch:
    case statement::kind::path:
    case statement::kind::send:
    case statement::kind::receive:
      must_stay(s.value);
      break;
    case statement::kind::loop:
      must_stay(s.value);
      must_stay(s.last);
      must_stay(s.step);
      break;
    case statement::kind::combine:
    case statement::kind::copy_at_start:
    case statement::kind::copy_at_finish:
      break;
    }
    for (const auto &p : s.pieces) {
      may_turn(p.from.offset);
      may_turn(p.from.length);
      may_turn(p.to_offset);
    }
    may_turn(s.after);
    walk(s.body);
    walk(s.otherwise);
  }

  std::set<int> turning_, others_;
  bool uniform_ = true;
};

} // namespace

void uniform_loops::find(const std::vector<statement> &body) {
  for (const auto &s : body) {
    if (s.what == statement::kind::loop)
      if (const loop_analysis a(s); a.uniform()) {
        known_[&s] = a.others();
        continue; // those within it are run turn by turn
      }
    find(s.body);
    find(s.otherwise);
  }
}

} // namespace collc
