// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/session/gate.h"

#include "dpdkx/session/window.h"

#include <algorithm>
#include <cerrno>
#include <set>

#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::session;
using namespace std::chrono_literals;

namespace {

const Params params;
const Address self = Address::v4(0x0a000001, 1000);
const Address source = Address::v4(0x0a000002, 2000);
const Time now(1000s);

wire::Hello hello() {
  wire::Hello h;
  h.incarnation = wire::Incarnation{77};
  h.token = wire::Token{88};
  h.attempt = 5;
  return h;
}

wire::Hello confirm(const Gate &g, Time at = now) {
  wire::Hello h = hello();
  const wire::Challenge c = g.challenge(h, source, 1472, at);
  h.cookie = c.cookie;
  h.peer_incarnation = c.incarnation;
  return h;
}

void gate__differs_in_each_life(void **) {
  const Gate a(params, self), b(params, self);
  assert_true(a.incarnation() != b.incarnation());
  assert_true(a.incarnation() != wire::Incarnation::none);
}

void gate__is_reproducible_from_a_seed(void **) {
  Gate a(params, self, 7), b(params, self, 7), c(params, self, 8);
  assert_true(a.incarnation() == b.incarnation() && a.incarnation() != c.incarnation());
  assert_true(a.draw_token(1) == b.draw_token(1));
  assert_true(a.draw() == b.draw());
}

void token__carries_its_index_and_never_repeats(void **) {
  Gate g(params, self);
  std::set<std::uint64_t> seen;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const auto t = static_cast<std::uint64_t>(g.draw_token(i % 10));
    assert_int_equal(t & 0xffffffff, i % 10);
    assert_true(t >> 32 != 0);
    seen.insert(t);
  }
  assert_int_equal(seen.size(), 1000);
}

void first_number__depends_on_token_and_use(void **) {
  Gate g(params, self, 3);
  const wire::Token t = g.draw_token(0), u = g.draw_token(0);
  assert_int_equal(g.first_number(t, 0), g.first_number(t, 0));
  assert_true(g.first_number(t, 0) != g.first_number(t, 1));
  assert_true(g.first_number(t, 0) != g.first_number(u, 0));
  Params fixed;
  fixed.first_number = 0xfffffff0;
  assert_int_equal(Gate(fixed, self, 3).first_number(t, 1), 0xfffffff0);
}

void challenge__answers_its_hello(void **) {
  Params p;
  p.key[0] = std::byte{9};
  const Gate g(p, self);
  const wire::Challenge c = g.challenge(hello(), source, 1472, now);
  assert_true(c.incarnation == g.incarnation() && c.peer_incarnation == hello().incarnation &&
              c.peer_token == hello().token && c.attempt == 5 && c.max_datagram == 1472 &&
              c.key == p.key);
  assert_true(Gate::issued_at(c.cookie) == now);
}

void cookie__fits_what_it_was_made_for_only(void **) {
  const Gate g(params, self), later_life(params, self);
  const wire::Hello good = confirm(g);
  assert_true(g.cookie_fits(good, source, now + 1s));
  assert_false(later_life.cookie_fits(good, source, now + 1s));

  Address other = source;
  other.port = 2001;
  assert_false(g.cookie_fits(good, other, now));
  assert_false(g.cookie_fits(good, Address::v4(0x0a000003, 2000), now));

  wire::Hello bad = good;
  bad.token = wire::Token{89};
  assert_false(g.cookie_fits(bad, source, now));
  bad = good;
  bad.incarnation = wire::Incarnation{78};
  assert_false(g.cookie_fits(bad, source, now));
  bad = good;
  bad.peer_incarnation = later_life.incarnation();
  assert_false(g.cookie_fits(bad, source, now));
  for (std::size_t bit = 0; bit < 128; ++bit) {
    bad = good;
    bad.cookie[bit / 8] ^= std::byte(1 << bit % 8);
    assert_false(g.cookie_fits(bad, source, now + 1s));
  }
}

void cookie__fits_for_a_while_only(void **) {
  const Gate g(params, self);
  const wire::Hello h = confirm(g);
  assert_true(g.cookie_fits(h, source, now + Gate::cookie_lifetime));
  assert_false(g.cookie_fits(h, source, now + Gate::cookie_lifetime + 1ns));
  assert_false(g.cookie_fits(h, source, now - 1ns)); // not made yet
}

void acceptable__asks_for_version_and_key(void **) {
  Params p;
  p.key[15] = std::byte{1};
  const Gate g(p, self), keyless(params, self);
  wire::Hello h = hello();
  h.key = p.key;
  assert_int_equal(g.acceptable(h), 0);
  assert_int_equal(keyless.acceptable(h), -EKEYREJECTED);
  h.version_min = 1, h.version_max = 9;
  assert_int_equal(g.acceptable(h), 0);
  h.version_min = 2;
  assert_int_equal(g.acceptable(h), -EPROTONOSUPPORT);
  h.version_min = 0, h.version_max = 0;
  assert_int_equal(g.acceptable(h), -EPROTONOSUPPORT);
  wire::Challenge c;
  assert_int_equal(g.acceptable(c), -EKEYREJECTED);
  c.key = p.key;
  assert_int_equal(g.acceptable(c), 0);
}

void window__is_a_multiple_of_64_within_bounds(void **) {
  for (const auto &[asked, got] :
       {std::pair{0u, 64u}, {63u, 64u}, {64u, 64u}, {100u, 64u}, {1024u, 1024u}, {5000u, 1024u}}) {
    Params p;
    p.window = asked;
    assert_int_equal(Gate(p, self).params().window, got);
  }
}

void pool__keeps_some_windows_and_gives_them_back_as_new(void **) {
  WindowPool pool;
  std::vector<WindowState *> all(WindowPool::most_kept + 10);
  for (WindowState *&w : all)
    w = pool.take();
  all[0]->rx.insert({0}, {5});
  all[0]->ack.packets = 3;
  const std::set<WindowState *> known(all.begin(), all.end());
  for (WindowState *w : all)
    pool.give_back(w);
  unsigned again = 0;
  for (unsigned i = 0; i < WindowPool::most_kept; ++i) {
    WindowState *const w = pool.take();
    again += known.count(w) != 0;
    assert_true(w->idle() && w->rx.empty());
    all[i] = w;
  }
  assert_int_equal(again, WindowPool::most_kept);
  for (unsigned i = 0; i < WindowPool::most_kept; ++i)
    pool.give_back(all[i]);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(gate__differs_in_each_life),
    cmocka_unit_test(gate__is_reproducible_from_a_seed),
    cmocka_unit_test(token__carries_its_index_and_never_repeats),
    cmocka_unit_test(first_number__depends_on_token_and_use),
    cmocka_unit_test(challenge__answers_its_hello),
    cmocka_unit_test(cookie__fits_what_it_was_made_for_only),
    cmocka_unit_test(cookie__fits_for_a_while_only),
    cmocka_unit_test(acceptable__asks_for_version_and_key),
    cmocka_unit_test(window__is_a_multiple_of_64_within_bounds),
    cmocka_unit_test(pool__keeps_some_windows_and_gives_them_back_as_new),
};
const unit::Group group{"gate", cases};

} // namespace
