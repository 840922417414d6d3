// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/seq.h"

#include <type_traits>

#include "unit/property.h"
#include "unit/unit.h"

using namespace dpdkx;

namespace {

// Against 64 bits, in which nothing wraps.
void seq__orders_like_numbers_that_do_not_wrap(void **) {
  assert_true(unit::holds("seq orders like numbers that don't wrap", [] {
    const std::uint64_t a = *rc::gen::arbitrary<std::uint64_t>() >> 1;
    const auto by = *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(-3, 4),
                                    rc::gen::inRange<std::int64_t>(-0x7fffffff, 0x7fffffff),
                                    rc::gen::element<std::int64_t>(-0x7fffffff, 0x7fffffff));
    const std::uint64_t b = a + static_cast<std::uint64_t>(by);
    const PacketNumber x{static_cast<std::uint32_t>(a)}, y{static_cast<std::uint32_t>(b)};
    RC_ASSERT((x < y) == (0 < by));
    RC_ASSERT((x > y) == (0 > by));
    RC_ASSERT((x <= y) == (0 <= by));
    RC_ASSERT((x >= y) == (0 >= by));
    RC_ASSERT((x == y) == (0 == by));
    RC_ASSERT(y - x == by);
    RC_ASSERT(x + static_cast<std::uint32_t>(by) == y);
    RC_ASSERT(y - static_cast<std::uint32_t>(by) == x);
  }));
}

void seq__counts_across_the_wrap(void **) {
  PacketNumber n{0xffffffff};
  const PacketNumber before = n++;
  assert_int_equal(before.value, 0xffffffff);
  assert_int_equal(n.value, 0);
  assert_true(before < n);
  assert_int_equal((++n).value, 1);
}

void seq__kinds_do_not_mix(void **) {
  static_assert(!std::is_convertible_v<PacketNumber, MessageNumber>);
  static_assert(!std::is_convertible_v<PacketNumber, std::uint32_t>);
  static_assert(sizeof(PacketNumber) == 4);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(seq__orders_like_numbers_that_do_not_wrap),
    cmocka_unit_test(seq__counts_across_the_wrap),
    cmocka_unit_test(seq__kinds_do_not_mix),
};
const unit::Group group{"seq", cases};

} // namespace
