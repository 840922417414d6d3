// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/mac.h"

#include "unit/property.h"
#include "unit/unit.h"

using dpdkx::net::Mac;
using dpdkx::net::parse_mac;

static void mac__text_round_trip(void **) {
  assert_true(rc::check("text and word give back the address", [](std::array<std::uint8_t, 6> b) {
    Mac mac{b}, read;
    RC_ASSERT(parse_mac(to_string(mac), read));
    RC_ASSERT(read == mac);
    RC_ASSERT(Mac::from_word(mac.word()) == mac);
  }));
}

static void parse_mac__refuses_other_forms(void **) {
  Mac mac;
  for (const char *text :
       {"", "02:00:00:00:00", "02:00:00:00:00:0", "02-00-00-00-00-01",
        "02:00:00:00:00:01:", "0g:00:00:00:00:01", "+2:00:00:00:00:01", "02:00:00:00:00:01 "})
    assert_false(parse_mac(text, mac));
  assert_true(parse_mac("AA:bb:0C:00:00:01", mac));
  assert_string_equal(to_string(mac).c_str(), "aa:bb:0c:00:00:01");
}

static void mac__kinds(void **) {
  assert_true(Mac::broadcast().is_multicast());
  assert_true((Mac{{0x01, 0, 0x5e}}).is_multicast());
  assert_false((Mac{{0x02}}).is_multicast());
  assert_true(Mac{}.is_zero());
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(mac__text_round_trip),
    cmocka_unit_test(parse_mac__refuses_other_forms),
    cmocka_unit_test(mac__kinds),
};
static const unit::Group group{"mac", cases};
