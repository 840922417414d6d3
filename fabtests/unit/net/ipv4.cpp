// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/ipv4.h"

#include <rapidcheck.h>

#include "unit/unit.h"

using namespace dpdkx::net;

static Ipv4 ip(const char *text) {
  Ipv4 out;
  assert_true(parse_ipv4(text, out));
  return out;
}

static Ipv4Network net(const char *text) {
  Ipv4Network out;
  assert_true(parse_ipv4_network(text, out));
  return out;
}

static void ipv4__text_round_trip(void **) {
  assert_true(rc::check("any address and prefix", [](std::uint32_t value) {
    Ipv4 read;
    RC_ASSERT(parse_ipv4(to_string(Ipv4{value}), read));
    RC_ASSERT(read.value == value);
    Ipv4Network network{{value}, static_cast<std::uint8_t>(*rc::gen::inRange(0, 33))}, again;
    RC_ASSERT(parse_ipv4_network(to_string(network), again));
    RC_ASSERT(again == network);
  }));
}

static void parse_ipv4__refuses_other_forms(void **) {
  Ipv4 out;
  for (const char *text : {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.", ".1.2.3", "1..2.3",
                           "a.b.c.d", " 1.2.3.4", "1.2.3.4 ", "1.2.3.-4", "1.2.3.0004"})
    assert_false(parse_ipv4(text, out));
  Ipv4Network network;
  for (const char *text : {"1.2.3.4", "1.2.3.4/", "1.2.3.4/33", "/24", "1.2.3.4/-1"})
    assert_false(parse_ipv4_network(text, network));
}

static void ipv4__kinds(void **) {
  assert_true(ip("10.0.0.1").is_host());
  for (const char *text :
       {"0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1"})
    assert_false(ip(text).is_host());
}

static void network__contains_and_reserves(void **) {
  auto network = net("10.1.2.3/24");
  assert_true(network.contains(ip("10.1.2.255")));
  assert_false(network.contains(ip("10.1.3.0")));
  assert_true(network.is_reserved(ip("10.1.2.0")));
  assert_true(network.is_reserved(ip("10.1.2.255")));
  assert_false(network.is_reserved(ip("10.1.2.3")));
  assert_false(network.is_reserved(ip("10.1.3.255")));
  assert_false(net("10.0.0.0/31").is_reserved(ip("10.0.0.0")));
  assert_false(net("10.0.0.0/32").is_reserved(ip("10.0.0.0")));
  assert_true(net("0.0.0.0/0").contains(ip("200.1.1.1")));
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
}

static void routes__from_the_kernel(void **) {
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
  read_kernel_routes(text, "eth0", table);
  assert_int_equal(table.all().size(), 2);
  assert_true(table.next_hop(ip("10.0.0.7")) == ip("10.0.0.7"));
  assert_true(table.next_hop(ip("192.168.0.1")) == ip("10.0.0.254"));
}

static void routes__survive_any_text(void **) {
  assert_true(rc::check("any text", [](const std::string &text) {
    RouteTable table;
    read_kernel_routes("eth0 " + text, "eth0", table);
  }));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(ipv4__text_round_trip),
    cmocka_unit_test(parse_ipv4__refuses_other_forms),
    cmocka_unit_test(ipv4__kinds),
    cmocka_unit_test(network__contains_and_reserves),
    cmocka_unit_test(routes__longest_prefix_wins),
    cmocka_unit_test(routes__from_the_kernel),
    cmocka_unit_test(routes__survive_any_text),
};
static const unit::Group group{"ipv4", cases};
