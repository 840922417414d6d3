// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/slab.h"

#include <map>
#include <set>

#include "unit/property.h"
#include "unit/unit.h"

using namespace dpdkx;

namespace {

struct Item : SlabItem {
  int value = 0;
};

void name__finds_its_object_while_it_is_taken(void **) {
  assert_true(unit::holds("name finds its object while it is taken", [] {
    Slab<Item> slab(200);
    std::map<std::uint64_t, Item *> taken;
    std::set<std::uint64_t> given;
    for (int step = 0; step < 300; ++step) {
      if (*rc::gen::inRange(0, 3) != 0) {
        if (Item *item = slab.take()) {
          RC_ASSERT(taken.emplace(Slab<Item>::name(item), item).second);
          RC_ASSERT(given.count(Slab<Item>::name(item)) == 0);
        }
      } else if (!taken.empty()) {
        const auto victim = std::next(
            taken.begin(),
            *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(taken.size())));
        slab.give(victim->second);
        given.insert(victim->first);
        taken.erase(victim);
      }
    }
    for (const auto &[name, item] : taken)
      RC_ASSERT(slab.find(name) == item);
    for (const std::uint64_t name : given)
      RC_ASSERT(slab.find(name) == nullptr);
    RC_ASSERT(slab.taken() == taken.size());
    std::size_t seen = 0;
    slab.for_each_taken([&](Item &item) { seen += taken.count(Slab<Item>::name(&item)); });
    RC_ASSERT(seen == taken.size());
  }));
}

void take__ends_at_the_limit(void **) {
  Slab<Item> slab(65);
  for (int i = 0; i < 65; ++i)
    assert_non_null(slab.take());
  assert_null(slab.take());
  assert_int_equal(slab.taken(), 65);
}

void find__bears_any_name(void **) {
  Slab<Item> slab(10);
  assert_null(slab.find(0));
  assert_null(slab.find(~std::uint64_t{0}));
  Item *const item = slab.take();
  const std::uint64_t name = Slab<Item>::name(item);
  assert_ptr_equal(slab.find(name), item);
  for (unsigned bit = 0; bit < 64; ++bit)
    assert_null(slab.find(name ^ std::uint64_t{1} << bit));
  slab.give(item);
  for (std::uint64_t generation = 0; generation < 10; ++generation) // free: by no name
    assert_null(slab.find(generation << 32));
}

// After 2^31 uses of one object its names begin anew, without ever being 0.
void generation__wraps_past_zero(void **) {
  Slab<Item> slab(1);
  Item *item = slab.take();
  const std::uint64_t first = Slab<Item>::name(item);
  slab.give(item);
  item->slab_generation = 0xfffffffd;
  item = slab.take();
  const std::uint64_t last = Slab<Item>::name(item);
  assert_ptr_equal(slab.find(last), item);
  slab.give(item);
  assert_null(slab.find(last));
  item = slab.take();
  assert_true(Slab<Item>::name(item) == first && first != 0);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(name__finds_its_object_while_it_is_taken),
    cmocka_unit_test(take__ends_at_the_limit),
    cmocka_unit_test(find__bears_any_name),
    cmocka_unit_test(generation__wraps_past_zero),
};
const unit::Group group{"slab", cases};

} // namespace
