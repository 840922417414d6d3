// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "collc/lang/ast.h"

#include <cstdint>
#include <string>
#include <vector>

namespace collc {

// An expression's value; throws text_error where there is none.
class evaluator {
public:
  evaluator(const std::string &file, int slots) : file_(file), values_(slots) {}
  std::int64_t operator()(const expression &e) const;
  std::int64_t &slot(int s) { return values_[static_cast<std::size_t>(s)]; }
  [[noreturn]] void refuse(place at, const std::string &what) const;

private:
  std::int64_t binary(const expression &e) const;
  std::int64_t shifted(const expression &e, std::int64_t a, std::int64_t by) const;
  std::int64_t divided(const expression &e, std::int64_t a, std::int64_t by) const;
  std::int64_t logarithm(const expression &e) const;

  const std::string &file_;
  std::vector<std::int64_t> values_;
};

} // namespace collc
