// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lower/atomics.h"

#include "unit/collc/compiled.h"

using namespace collc;

static void atomics__what_is_defined(void **) {
  const atomic_kind sum = find_atomic("sum", "double_complex");
  assert_int_equal(sum.size, 16);
  assert_string_equal(sum.fi_operation.c_str(), "FI_SUM");
  assert_string_equal(sum.fi_type.c_str(), "FI_DOUBLE_COMPLEX");
  int defined = 0;
  for (const auto &o : atomic_operations())
    for (const auto &t : atomic_types())
      defined += unit::complaint([&] { find_atomic(o, t); }).empty();
  assert_int_equal(defined, 2 * 12 + 2 * 10 + 6 * 8);
}

static void atomics__refuses_the_others(void **) {
  unit::expect_same(
      unit::complaint([] { find_atomic("max", "float_complex"); }),
      "operation 'max' isn't defined for type 'float_complex'; it is for int8, uint8, "
      "int16, uint16, int32, uint32, int64, uint64, float, double");
  unit::expect_part(unit::complaint([] { find_atomic("maxloc", "double"); }),
                    "operation is 'maxloc'; allowed: sum, prod, min");
  unit::expect_part(unit::complaint([] { find_atomic("sum", "real"); }),
                    "type is 'real'; allowed: int8, ");
  request q;
  q.bytes = 12;
  unit::expect_same(unit::complaint([&] { unit::compiled c("reduce:flat", 4, {}, q); }),
                    "bytes is 12; allowed with type 'double': multiples of 8");
}

static const CMUnitTest cases[] = {cmocka_unit_test(atomics__what_is_defined),
                                   cmocka_unit_test(atomics__refuses_the_others)};
static const unit::Group group{"atomics", cases};
