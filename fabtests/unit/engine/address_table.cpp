// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/engine/address_table.h"
#include "unit/property.h"

#include <algorithm>
#include <map>
#include <vector>

#include "unit/unit.h" // last: cmocka defines fail

using namespace dpdkx;
using namespace dpdkx::engine;

namespace {

struct Fixture {
  session::Gate gate{session::Params{}, Address::v4(1, 1), 7};
  ConnTable conns;
  AddressTable table{conns};

  static Address address(std::uint32_t n) {
    return Address::v4(0x0a000000 + n / 4, static_cast<std::uint16_t>(4000 + n % 4));
  }
  Conn *add(const Address &a) {
    Conn *c = conns.make(gate, a, nullptr, false);
    table.insert(c);
    return c;
  }
  void remove(Conn *c) {
    table.erase(c);
    conns.destroy(*c);
  }
};

void find__in_an_empty_table(void **) {
  Fixture f;
  assert_null(f.table.find(Fixture::address(1)));
  Conn *stranger = f.conns.make(f.gate, Fixture::address(1), nullptr, false);
  f.table.erase(stranger);
  assert_null(f.table.find(Fixture::address(1)));
}

void table__tells_addresses_apart(void **) {
  Fixture f;
  const Address v4 = Address::v4(0x0a000001, 4000);
  Address port = v4, v6 = v4;
  port.port = 4001;
  v6.ip[0] = 0xfe;
  Conn *a = f.add(v4), *b = f.add(port), *c = f.add(v6);
  assert_ptr_equal(f.table.find(v4), a);
  assert_ptr_equal(f.table.find(port), b);
  assert_ptr_equal(f.table.find(v6), c);
}

// A connection that is over, and one in its place, have one address for a while.
void erase__takes_the_one_that_is_meant(void **) {
  Fixture f;
  const Address a = Fixture::address(5);
  Conn *old = f.add(a);
  f.table.erase(old);
  Conn *fresh = f.add(a);
  f.table.erase(old); // once more: it isn't there
  assert_ptr_equal(f.table.find(a), fresh);
  f.remove(fresh);
  assert_null(f.table.find(a));
}

// Addresses whose places in a table of 16 are all the last or the first few, so
// that searches run around its end, and gaps that close move what has wrapped.
void erase__closes_gaps_around_the_end(void **) {
  std::vector<Address> crowd;
  for (std::uint32_t n = 0; crowd.size() < 11; ++n) {
    const Address a = Fixture::address(n);
    const std::size_t home = AddressHash{}(a)&15;
    if (home >= 13 || home <= 1)
      crowd.push_back(a);
  }
  std::ranges::sort(crowd, {}, [](const Address &a) { return AddressHash{}(a); });
  for (std::size_t first = 0; first < crowd.size(); ++first)
    for (std::size_t second = 0; second < crowd.size(); ++second) {
      Fixture f;
      std::vector<Conn *> conns;
      for (const Address &a : crowd)
        conns.push_back(f.add(a));
      for (const std::size_t i : {first, second}) {
        if (conns[i])
          f.table.erase(conns[i]);
        conns[i] = nullptr;
        for (std::size_t k = 0; k < crowd.size(); ++k)
          assert_ptr_equal(f.table.find(crowd[k]), conns[k]);
      }
    }
}

// Positive: that address comes; negative: it goes. Grows, and stays right.
void table__agrees_with_a_map(void **) {
  assert_true(rc::check("insert, erase", [](const std::vector<std::int16_t> &steps) {
    Fixture f;
    std::map<std::uint32_t, Conn *> model;
    for (int repeat = 0; repeat < 6; ++repeat)
      for (const std::int16_t s : steps) {
        const auto n = static_cast<std::uint32_t>(std::abs(int{s}) + repeat * 60) % 500;
        const auto known = model.find(n);
        if (s >= 0 && known == model.end()) {
          model[n] = f.add(Fixture::address(n));
        } else if (s < 0 && known != model.end()) {
          f.remove(known->second);
          model.erase(known);
        }
        RC_ASSERT(f.table.find(Fixture::address(n)) == (model.count(n) ? model[n] : nullptr));
      }
    for (std::uint32_t n = 0; n < 500; ++n)
      RC_ASSERT(f.table.find(Fixture::address(n)) == (model.count(n) ? model[n] : nullptr));
  }));
}

// Coming and going for ever must not fill it up: a search would never end.
void table__bears_churn(void **) {
  Fixture f;
  for (std::uint32_t n = 0; n < 20000; ++n) {
    f.remove(f.add(Fixture::address(n)));
    assert_null(f.table.find(Fixture::address(n + 1)));
  }
}

void table__of_many(void **) {
  Fixture f;
  std::vector<Conn *> conns;
  for (std::uint32_t n = 0; n < 20000; ++n)
    conns.push_back(f.add(Fixture::address(n)));
  for (std::uint32_t n = 0; n < 20000; n += 2)
    f.remove(conns[n]);
  for (std::uint32_t n = 0; n < 20000; ++n)
    assert_ptr_equal(f.table.find(Fixture::address(n)), n % 2 ? conns[n] : nullptr);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(find__in_an_empty_table),
    cmocka_unit_test(table__tells_addresses_apart),
    cmocka_unit_test(erase__takes_the_one_that_is_meant),
    cmocka_unit_test(erase__closes_gaps_around_the_end),
    cmocka_unit_test(table__agrees_with_a_map),
    cmocka_unit_test(table__bears_churn),
    cmocka_unit_test(table__of_many),
};
static const unit::Group group{"address_table", cases};
