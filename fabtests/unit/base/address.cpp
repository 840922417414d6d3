// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/address.h"

#include <unordered_set>

#include "unit/unit.h"

using namespace dpdkx;

namespace {

Address v6(std::initializer_list<std::uint8_t> head, std::uint8_t last, std::uint16_t port) {
  Address a;
  std::size_t i = 0;
  for (const std::uint8_t b : head)
    a.ip[i++] = b;
  a.ip[15] = last;
  a.port = port;
  return a;
}

void v4__is_held_as_mapped_v6(void **) {
  const Address a = Address::v4(0x0a000102, 4000);
  assert_true(a.is_v4());
  assert_int_equal(a.v4_host_order(), 0x0a000102);
  assert_int_equal(a.ip[10], 0xff);
  assert_int_equal(a.ip[12], 10);
  assert_int_equal(a.ip[15], 2);
  assert_int_equal(a.port, 4000);
  assert_false(v6({0x20, 0x01}, 1, 0).is_v4());
}

void any_and_loopback__are_known_in_both_families(void **) {
  assert_true(Address::v4(0, 9).is_any() && v6({}, 0, 9).is_any());
  assert_false(Address::v4(1, 0).is_any() || v6({}, 1, 0).is_any());
  assert_true(Address::v4(0x7f000001, 0).is_loopback());
  assert_true(Address::v4(0x7fffffff, 0).is_loopback());
  assert_true(v6({}, 1, 0).is_loopback());
  assert_false(Address::v4(0x80000001, 0).is_loopback() || v6({}, 2, 0).is_loopback() ||
               v6({0xfe, 0x80}, 1, 0).is_loopback());
}

void text__is_what_users_write(void **) {
  assert_string_equal(to_string(Address::v4(0x0a000001, 4000)).c_str(), "10.0.0.1:4000");
  assert_string_equal(to_string(v6({0xfe, 0x80}, 1, 4000)).c_str(), "[fe80::1]:4000");
  assert_string_equal(to_string(v6({}, 0, 0)).c_str(), "[::]:0");
}

void addresses__differ_in_any_bit(void **) {
  const Address a = Address::v4(0x0a000001, 4000);
  Address b = a;
  assert_true(a == b);
  b.port ^= 1;
  assert_false(a == b);
  for (std::size_t bit = 0; bit < 128; ++bit) {
    b = a;
    b.ip[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    assert_false(a == b);
  }
}

// Neighbours of a subnet and neighbouring ports, as a job has them, spread over buckets.
void hash__spreads_what_jobs_use(void **) {
  std::unordered_set<std::size_t> all, low;
  for (std::uint32_t host = 0; host < 100; ++host)
    for (std::uint16_t port = 0; port < 100; ++port) {
      const std::size_t h = AddressHash{}(Address::v4(0x0a000000 + host, 49152 + port));
      all.insert(h);
      low.insert(h % 16384);
    }
  assert_int_equal(all.size(), 10000);
  assert_true(low.size() > 6500); // at random: 7486
}

const CMUnitTest cases[] = {
    cmocka_unit_test(v4__is_held_as_mapped_v6),
    cmocka_unit_test(any_and_loopback__are_known_in_both_families),
    cmocka_unit_test(text__is_what_users_write),
    cmocka_unit_test(addresses__differ_in_any_bit),
    cmocka_unit_test(hash__spreads_what_jobs_use),
};
const unit::Group group{"address", cases};

} // namespace
