// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/ir/evaluate.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace collc {

using kind = expression::kind;

void evaluator::refuse(place at, const std::string &what) const {
  throw text_error(file_, at, what);
}

std::int64_t evaluator::divided(const expression &e, std::int64_t a, std::int64_t by) const {
  if (by == 0)
    refuse(e.at, "expected a divisor other than 0");
  if (by == -1 && a == std::numeric_limits<std::int64_t>::min())
    refuse(e.at, "expected a quotient that fits in 64 bits");
  std::int64_t quotient = a / by, rest = a % by;
  if (rest != 0 && (rest < 0) != (by < 0)) {
    --quotient;
    rest += by;
  }
  return e.what == kind::divide ? quotient : rest;
}

std::int64_t evaluator::shifted(const expression &e, std::int64_t a, std::int64_t by) const {
  if (by < 0 || by > 62)
    refuse(e.at, "expected a shift by 0 to 62, found " + std::to_string(by));
  if (e.what == kind::shift_right)
    return a >> by;
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, std::int64_t{1} << by, &out))
    refuse(e.at, "expected a result that fits in 64 bits, found " + std::to_string(a) + " << " +
                     std::to_string(by));
  return out;
}

std::int64_t evaluator::logarithm(const expression &e) const {
  const std::int64_t a = (*this)(*e.a);
  if (e.what == kind::trailing_zeros) {
    if (a == 0)
      refuse(e.at, "expected a number other than 0");
    return std::countr_zero(static_cast<std::uint64_t>(a));
  }
  if (a < 1)
    refuse(e.at, "expected a number of at least 1, found " + std::to_string(a));
  const auto u = static_cast<std::uint64_t>(a);
  return e.what == kind::log2 ? std::bit_width(u) - 1 : std::bit_width(u - 1);
}

std::int64_t evaluator::binary(const expression &e) const {
  const std::int64_t a = (*this)(*e.a), b = (*this)(*e.b);
  std::int64_t out = 0;
  bool overflow = false;
  switch (e.what) {
  case kind::add:
    overflow = __builtin_add_overflow(a, b, &out);
    break;
  case kind::subtract:
    overflow = __builtin_sub_overflow(a, b, &out);
    break;
  case kind::multiply:
    overflow = __builtin_mul_overflow(a, b, &out);
    break;
  case kind::divide:
  case kind::modulo:
    return divided(e, a, b);
  case kind::shift_left:
  case kind::shift_right:
    return shifted(e, a, b);
  case kind::bit_xor:
    return a ^ b;
  case kind::equal:
    return a == b;
  case kind::unequal:
    return a != b;
  case kind::less:
    return a < b;
  case kind::less_or_equal:
    return a <= b;
  case kind::minimum:
    return std::min(a, b);
  default: // maximum
    return std::max(a, b);
  }
  if (overflow)
    refuse(e.at, "expected a result that fits in 64 bits, from " + std::to_string(a) + " and " +
                     std::to_string(b));
  return out;
}

std::int64_t evaluator::operator()(const expression &e) const {
  switch (e.what) {
  case kind::number:
    return e.value;
  case kind::variable:
    return values_[static_cast<std::size_t>(e.value)];
  case kind::negate: {
    std::int64_t out = 0;
    if (__builtin_sub_overflow(0, (*this)(*e.a), &out))
      refuse(e.at, "expected a result that fits in 64 bits");
    return out;
  }
  case kind::invert:
    return (*this)(*e.a) == 0;
  case kind::logical_and:
    return (*this)(*e.a) != 0 && (*this)(*e.b) != 0;
  case kind::logical_or:
    return (*this)(*e.a) != 0 || (*this)(*e.b) != 0;
  case kind::choice:
    return (*this)(*e.a) != 0 ? (*this)(*e.b) : (*this)(*e.c);
  case kind::log2:
  case kind::ceiling_log2:
  case kind::trailing_zeros:
    return logarithm(e);
  default:
    return binary(e);
  }
}

} // namespace collc
