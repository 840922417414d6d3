// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/user_ids.h"

#include <initializer_list>

#include "unit/unit.h"

using util_ext::UserIds;

namespace {

void get__is_the_index_until_one_is_set(void **) {
  UserIds ids;
  for (const std::uint64_t i : {0ULL, 63ULL, 64ULL, 191ULL, 192ULL, 0xffffffffULL, ~0ULL})
    assert_int_equal(ids.get(i), i);
  ids.set(64, 5);
  assert_int_equal(ids.get(63), 63);
  assert_int_equal(ids.get(64), 5);
  assert_int_equal(ids.get(65), 65);
  ids.reset(64);
  ids.reset(1000);
  assert_int_equal(ids.get(64), 64);
}

// At the borders of segments, where one index too few would be seen.
void set__changes_no_other(void **) {
  UserIds ids;
  for (std::uint64_t i = 0; i < 1000; ++i)
    ids.set(i, ~i);
  for (std::uint64_t i = 0; i < 1000; ++i)
    assert_int_equal(ids.get(i), ~i);
  ids.set((64 << 14) - 64, 7); // the first of a segment
  ids.set((64 << 14) - 65, 8); // the last of the one before
  assert_int_equal(ids.get((64 << 14) - 64), 7);
  assert_int_equal(ids.get((64 << 14) - 65), 8);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(get__is_the_index_until_one_is_set),
    cmocka_unit_test(set__changes_no_other),
};
static const unit::Group group{"user_ids", cases};
