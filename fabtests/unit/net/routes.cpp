// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/routes.h"

#include "unit/property.h"
#include "unit/unit.h"

using namespace dpdkx::net;

static Ip ip(const char *text) {
  Ip out;
  if (!parse_ip(text, out))
    fail_msg("%s", text);
  return out;
}

static Network net(const char *text) {
  Network out;
  if (!parse_network(text, out))
    fail_msg("%s", text);
  return out;
}

static void routes__longest_prefix_wins(void **) {
  RouteTable table;
  assert_false(table.next_hop(ip("10.0.0.2")).has_value());
  table.add(net("0.0.0.0/0"), ip("10.0.0.254"));
  table.add(net("10.0.0.1/24"), {});
  table.add(net("192.168.0.0/16"), ip("10.0.0.253"));
  table.add(net("192.168.0.0/16"), ip("10.0.0.252")); // the first holds
  assert_true(table.next_hop(ip("10.0.0.2")) == ip("10.0.0.2"));
  assert_true(table.next_hop(ip("192.168.3.4")) == ip("10.0.0.253"));
  assert_true(table.next_hop(ip("8.8.8.8")) == ip("10.0.0.254"));
  assert_false(table.next_hop(ip("fd00::2")).has_value());
  table.add(net("::/0"), ip("fe80::1"));
  table.add(net("fd00::1/64"), {});
  assert_true(table.next_hop(ip("fd00::2")) == ip("fd00::2"));
  assert_true(table.next_hop(ip("fd00:0:0:1::2")) == ip("fe80::1"));
  assert_true(table.next_hop(ip("8.8.8.8")) == ip("10.0.0.254"));
}

static void routes__of_ipv4_from_the_kernel(void **) {
  constexpr const char *text =
      "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
      "eth0\t00000000\tFE00000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
      "eth0\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
      "eth1\t0000A8C0\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n"
      "eth0\t000010AC\t00000000\t0201\t0\t0\t0\t0000FFFF\t0\t0\t0\n" // reject
      "eth0\t0000A8C0\tnonsense\t0003\t0\t0\t0\t0000FFFF\t0\t0\t0\n"
      "eth0\t0000A8C0\tFE00000A\t0003\t0\t0\t0\tFF00FF00\t0\t0\t0\n" // no prefix
      "eth0";
  RouteTable table;
  read_ipv4_routes(text, "eth0", table);
  assert_int_equal(table.all().size(), 2);
  assert_true(table.next_hop(ip("10.0.0.7")) == ip("10.0.0.7"));
  assert_true(table.next_hop(ip("192.168.0.1")) == ip("10.0.0.254"));
}

static void routes__of_ipv6_from_the_kernel(void **) {
#define ZEROS "00000000000000000000000000000000"
#define NET(x) "fd000000000000" x "0000000000000000"
  constexpr const char *text =
      NET("00") " 40 " ZEROS " 00 " ZEROS " 00000100 00000001 00000000 00000001     eth0\n" NET(
          "01") " 40 " ZEROS
                " 00 fd000000000000000000000000000009 00000400 1 0 00000003 eth0\n" ZEROS
                " 00 " ZEROS
                " 00 fe800000000000000000000000000001 00000400 1 0 00450003 eth0\n" NET(
                    "02") " 40 " ZEROS " 00 " ZEROS
                          " 00000100 1 0 00000001 eth1\n" NET(
                              "03") " 40 " ZEROS " 00 " ZEROS
                                    " ffffffff 1 0 00200200 eth0\n" // reject
                                    "fd000000000000000000000000000001 80 " ZEROS " 00 " ZEROS
                                    " 0 1 0 80200001 eth0\n" // local
                                    "ff000000000000000000000000000000 08 " ZEROS " 00 " ZEROS
                                    " 100 1 0 00000001 eth0\n" NET("04") " 40 " NET(
                                        "05") " 40 " ZEROS " 100 1 0 00000001 eth0\n" // by source
      NET("06") " 81 " ZEROS " 00 " ZEROS " 100 1 0 00000001 eth0\n"                  // no prefix
                "fd00 40 " ZEROS " 00 " ZEROS " 100 1 0 00000001 eth0\n"
                "eth0";
#undef NET
#undef ZEROS
  RouteTable table;
  read_ipv6_routes(text, "eth0", table);
  assert_int_equal(table.all().size(), 3);
  assert_true(table.next_hop(ip("fd00::7")) == ip("fd00::7"));
  assert_true(table.next_hop(ip("fd00:0:0:1::7")) == ip("fd00::9"));
  assert_true(table.next_hop(ip("2001:db8::1")) == ip("fe80::1"));
}

static void routes__survive_any_text(void **) {
  assert_true(rc::check("any text", [](const std::string &text) {
    RouteTable table;
    read_ipv4_routes("eth0 " + text, "eth0", table);
    read_ipv6_routes(text + " eth0", "eth0", table);
  }));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(routes__longest_prefix_wins),
    cmocka_unit_test(routes__of_ipv4_from_the_kernel),
    cmocka_unit_test(routes__of_ipv6_from_the_kernel),
    cmocka_unit_test(routes__survive_any_text),
};
static const unit::Group group{"routes", cases};
