// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/kernel_interface.h"

#include "unit/property.h"
#include "unit/unit.h"

using namespace dpdkx::net;

static void unfit_addresses__are_told_by_scope_and_flags(void **) {
  constexpr const char *text =
      "fd000000000000000000000000000001 02 40 00 80     eth0\n" // permanent
      "fd000000000000000000000000000002 02 40 00 00     eth0\n" // by DHCP or SLAAC
      "fd000000000000000000000000000003 02 40 00 c0     eth0\n" // tentative
      "fd000000000000000000000000000004 02 40 00 08     eth0\n" // somebody else's
      "fd000000000000000000000000000005 02 40 00 20     eth0\n" // deprecated
      "fd000000000000000000000000000006 02 40 00 01     eth0\n" // temporary
      "fe800000000000000000000000000007 02 40 20 80     eth0\n"
      "nonsense\n"
      "fd000000000000000000000000000008 02 40 00";
  std::string found;
  for (const auto &ip : unfit_addresses(text))
    found += to_string(ip) + " ";
  assert_string_equal(found.c_str(), "fd00::3 fd00::4 fd00::5 fd00::6 fe80::7 ");
}

static void unfit_addresses__survive_any_text(void **) {
  assert_true(rc::check("any text", [](const std::string &text) { unfit_addresses(text); }));
}

static void permanent_neighbours__of_no_interface(void **) {
  assert_true(permanent_neighbours(0x7fffffff).empty());
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(unfit_addresses__are_told_by_scope_and_flags),
    cmocka_unit_test(unfit_addresses__survive_any_text),
    cmocka_unit_test(permanent_neighbours__of_no_interface),
};
static const unit::Group group{"kernel_interface", cases};
