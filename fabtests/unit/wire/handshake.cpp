// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/property.h"
#include "unit/wire/any.h"

#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::wire;

namespace {

void hello__comes_back(void **) {
  assert_true(unit::holds("hello comes back", [] {
    const Hello h = any::hello();
    std::vector<std::byte> d(hello_size + h.padding);
    RC_ASSERT(encode(d.data(), h) == d.data() + d.size());
    Hello o;
    RC_ASSERT(decode(d, o));
    RC_ASSERT(o.version_min == h.version_min && o.version_max == h.version_max &&
              o.features == h.features && o.incarnation == h.incarnation &&
              o.peer_incarnation == h.peer_incarnation && o.token == h.token &&
              o.attempt == h.attempt && o.address == h.address &&
              o.max_datagram == h.max_datagram && o.credit_limit == h.credit_limit &&
              o.first_pn == h.first_pn && o.first_mn == h.first_mn && o.key == h.key &&
              o.cookie == h.cookie && o.padding == h.padding && o.bulk_port == h.bulk_port);
    const std::size_t n = any::below(d.size());
    const std::vector<std::byte> cut(d.begin(), d.begin() + static_cast<std::ptrdiff_t>(n));
    RC_ASSERT(decode(cut, o) == (n == hello_size)); // only the padding is missing
  }));
}

void challenge__comes_back(void **) {
  assert_true(unit::holds("challenge comes back", [] {
    const Challenge c = any::challenge();
    std::vector<std::byte> d(challenge_size);
    RC_ASSERT(encode(d.data(), c) == d.data() + d.size());
    Challenge o;
    RC_ASSERT(decode(d, o));
    RC_ASSERT(o.version_min == c.version_min && o.version_max == c.version_max &&
              o.incarnation == c.incarnation && o.peer_incarnation == c.peer_incarnation &&
              o.peer_token == c.peer_token && o.attempt == c.attempt && o.cookie == c.cookie &&
              o.max_datagram == c.max_datagram && o.key == c.key);
    d.resize(any::below(d.size()));
    RC_ASSERT(!decode(d, o));
  }));
}

void reset__comes_back(void **) {
  std::vector<std::byte> d(reset_size);
  Reset r{Token{5}, Incarnation{6}}, o;
  assert_ptr_equal(encode(d.data(), r), d.data() + d.size());
  assert_true(decode(d, o) && o.token == r.token && o.incarnation == r.incarnation);
  d.pop_back();
  assert_false(decode(d, o));
}

Hello valid() {
  Hello h;
  h.incarnation = Incarnation{1};
  h.token = Token{2};
  return h;
}

void hello__skips_extensions_it_does_not_know(void **) {
  std::vector<std::byte> d(hello_size);
  encode(d.data(), valid());
  const auto add = [&](std::uint16_t type, std::uint16_t len, std::size_t present) {
    const std::size_t at = d.size();
    d.resize(at + extension_head_size + present);
    bytes::put(d.data() + at, type);
    bytes::put(d.data() + at + 2, len);
  };
  Hello o;
  add(77, 3, 3);
  assert_true(decode(d, o));
  assert_int_equal(o.padding, 0);
  add(extension::padding, 10, 10);
  assert_true(decode(d, o));
  assert_int_equal(o.padding, 14);
  auto more = d;
  more.resize(d.size() + 3); // less than an extension's head
  assert_false(decode(more, o));
  add(78, 9, 8); // longer than what is there
  assert_false(decode(d, o));
}

void hello__refuses_what_names_nobody(void **) {
  std::vector<std::byte> d(hello_size);
  Hello h = valid(), o;
  h.token = Token::none;
  encode(d.data(), h);
  assert_false(decode(d, o));
  h = valid();
  h.incarnation = Incarnation::none;
  encode(d.data(), h);
  assert_false(decode(d, o));
  h = valid();
  h.version_min = 3, h.version_max = 2;
  encode(d.data(), h);
  assert_false(decode(d, o));
}

// Frames are made to fit into the smallest: with less there would be no room for their heads.
void handshake__refuses_links_that_carry_too_little(void **) {
  std::vector<std::byte> d(hello_size);
  Challenge c;
  c.incarnation = Incarnation{1};
  for (const std::uint32_t size : {0u, 65u, min_datagram - 1, min_datagram, 65'535u}) {
    Hello h = valid();
    h.max_datagram = c.max_datagram = size;
    encode(d.data(), h);
    assert_int_equal(decode(d, h), size >= min_datagram);
    encode(d.data(), c);
    assert_int_equal(decode(std::span(d).first(challenge_size), c), size >= min_datagram);
  }
}

void challenge_and_reset__refuse_what_names_nobody(void **) {
  std::vector<std::byte> d(challenge_size);
  Challenge c;
  encode(d.data(), c);
  assert_false(decode(d, c)); // no incarnation
  d.assign(reset_size, std::byte{});
  Reset r;
  assert_false(decode(d, r)); // no token
}

void bodies__survive_anything(void **) {
  assert_true(unit::holds("bodies survive anything", [] {
    auto raw = *rc::gen::scale(
        3.0, rc::gen::container<std::vector<std::uint8_t>>(rc::gen::arbitrary<std::uint8_t>()));
    const auto in = std::as_bytes(std::span(raw));
    Hello h;
    Challenge c;
    Reset r;
    decode(in, h);
    decode(in, c);
    decode(in, r);
  }));
}

// A source that can't be trusted must not get more than it sent.
void challenge__is_not_larger_than_its_hello(void **) { assert_true(challenge_size <= hello_size); }

const CMUnitTest cases[] = {
    cmocka_unit_test(hello__comes_back),
    cmocka_unit_test(challenge__comes_back),
    cmocka_unit_test(reset__comes_back),
    cmocka_unit_test(hello__skips_extensions_it_does_not_know),
    cmocka_unit_test(hello__refuses_what_names_nobody),
    cmocka_unit_test(handshake__refuses_links_that_carry_too_little),
    cmocka_unit_test(challenge_and_reset__refuse_what_names_nobody),
    cmocka_unit_test(bodies__survive_anything),
    cmocka_unit_test(challenge__is_not_larger_than_its_hello),
};
const unit::Group group{"handshake", cases};

} // namespace
