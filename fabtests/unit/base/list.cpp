// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/list.h"

#include <algorithm>
#include <vector>

#include "unit/property.h"
#include "unit/unit.h"

using namespace dpdkx;

namespace {

struct Item {
  int number = 0;
  ListLink<Item> link;
};
using Items = List<Item, &Item::link>;

std::vector<int> numbers(const Items &list) {
  std::vector<int> v;
  for (const Item *i = list.front(); i != nullptr; i = Items::next(i))
    v.push_back(i->number);
  RC_ASSERT(list.empty() == v.empty());
  RC_ASSERT((list.back() == nullptr) == v.empty());
  if (!v.empty())
    RC_ASSERT(list.back()->number == v.back());
  return v;
}

void list__is_a_vector(void **) {
  assert_true(unit::holds("list is a vector", [] {
    std::vector<Item> items(20);
    for (int i = 0; i < 20; ++i)
      items[static_cast<std::size_t>(i)].number = i;
    Items list;
    std::vector<int> model;
    for (int step = 0; step < 100; ++step) {
      Item &item = items[*rc::gen::inRange<std::size_t>(0, 20)];
      const auto at = std::find(model.begin(), model.end(), item.number);
      switch (*rc::gen::inRange(0, 4)) {
      case 0:
        if (at == model.end()) {
          list.push_back(&item);
          model.push_back(item.number);
        }
        break;
      case 1:
        if (at == model.end()) {
          list.push_front(&item);
          model.insert(model.begin(), item.number);
        }
        break;
      case 2:
        if (at != model.end()) {
          list.erase(&item);
          model.erase(at);
          RC_ASSERT(item.link.next == nullptr && item.link.prev == nullptr);
        }
        break;
      default:
        if (Item *first = list.pop_front()) {
          RC_ASSERT(first->number == model.front());
          model.erase(model.begin());
        }
      }
      RC_ASSERT(numbers(list) == model);
    }
  }));
}

void insert_before__takes_any_place(void **) {
  Item a{1, {}}, b{2, {}}, c{3, {}};
  Items list;
  list.insert_before(nullptr, &c);
  list.insert_before(&c, &a);
  list.insert_before(&c, &b);
  assert_true(numbers(list) == (std::vector{1, 2, 3}));
}

void splice_back__empties_the_other(void **) {
  Item a{1, {}}, b{2, {}}, c{3, {}};
  Items one, two;
  one.push_back(&a);
  two.push_back(&b);
  two.push_back(&c);
  one.splice_back(two);
  assert_true(two.empty());
  assert_true(numbers(one) == (std::vector{1, 2, 3}));
  one.splice_back(two);
  assert_true(numbers(one) == (std::vector{1, 2, 3}));
}

const CMUnitTest cases[] = {
    cmocka_unit_test(list__is_a_vector),
    cmocka_unit_test(insert_before__takes_any_place),
    cmocka_unit_test(splice_back__empties_the_other),
};
const unit::Group group{"list", cases};

} // namespace
