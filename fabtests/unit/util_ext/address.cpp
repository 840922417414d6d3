// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/address.h"

#include <arpa/inet.h>
#include <cstring>
#include <string>

#include "unit/property.h"
#include "unit/unit.h"

using namespace util_ext;

namespace {

SockAddr v4(const char *ip, std::uint16_t port) {
  SockAddr a{};
  a.in.sin_family = AF_INET;
  a.in.sin_port = htons(port);
  assert_int_equal(inet_pton(AF_INET, ip, &a.in.sin_addr), 1);
  return a;
}

SockAddr v6(const char *ip, std::uint16_t port) {
  SockAddr a{};
  a.in6.sin6_family = AF_INET6;
  a.in6.sin6_port = htons(port);
  assert_int_equal(inet_pton(AF_INET6, ip, &a.in6.sin6_addr), 1);
  return a;
}

void read_sockaddr__drops_what_is_not_of_the_address(void **) {
  sockaddr_in in;
  std::memset(&in, 0xff, sizeof in);
  in.sin_family = AF_INET;
  SockAddr a;
  assert_true(read_sockaddr(&in, sizeof in, a));
  for (const auto c : a.in.sin_zero)
    assert_int_equal(c, 0);

  sockaddr_in6 in6{};
  in6.sin6_family = AF_INET6;
  in6.sin6_flowinfo = 7;
  in6.sin6_scope_id = 8;
  assert_true(read_sockaddr(&in6, sizeof in6, a));
  assert_int_equal(a.in6.sin6_flowinfo, 0);
  assert_int_equal(a.in6.sin6_scope_id, 8);
}

void read_sockaddr__refuses_other_families_and_short_ones(void **) {
  const SockAddr a4 = v4("1.2.3.4", 5), a6 = v6("::1", 5), none{};
  SockAddr a;
  assert_false(read_sockaddr(&a4, sizeof(sockaddr_in) - 1, a));
  assert_false(read_sockaddr(&a6, sizeof(sockaddr_in), a));
  assert_false(read_sockaddr(&none, sizeof none, a));
  assert_false(read_sockaddr(&none, 1, a));
  assert_int_equal(size_of(a4), sizeof(sockaddr_in));
  assert_int_equal(size_of(a6), sizeof(sockaddr_in6));
  assert_int_equal(size_of(none), 0);
}

void same_address__sees_through_mapped_addresses(void **) {
  const SockAddr a = v4("10.0.0.1", 1), b = v6("::ffff:10.0.0.1", 1);
  assert_true(same_address(a, b));
  assert_true(hash_address(a) == hash_address(b));
  assert_false(same_address(a, v4("10.0.0.1", 2)));
  assert_false(same_address(a, v4("10.0.0.2", 1)));
  assert_false(same_address(v6("fe80::1", 1), v6("fe80::2", 1)));
  SockAddr scoped = v6("fe80::1", 1);
  scoped.in6.sin6_scope_id = 2;
  assert_false(same_address(scoped, v6("fe80::1", 1)));
}

void to_text__reads_back(void **) {
  assert_string_equal(to_text(v4("10.1.2.3", 4000)).c_str(), "fi_sockaddr_in://10.1.2.3:4000");
  assert_string_equal(to_text(v6("fe80::1", 1)).c_str(), "fi_sockaddr_in6://[fe80::1]:1");
  assert_true(rc::check("any address", [](std::uint32_t ip, std::uint16_t port, bool six) {
    SockAddr a{};
    a.sa.sa_family = six ? AF_INET6 : AF_INET;
    set_port(a, port);
    if (six)
      std::memcpy(&a.in6.sin6_addr.s6_addr[9], &ip, sizeof ip);
    else
      a.in.sin_addr.s_addr = ip;
    SockAddr b;
    RC_ASSERT(from_text(to_text(a).c_str(), b) == 0);
    RC_ASSERT(same_address(a, b));
    RC_ASSERT(port_of(b) == port);
  }));
}

void from_text__takes_the_forms_of_fi_addr_str(void **) {
  SockAddr a;
  const SockAddr expected = v4("10.31.6.12", 7471);
  for (const char *text : {"fi_sockaddr://10.31.6.12:7471", "fi_sockaddr_in://10.31.6.12:7471",
                           "fi_sockaddr://10.31.6.12:7471?qos=3",
                           "fi_sockaddr://10.31.6.12:7471/x/y", "10.31.6.12:7471"}) {
    assert_int_equal(from_text(text, a), 0);
    assert_true(same_address(a, expected));
  }
  assert_int_equal(from_text("fi_sockaddr_in6://[fe80::6:12]:7471", a), 0);
  assert_true(same_address(a, v6("fe80::6:12", 7471)));
  for (const char *text : {"fi_sockaddr_ib://10.0.0.1:1", "fi_sockaddr_in6://[fe80::1", "",
                           "fi_sockaddr_in6://[fe80::1]x", "fi_sockaddr_in://[fe80::1]:1",
                           "fi_sockaddr_in6://10.0.0.1:1", "fi_sockaddr://"})
    assert_true(from_text(text, a) < 0);
  assert_int_equal(from_text(nullptr, a), -FI_EINVAL);
}

void resolve__takes_numbers_names_and_texts(void **) {
  SockAddr a;
  assert_int_equal(resolve("127.0.0.1", "80", AF_UNSPEC, a), 0);
  assert_true(same_address(a, v4("127.0.0.1", 80)));
  assert_int_equal(resolve("localhost", "80", AF_INET, a), 0);
  assert_true(same_address(a, v4("127.0.0.1", 80)));
  assert_int_equal(resolve("fi_sockaddr://127.0.0.1:81", nullptr, AF_UNSPEC, a), 0);
  assert_int_equal(port_of(a), 81);
  assert_int_equal(resolve("fi_sockaddr://127.0.0.1:81", "80", AF_UNSPEC, a), -FI_EINVAL);
  assert_int_equal(resolve(nullptr, nullptr, AF_UNSPEC, a), -FI_EINVAL);
  assert_true(resolve("127.0.0.1", "no such service", AF_UNSPEC, a) < 0);
  assert_true(resolve_numeric("localhost", "80", AF_INET, a) < 0);
  assert_int_equal(resolve("127.0.0.1", "65535", AF_UNSPEC, a), 0);
  for (const char *const beyond : {"65536", "65537", "99999999999999", "0065536"}) {
    assert_int_equal(resolve("127.0.0.1", beyond, AF_UNSPEC, a), -FI_ENODATA);
    assert_int_equal(resolve_numeric("127.0.0.1", beyond, AF_UNSPEC, a), -FI_ENODATA);
    assert_int_equal(resolve_numeric(nullptr, beyond, AF_INET, a), -FI_ENODATA);
    const std::string text = std::string("fi_sockaddr_in://127.0.0.1:") + beyond;
    assert_true(resolve(text.c_str(), nullptr, AF_UNSPEC, a) < 0);
  }
}

void advance_ip__carries_and_ends(void **) {
  SockAddr a = v4("10.0.0.255", 1);
  assert_true(advance_ip(a, 1));
  assert_true(same_address(a, v4("10.0.1.0", 1)));
  a = v4("255.255.255.255", 1);
  assert_false(advance_ip(a, 1));
  a = v6("fe80::ffff", 1);
  assert_true(advance_ip(a, 1));
  assert_true(same_address(a, v6("fe80::1:0", 1)));
  a = v6("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 1);
  assert_false(advance_ip(a, 1));
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(read_sockaddr__drops_what_is_not_of_the_address),
    cmocka_unit_test(read_sockaddr__refuses_other_families_and_short_ones),
    cmocka_unit_test(same_address__sees_through_mapped_addresses),
    cmocka_unit_test(to_text__reads_back),
    cmocka_unit_test(from_text__takes_the_forms_of_fi_addr_str),
    cmocka_unit_test(resolve__takes_numbers_names_and_texts),
    cmocka_unit_test(advance_ip__carries_and_ends),
};
static const unit::Group group{"address", cases};
