// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Loops of a text whose turns differ in what is the same for all ranks alone: in rounds and places.
// Whom a rank sends to, and whether, is the same in each turn. So the first turn tells of all, as
// in a pipeline, whose segments go the same way.
#pragma once

#include "collc/lang/ast.h"

#include <unordered_map>
#include <vector>

namespace collc {

class uniform_loops {
public:
  explicit uniform_loops(const algorithm &a) { find(a.body); }

  // Null: it is none. Else the variables, other than the loop's own and what depends on it, on
  // which its turns depend.
  [[nodiscard]] const std::vector<int> *find(const statement &loop) const {
    const auto at = known_.find(&loop);
    return at == known_.end() ? nullptr : &at->second;
  }

private:
  void find(const std::vector<statement> &body);
  std::unordered_map<const statement *, std::vector<int>> known_;
};

} // namespace collc
