// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/flat_map.h"

#include <map>
#include <rapidcheck.h>

#include "unit/unit.h"

using dpdkx::net::FlatMap;

static void flat_map__behaves_as_a_map(void **) {
  assert_true(rc::check("any sequence of insertions and removals", [] {
    FlatMap map;
    std::map<std::uint64_t, std::uint32_t> model;
    auto steps = *rc::gen::container<std::vector<std::pair<bool, std::uint8_t>>>(
        300, rc::gen::arbitrary<std::pair<bool, std::uint8_t>>());
    std::uint32_t value = 0;
    for (auto [add, small] : steps) {
      // Few keys, in runs: the same slots again and again.
      std::uint64_t key = std::uint64_t{small} << 16 | small % 3;
      if (add)
        RC_ASSERT(map.insert(key, value) == model.emplace(key, value).second);
      else
        RC_ASSERT(map.erase(key) == (model.erase(key) == 1));
      ++value;
      RC_ASSERT(map.size() == model.size());
    }
    for (unsigned small = 0; small < 256; ++small) {
      std::uint64_t key = std::uint64_t{small} << 16 | small % 3;
      auto found = model.find(key);
      RC_ASSERT(map.find(key) == (found == model.end() ? FlatMap::none : found->second));
    }
  }));
}

static void flat_map__many_neighbouring_keys(void **) {
  FlatMap map;
  constexpr std::uint32_t n = 20000;
  for (std::uint32_t i = 0; i < n; ++i)
    assert_true(map.insert((0x0a000000ull + i) << 16 | 5000, i));
  for (std::uint32_t i = 0; i < n; i += 2)
    assert_true(map.erase((0x0a000000ull + i) << 16 | 5000));
  for (std::uint32_t i = 0; i < n; ++i)
    assert_int_equal(map.find((0x0a000000ull + i) << 16 | 5000), i % 2 ? i : FlatMap::none);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(flat_map__behaves_as_a_map),
    cmocka_unit_test(flat_map__many_neighbouring_keys),
};
static const unit::Group group{"flat_map", cases};
