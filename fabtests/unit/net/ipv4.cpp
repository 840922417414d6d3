// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/ipv4.h"

#include "unit/property.h"
#include "unit/unit.h"

using namespace dpdkx::net;

static Ipv4 ip(const char *text) {
  Ipv4 out;
  assert_true(parse_ipv4(text, out));
  return out;
}

static void ipv4__text_round_trip(void **) {
  assert_true(rc::check("any address", [](std::uint32_t value) {
    Ipv4 read;
    RC_ASSERT(parse_ipv4(to_string(Ipv4{value}), read));
    RC_ASSERT(read.value == value);
  }));
}

static void parse_ipv4__refuses_other_forms(void **) {
  Ipv4 out;
  for (const char *text : {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.", ".1.2.3", "1..2.3",
                           "a.b.c.d", " 1.2.3.4", "1.2.3.4 ", "1.2.3.-4", "1.2.3.0004"})
    assert_false(parse_ipv4(text, out));
}

static void ipv4__kinds(void **) {
  assert_true(ip("10.0.0.1").is_host());
  for (const char *text :
       {"0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1"})
    assert_false(ip(text).is_host());
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(ipv4__text_round_trip),
    cmocka_unit_test(parse_ipv4__refuses_other_forms),
    cmocka_unit_test(ipv4__kinds),
};
static const unit::Group group{"ipv4", cases};
