// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/flat_map.h"

#include <map>

#include "unit/property.h"
#include "unit/unit.h"

using dpdkx::net::FlatMap;

static void flat_map__behaves_as_a_map(void **) {
  assert_true(unit::holds("any sequence of insertions and removals", [] {
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

namespace {

struct Pair {
  std::uint64_t one = 0, two = 0;
  friend bool operator==(const Pair &, const Pair &) = default;
  friend std::uint64_t hash_key(const Pair &pair) { return pair.one; } // two: told apart by ==
};

} // namespace

static void flat_map__keys_with_the_same_hash(void **) {
  dpdkx::net::FlatMapOf<Pair> map;
  for (std::uint32_t i = 0; i < 40; ++i)
    assert_true(map.insert({i % 3, i}, i));
  assert_false(map.insert({1, 1}, 7));
  assert_true(map.erase({0, 3}));
  for (std::uint32_t i = 0; i < 40; ++i)
    assert_int_equal(map.find({i % 3, i}), i == 3 ? FlatMap::none : i);
  assert_int_equal(map.find({1, 0}), FlatMap::none);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(flat_map__behaves_as_a_map),
    cmocka_unit_test(flat_map__keys_with_the_same_hash),
    cmocka_unit_test(flat_map__many_neighbouring_keys),
};
static const unit::Group group{"flat_map", cases};
