// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/engine/conn_table.h"
#include "unit/property.h"

#include <set>
#include <vector>

#include "unit/unit.h" // last: cmocka defines fail

using namespace dpdkx;
using namespace dpdkx::engine;

namespace {

struct Fixture {
  session::Gate gate{session::Params{}, Address::v4(1, 1), 7};
  ConnTable table;
  Conn *make(std::uint16_t port = 4000) {
    return table.make(gate, Address::v4(1, port), nullptr, false);
  }
};

void find__of_no_token(void **) {
  Fixture f;
  assert_null(f.table.find(wire::Token::none));
  assert_null(f.table.find(wire::Token{0xffffffffffffffff}));
  const Conn *c = f.make();
  const auto token = static_cast<std::uint64_t>(c->session.local_token());
  assert_null(f.table.find(wire::Token::none));
  assert_null(f.table.find(wire::Token{token ^ (std::uint64_t{1} << 32)})); // the random half
  assert_null(f.table.find(wire::Token{token + 1}));                        // a free place
  assert_null(f.table.find(wire::Token{token + 64}));                       // beyond all chunks
  assert_ptr_equal(f.table.find(wire::Token{token}), c);
}

// A place that is used again has another token: the old one finds nobody.
void token__of_one_that_is_gone_finds_nobody(void **) {
  Fixture f;
  std::set<wire::Token> gone;
  for (int i = 0; i < 200; ++i) {
    Conn *c = f.make();
    assert_int_equal(ConnTable::index_of(*c), 0);
    assert_false(gone.contains(c->session.local_token()));
    for (const wire::Token t : gone)
      assert_null(f.table.find(t));
    gone.insert(c->session.local_token());
    f.table.destroy(*c);
  }
}

void for_each__may_destroy_what_it_is_given(void **) {
  Fixture f;
  std::vector<Conn *> all;
  for (std::uint16_t i = 0; i < 200; ++i)
    all.push_back(f.make(i));
  std::size_t seen = 0;
  f.table.for_each([&](Conn &c) {
    ++seen;
    if (c.address.port % 3 == 0)
      f.table.destroy(c);
  });
  assert_int_equal(seen, 200);
  std::set<std::uint16_t> left;
  f.table.for_each([&](const Conn &c) { assert_true(left.insert(c.address.port).second); });
  assert_int_equal(left.size(), 133);
  for (const std::uint16_t port : left)
    assert_true(port % 3 != 0);
}

// Places are used again before the table grows, and connections never move.
void table__agrees_with_a_set(void **) {
  assert_true(rc::check("make, destroy", [](const std::vector<std::uint16_t> &steps) {
    Fixture f;
    std::vector<Conn *> live;
    std::size_t most = 0;
    for (int repeat = 0; repeat < 5; ++repeat)
      for (const std::uint16_t s : steps) {
        if (s % 5 < 3 || live.empty()) {
          Conn *c = f.make(s);
          RC_ASSERT(c->address.port == s);
          live.push_back(c);
          most = std::max(most, live.size());
          RC_ASSERT(ConnTable::index_of(*c) < most);
        } else {
          const std::size_t i = s % live.size();
          f.table.destroy(*live[i]);
          live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
        }
      }
    for (Conn *c : live) {
      RC_ASSERT(f.table.find(c->session.local_token()) == c);
      RC_ASSERT(&f.table.at(ConnTable::index_of(*c)) == c);
    }
    std::size_t n = 0;
    f.table.for_each([&n](const Conn &) { ++n; });
    RC_ASSERT(n == live.size());
  }));
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(find__of_no_token),
    cmocka_unit_test(token__of_one_that_is_gone_finds_nobody),
    cmocka_unit_test(for_each__may_destroy_what_it_is_given),
    cmocka_unit_test(table__agrees_with_a_set),
};
static const unit::Group group{"conn_table", cases};
