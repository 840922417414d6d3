// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/endpoint_text.h"

#include "unit/daemon/text.h"

using namespace dpdkx;
using namespace dpdkx::daemon;

static void endpoint_text__sockets(void **) {
  std::string error;
  for (const std::string good : {"@a", "/run/dpdkxd", "@a/b c"})
    assert_true(check_socket(good, error));
  assert_true(check_socket("@" + std::string(106, 'x'), error));
  for (const std::string bad : {"", "@", "/", "run/x", "/run/"})
    assert_false(check_socket(bad, error));
  assert_false(check_socket("@" + std::string(107, 'x'), error));
  expect_parts(error, {"socket: '@xxx", "; allowed: @NAME", "107 characters"});
}

static void endpoint_text__addresses_of_this_host(void **) {
  Address out;
  std::string error;
  assert_true(parse_tcp_address("127.0.0.1:9100", out, error));
  assert_true(out == Address::v4(0x7f000001, 9100));
  assert_true(parse_tcp_address("[::1]:1", out, error));
  assert_true(out.is_loopback() && !out.is_v4() && out.port == 1);
  for (const char *bad :
       {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "::1:9100",
        "[127.0.0.1]:9100", "0.0.0.0:9100", "10.0.0.1:9100", "localhost:9100", "127.0.0.1:+1"}) {
    assert_false(parse_tcp_address(bad, out, error));
    expect_parts(error, {"metrics: '", bad, "'; allowed: address:port"});
  }
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(endpoint_text__sockets),
    cmocka_unit_test(endpoint_text__addresses_of_this_host),
};
static const unit::Group group{"endpoint_text", cases};
