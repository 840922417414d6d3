// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Addresses only: what names come to is the system's.
#include "dpdkx/check/command/hosts.h"

#include "unit/daemon/text.h"

using namespace dpdkx;

namespace {

std::string found(const char *text, bool v4) {
  Address out;
  std::string error;
  return check::find_host(text, 4797, v4, out, error) ? to_string(out) : error;
}

} // namespace

static void host__may_name_its_port(void **) {
  expect_equal(found("10.0.0.1", true), "10.0.0.1:4797");
  expect_equal(found("10.0.0.1:4000", true), "10.0.0.1:4000");
  expect_equal(found("10.0.0.1:65535", true), "10.0.0.1:65535");
  expect_equal(found("fd00::1", false), "[fd00::1]:4797");
  expect_equal(found("[fd00::1]", false), "[fd00::1]:4797");
  expect_equal(found("[fd00::1]:4000", false), "[fd00::1]:4000");
  expect_equal(found("[10.0.0.1]:4000", true), "10.0.0.1:4000");
}

static void host__that_is_written_wrong_is_told(void **) {
  for (const char *text :
       {"", ":", ":4000", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:-1", "10.0.0.1:4x",
        "[fd00::1", "[fd00::1]4000", "[]", "[]:4", "[fd00::1]:", "[fd00::1]:0"})
    expect_equal(found(text, true), ("HOST '" + std::string(text) +
                                     "'; allowed: NAME, ADDRESS, NAME:PORT, [IPV6-ADDRESS]:PORT")
                                        .c_str());
}

static void host__is_of_the_devices_family(void **) {
  expect_parts(found("fd00::1", true), {"HOST 'fd00::1': ", "allowed: what has an IPv4 address"});
  expect_parts(found("10.0.0.1:4000", false),
               {"HOST '10.0.0.1:4000': ", "allowed: what has an IPv6 address"});
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(host__may_name_its_port),
    cmocka_unit_test(host__that_is_written_wrong_is_told),
    cmocka_unit_test(host__is_of_the_devices_family),
};
static const unit::Group group{"hosts", cases};
