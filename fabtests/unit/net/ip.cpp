// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/ip.h"

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

static void ip__text_round_trip(void **) {
  assert_true(rc::check("any address and prefix", [](const std::array<std::uint8_t, 16> &bytes,
                                                     std::uint32_t v4, bool is_v4) {
    Ip original = is_v4 ? Ip(Ipv4{v4}) : Ip(bytes), read;
    RC_ASSERT(parse_ip(to_string(original), read));
    RC_ASSERT(read == original && read.is_v4() == is_v4);
    auto prefix = *rc::gen::inRange(0, is_v4 ? 33 : 129);
    Network network{original, static_cast<std::uint8_t>(prefix)}, again;
    RC_ASSERT(parse_network(to_string(network), again));
    RC_ASSERT(again == network);
  }));
}

static void ip__as_an_address_and_back(void **) {
  auto v4 = dpdkx::Address::v4(0x0a000001, 7);
  assert_true(Ip::of(v4) == ip("10.0.0.1") && Ip::of(v4).v4().value == 0x0a000001);
  assert_true(ip("10.0.0.1").with_port(7) == v4);
  assert_string_equal(to_string(ip("fd00::1").with_port(7)).c_str(), "[fd00::1]:7");
}

static void parse_ip__refuses_other_forms(void **) {
  Ip out;
  for (const char *text : {"", ":", ":::", "fd00", "fd00::1::2", "fd00::12345", "fe80::1%eth0",
                           "[fd00::1]", "fd00::1 ", "1:2:3:4:5:6:7:8:9", "::ffff:10.0.0.1",
                           "1:2:3:4:5:6:7:8:9:a:b:c:d:e:f:10:11:12:13:14"})
    assert_false(parse_ip(text, out));
  assert_false(parse_ip(std::string_view("fd00::1\0", 8), out));
  Network network;
  for (const char *text : {"1.2.3.4", "1.2.3.4/", "1.2.3.4/33", "/24", "1.2.3.4/-1", "fd00::1",
                           "fd00::1/", "fd00::1/129", "/64"})
    assert_false(parse_network(text, network));
  for (const char *text : {"", "fd00", "fd0000000000000000000000000000011"})
    assert_false(parse_hex_ip(text, out));
  assert_true(parse_hex_ip("fd00000000000000000000000000001f", out) && out == ip("fd00::1f"));
}

static void ip__kinds(void **) {
  for (const char *text : {"10.0.0.1", "fd00::1", "2001:db8::1", "fe80::1"})
    assert_true(ip(text).is_host());
  for (const char *text :
       {"0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255", "::", "::1", "ff02::1", "ff0e::1"})
    assert_false(ip(text).is_host());
  assert_true(ip("fe80::1").is_link_local() && ip("febf::1").is_link_local());
  assert_false(ip("fec0::1").is_link_local() || ip("fd00::1").is_link_local());
  assert_true(ip("0.0.0.0").is_any() && ip("::").is_any() && Ip{}.is_any());
  assert_false(ip("::1").is_any());
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

  network = net("fd00::1/63");
  assert_true(network.contains(ip("fd00:0:0:1::")));
  assert_false(network.contains(ip("fd00:0:0:2::")));
  assert_true(network.is_reserved(ip("fd00::"))); // any router's
  assert_false(network.is_reserved(ip("fd00:0:0:1:ffff:ffff:ffff:ffff")));
  assert_false(net("fd00::/127").is_reserved(ip("fd00::")));
  assert_false(net("fd00::/128").is_reserved(ip("fd00::")));
  assert_true(net("::/0").contains(ip("fd00::1")));
}

static void network__is_of_one_family(void **) {
  assert_false(net("::/0").contains(ip("10.0.0.1")));
  assert_false(net("0.0.0.0/0").contains(ip("fd00::1")));
}

static void network__contains_by_the_bits(void **) {
  assert_true(unit::holds("an address that differs in one bit", [] {
    auto bytes =
        *rc::gen::container<std::array<std::uint8_t, 16>>(rc::gen::inRange<std::uint8_t>(1, 255));
    auto bit = *rc::gen::inRange(0, 128), prefix = *rc::gen::inRange(0, 129);
    Ip own(bytes), other(bytes);
    other.bytes[static_cast<std::size_t>(bit) / 8] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
    RC_ASSERT((Network{own, static_cast<std::uint8_t>(prefix)}.contains(other)) == (bit >= prefix));
  }));
}

static void groups__of_an_address(void **) {
  assert_string_equal(to_string(solicited_node(ip("fd00::1234:5678"))).c_str(),
                      "ff02::1:ff34:5678");
  assert_string_equal(to_string(group_mac(solicited_node(ip("fd00::1234:5678")))).c_str(),
                      "33:33:ff:34:56:78");
  assert_string_equal(to_string(group_mac(all_nodes)).c_str(), "33:33:00:00:00:01");
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(ip__text_round_trip),
    cmocka_unit_test(ip__as_an_address_and_back),
    cmocka_unit_test(parse_ip__refuses_other_forms),
    cmocka_unit_test(ip__kinds),
    cmocka_unit_test(network__contains_and_reserves),
    cmocka_unit_test(network__is_of_one_family),
    cmocka_unit_test(network__contains_by_the_bits),
    cmocka_unit_test(groups__of_an_address),
};
static const unit::Group group{"ip", cases};
