// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/random_key.h"

#include <set>

#include "unit/unit.h"

namespace {

// All of their bits are used, and no others.
void draw_key__is_of_that_size(void **) {
  for (std::size_t size = 1; size <= 8; ++size) {
    const std::uint64_t most = size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << size * 8) - 1;
    std::uint64_t some = 0, every = most;
    for (int i = 0; i < 200; ++i) {
      std::uint64_t key = 0;
      assert_int_equal(util_ext::draw_key(size, key), 0);
      assert_true(key <= most);
      some |= key;
      every &= key;
    }
    assert_true(some == most);
    assert_true(every == 0);
  }
}

void draw_key__draws_another_each_time(void **) {
  std::set<std::uint64_t> keys;
  for (int i = 0; i < 1000; ++i) {
    std::uint64_t key = 0;
    assert_int_equal(util_ext::draw_key(8, key), 0);
    keys.insert(key);
  }
  assert_int_equal(keys.size(), 1000);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(draw_key__is_of_that_size),
    cmocka_unit_test(draw_key__draws_another_each_time),
};
static const unit::Group group{"random_key", cases};
