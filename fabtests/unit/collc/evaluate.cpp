// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/ir/evaluate.h"
#include "unit/property.h"

#include "unit/collc/compiled.h"

using namespace collc;

namespace {

std::int64_t value_of(const std::string &expression) {
  const algorithm a = unit::text("collective barrier let x = " + expression);
  const std::string file = "t";
  evaluator value(file, a.slots);
  value.slot(slot_ranks) = 8;
  value.slot(slot_rank) = 3;
  return value(*a.body.front().value);
}

void refused(const std::string &expression, const std::string &why) {
  unit::expect_part(unit::complaint([&] { value_of(expression); }), why);
}

} // namespace

static void evaluate__operators_bind_as_usual(void **) {
  assert_int_equal(value_of("2 + 3 * 4 - 1"), 13);
  assert_int_equal(value_of("(2 + 3) * 4"), 20);
  assert_int_equal(value_of("1 << 2 + 1"), 8);
  assert_int_equal(value_of("10 - 3 - 2"), 5);
  assert_int_equal(value_of("rank xor 1 << 1"), 1);
  assert_int_equal(value_of("1 < 2 and not 2 > 3"), 1);
  assert_int_equal(value_of("0 or 1 == 1"), 1);
  assert_int_equal(value_of("if rank >= 3 then 5 else 1 / 0"), 5);
  assert_int_equal(value_of("0 and 1 / 0"), 0);
  assert_int_equal(value_of("1 or 1 / 0"), 1);
  assert_int_equal(value_of("-rank + ranks"), 5);
}

static void evaluate__division_is_downwards(void **) {
  assert_int_equal(value_of("-1 % 8"), 7);
  assert_int_equal(value_of("-1 / 8"), -1);
  assert_int_equal(value_of("7 / 2"), 3);
  assert_int_equal(value_of("7 % -2"), -1);
  assert_true(rc::check("a = a / b * b + a % b", [](std::int32_t a, std::int32_t b) {
    RC_PRE(b != 0);
    const auto number = [](std::int64_t n) {
      return n < 0 ? "(0 - " + std::to_string(-n) + ')' : std::to_string(n);
    };
    const std::int64_t quotient = value_of(number(a) + " / " + number(b));
    const std::int64_t rest = value_of(number(a) + " % " + number(b));
    RC_ASSERT(quotient * b + rest == a);
    RC_ASSERT(rest == 0 || (rest < 0) == (b < 0));
  }));
}

static void evaluate__functions(void **) {
  assert_int_equal(value_of("log2(1)"), 0);
  assert_int_equal(value_of("log2(82944)"), 16);
  assert_int_equal(value_of("ceil_log2(1)"), 0);
  assert_int_equal(value_of("ceil_log2(8)"), 3);
  assert_int_equal(value_of("ceil_log2(9)"), 4);
  assert_int_equal(value_of("trailing_zeros(12)"), 2);
  assert_int_equal(value_of("min(3, -2) * 10 + max(3, 4)"), -16);
}

static void evaluate__refuses_what_has_no_value(void **) {
  refused("1 / (rank - 3)", "t:1:30: expected a divisor other than 0");
  refused("1 % 0", "expected a divisor other than 0");
  refused("9223372036854775807 + 1", "expected a result that fits in 64 bits");
  refused("9223372036854775807 * 2", "expected a result that fits in 64 bits");
  refused("-9223372036854775807 - 2", "expected a result that fits in 64 bits");
  refused("-(-9223372036854775807 - 1)", "expected a result that fits in 64 bits");
  refused("(-9223372036854775807 - 1) / -1", "expected a quotient that fits in 64 bits");
  refused("1 << 63", "expected a shift by 0 to 62, found 63");
  refused("4 << 62", "expected a result that fits in 64 bits, found 4 << 62");
  refused("1 >> -1", "expected a shift by 0 to 62, found -1");
  refused("log2(0)", "expected a number of at least 1, found 0");
  refused("trailing_zeros(0)", "expected a number other than 0");
}

static const CMUnitTest cases[] = {cmocka_unit_test(evaluate__operators_bind_as_usual),
                                   cmocka_unit_test(evaluate__division_is_downwards),
                                   cmocka_unit_test(evaluate__functions),
                                   cmocka_unit_test(evaluate__refuses_what_has_no_value)};
static const unit::Group group{"evaluate", cases};
