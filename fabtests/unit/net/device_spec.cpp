// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/device_spec.h"

#include <utility>

#include "unit/property.h"
#include "unit/unit.h"

using namespace dpdkx::net;

namespace {

std::vector<DeviceSpec> devices(const char *text) {
  std::vector<DeviceSpec> out;
  std::string error;
  if (!parse_devices(text, out, error))
    fail_msg("%s", error.c_str());
  return out;
}

void expect_says(const std::string &error, std::initializer_list<const char *> parts) {
  for (const char *part : parts)
    if (error.find(part) == std::string::npos)
      fail_msg("'%s' isn't in '%s'", part, error.c_str());
}

} // namespace

static void devices__pci(void **) {
  auto list = devices("0000:01:00.0;01:00.1,promiscuous=0;0001:AF:1e.7");
  assert_int_equal(list.size(), 3);
  for (const auto &spec : list)
    assert_true(spec.kind == DeviceKind::pci && spec.exclusive());
  assert_string_equal(list[0].bus_name.c_str(), "0000:01:00.0");
  assert_string_equal(list[1].bus_name.c_str(), "0000:01:00.1");
  assert_string_equal(list[1].arguments.c_str(), "promiscuous=0");
  assert_string_equal(list[2].bus_name.c_str(), "0001:af:1e.7");
}

static void devices__vdev(void **) {
  auto list = devices("net_memif0,role=server,id=0,socket=a@b  net_tap1,iface=tap7");
  assert_int_equal(list.size(), 2);
  assert_true(list[0].kind == DeviceKind::vdev && list[0].exclusive());
  assert_string_equal(list[0].bus_name.c_str(), "net_memif0");
  assert_string_equal(list[0].arguments.c_str(), "role=server,id=0,socket=a@b");
  assert_string_equal(list[1].interface.c_str(), ""); // one that the driver makes
}

static void devices__kernel_interfaces(void **) {
  auto list = devices(" veth0 ; xdp:eth1,start_queue=1\nnet_af_packet3,iface=br-0,framesz=4096 ");
  assert_int_equal(list.size(), 3);
  assert_true(list[0].kind == DeviceKind::af_packet && !list[0].exclusive());
  assert_string_equal(list[0].interface.c_str(), "veth0");
  assert_true(list[1].kind == DeviceKind::af_xdp && list[1].exclusive());
  assert_string_equal(list[1].interface.c_str(), "eth1");
  assert_string_equal(list[1].arguments.c_str(), "start_queue=1");
  assert_true(list[2].kind == DeviceKind::af_packet);
  assert_string_equal(list[2].interface.c_str(), "br-0");
  assert_string_equal(list[2].bus_name.c_str(), "net_af_packet3");
}

static void devices__nothing(void **) { assert_int_equal(devices(" ; ").size(), 0); }

static void devices__faults_name_setting_value_and_what_is_allowed(void **) {
  std::vector<DeviceSpec> out;
  std::string error;
  for (const char *text :
       {"a_name_longer_than_15", "eth0/1", "xdp:", "net_memif0,role", "net_memif0,=server",
        "0000:01:00.0,x", "01:00.9", "net_af_packet0", "net_af_xdp0,start_queue=1", "a:b"}) {
    assert_false(parse_devices(text, out, error));
    expect_says(error, {"FI_DPDKX_DEVICE", text, "allowed", "0000:01:00.0", "net_memif0", "eth0"});
  }
  for (const char *text : {"eth0;eth0", "01:00.0;0000:01:00.0", "xdp:a;net_af_xdp1,iface=a"}) {
    assert_false(parse_devices(text, out, error));
    expect_says(error, {"named twice"});
  }
}

static void devices__arguments_are_those_of_the_driver(void **) {
  std::vector<DeviceSpec> out;
  std::string error;
  for (const char *text : {"net_memif0,role=server,idd=0", "eth_af_packet0,iface=a,idd=0",
                           "eth0,idd=0", "xdp:eth0,idd=0"}) {
    assert_false(parse_devices(text, out, error));
    expect_says(error, {"FI_DPDKX_DEVICE: '", text, "no argument 'idd'; allowed: "});
  }
  assert_false(parse_devices("eth0,iface=eth1", out, error));
  expect_says(error, {"FI_DPDKX_DEVICE: 'eth0,iface=eth1'", "'iface'", "allowed"});
  // Of drivers that nobody knows here, and of NICs, whatever they take.
  devices("net_future0,idd=0;0000:01:00.0,idd=0");
}

static void addresses__forms(void **) {
  std::vector<std::optional<AddressSpec>> out;
  std::string error;
  assert_true(parse_addresses("10.0.0.1/24;10.1.0.1/16,10.1.0.254;-;10.2.0.1/24,,100;"
                              "10.3.0.1/24,10.3.0.2,4094",
                              out, error));
  assert_int_equal(out.size(), 5);
  assert_true(out[0] == (AddressSpec{{Ipv4{0x0a000001}, 24}, {}, 0}));
  assert_true(out[1] == (AddressSpec{{Ipv4{0x0a010001}, 16}, Ipv4{0x0a0100fe}, 0}));
  assert_false(out[2].has_value());
  assert_true(out[3] == (AddressSpec{{Ipv4{0x0a020001}, 24}, {}, 100}));
  assert_true(out[4] == (AddressSpec{{Ipv4{0x0a030001}, 24}, Ipv4{0x0a030002}, 4094}));
}

static void addresses__of_ipv6(void **) {
  std::vector<std::optional<AddressSpec>> out;
  std::string error;
  assert_true(parse_addresses("fd00::1/64;fd00::1/64,fd00::9;fd00::1/64,fe80::1,100;10.0.0.1/24",
                              out, error));
  Ip own, gateway, router;
  assert_true(parse_ip("fd00::1", own) && parse_ip("fd00::9", gateway) &&
              parse_ip("fe80::1", router));
  assert_true(out[0] == (AddressSpec{{own, 64}, {}, 0}));
  assert_true(out[1] == (AddressSpec{{own, 64}, gateway, 0}));
  assert_true(out[2] == (AddressSpec{{own, 64}, router, 100}));
}

// The first entry is right each time.
static void addresses__faults_name_entry_part_and_what_is_allowed(void **) {
  const std::pair<const char *, std::vector<const char *>> wrong[] = {
      {"10.0.0.1", {"prefix ''", "0-32", "address/prefix"}},
      {"10.0.0.1/33", {"prefix '33'", "0-32"}},
      {"10.0.0.1/", {"prefix ''", "0-32"}},
      {"10.0.0.1/-1", {"prefix '-1'", "0-32"}},
      {"10.0.0/24", {"address '10.0.0'", "IPv4 or IPv6", "address/prefix"}},
      {"10.0.0.0/24", {"address '10.0.0.0'", "10.0.0.0/24"}},
      {"10.0.0.255/24", {"address '10.0.0.255'", "10.0.0.255/24", "first and its last"}},
      {"127.0.0.1/8", {"address '127.0.0.1'", "one host"}},
      {"224.0.0.1/24", {"address '224.0.0.1'", "one host"}},
      {"10.0.0.1/24,10.0.1.1", {"gateway '10.0.1.1'", "10.0.0.1/24"}},
      {"10.0.0.1/24,10.0.0.1", {"gateway '10.0.0.1'", "another host"}},
      {"10.0.0.1/24,gw", {"gateway 'gw'"}},
      {"10.0.0.1/24,fe80::1", {"gateway 'fe80::1'", "10.0.0.1/24"}},
      {"10.0.0.1/24,,0", {"VLAN '0'", "1-4094"}},
      {"10.0.0.1/24,,4095", {"VLAN '4095'", "1-4094"}},
      {"10.0.0.1/24,", {"more than it takes", "address/prefix"}},
      {"10.0.0.1/24,,", {"more than it takes"}},
      {"10.0.0.1/24,,1,2", {"more than it takes"}},
      {"fd00::1", {"prefix ''", "0-128", "address/prefix"}},
      {"fd00::1/129", {"prefix '129'", "0-128"}},
      {"fd00::1/256", {"prefix '256'", "0-128"}},
      {"fd00::/64", {"address 'fd00::'", "fd00::/64 other than its first"}},
      {"::/64", {"address '::'", "one host"}},
      {"::1/128", {"address '::1'", "one host"}},
      {"ff02::1/64", {"address 'ff02::1'", "one host"}},
      {"fe80::1/64", {"address 'fe80::1'", "fe80::/10", "address/prefix"}},
      {"fe80::1%eth0/64", {"address 'fe80::1%eth0'", "IPv6"}},
      {"::ffff:10.0.0.1/120", {"address '::ffff:10.0.0.1'", "IPv4 or IPv6"}},
      {"fd00::1/64,fd01::1", {"gateway 'fd01::1'", "fd00::1/64", "fe80::/10"}},
      {"fd00::1/64,fd00::1", {"gateway 'fd00::1'", "another host"}},
      {"fd00::1/64,ff02::2", {"gateway 'ff02::2'"}},
      {"fd00::1/64,10.0.0.1", {"gateway '10.0.0.1'", "fd00::1/64"}},
      {"fd00::1/64,,4095", {"VLAN '4095'", "1-4094"}},
  };
  for (const auto &[text, parts] : wrong) {
    std::vector<std::optional<AddressSpec>> out;
    std::string error;
    assert_false(parse_addresses(std::string("10.7.0.1/24;") + text, out, error));
    expect_says(error, {"FI_DPDKX_ADDR: entry 2, '", text, "allowed: "});
    for (const char *part : parts)
      expect_says(error, {part});
  }
}

static void neighbours__forms_and_faults(void **) {
  std::vector<FixedNeighbour> out;
  std::string error;
  assert_true(
      parse_neighbours("10.0.0.2=02:00:00:00:00:02; 10.0.0.3=02:00:00:00:00:03", out, error));
  assert_int_equal(out.size(), 2);
  assert_true(out[1].first == Ipv4{0x0a000003});
  assert_true(parse_neighbours("fd00::2=02:00:00:00:00:02;fe80::1=02:00:00:00:00:03", out, error));
  assert_string_equal(to_string(out[1].first).c_str(), "fe80::1");
  const std::pair<const char *, const char *> wrong[] = {
      {"10.0.0.2", "MAC ''"},
      {"10.0.0.2=", "MAC ''"},
      {"10.0.0.2=02:00:00:00:00", "MAC '02:00:00:00:00'"},
      {"10.0.0.2=ff:ff:ff:ff:ff:ff", "MAC 'ff:ff:ff:ff:ff:ff'"},
      {"10.0.0.2=00:00:00:00:00:00", "MAC '00:00:00:00:00:00'"},
      {"fd00::2=02:00:00:00:00", "MAC '02:00:00:00:00'"},
      {"224.0.0.1=02:00:00:00:00:02", "address '224.0.0.1'"},
      {"ff02::1=02:00:00:00:00:02", "address 'ff02::1'"},
      {"fe80::1%eth0=02:00:00:00:00:02", "address 'fe80::1%eth0'"},
      {"host=02:00:00:00:00:02", "address 'host'"},
  };
  for (const auto &[text, part] : wrong) {
    assert_false(parse_neighbours(std::string("10.0.0.9=02:00:00:00:00:09;") + text, out, error));
    expect_says(error, {"FI_DPDKX_NEIGHBORS: entry 2, '", text, part, "allowed: ", "address=MAC"});
  }
}

static void any_text__is_read_or_refused_with_a_reason(void **) {
  assert_true(unit::holds("settings of random pieces", [] {
    auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
        "eth0", "net_", "memif", "xdp:", "01:00.0", "0000:", ",", "=", ";", " ", "10.0.0.1", "/24",
        "fd00::", "fe80::1", "-", "99999999999", "\xff", "iface=", "02:00:00:00:00:01"));
    std::string text;
    for (const auto &piece : pieces)
      text += piece;
    std::string error;
    std::vector<DeviceSpec> specs;
    std::vector<std::optional<AddressSpec>> addresses;
    std::vector<FixedNeighbour> neighbours;
    RC_ASSERT(parse_devices(text, specs, error) || !error.empty());
    error.clear();
    RC_ASSERT(parse_addresses(text, addresses, error) || !error.empty());
    error.clear();
    RC_ASSERT(parse_neighbours(text, neighbours, error) || !error.empty());
  }));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(devices__pci),
    cmocka_unit_test(devices__vdev),
    cmocka_unit_test(devices__kernel_interfaces),
    cmocka_unit_test(devices__nothing),
    cmocka_unit_test(devices__faults_name_setting_value_and_what_is_allowed),
    cmocka_unit_test(devices__arguments_are_those_of_the_driver),
    cmocka_unit_test(addresses__forms),
    cmocka_unit_test(addresses__of_ipv6),
    cmocka_unit_test(addresses__faults_name_entry_part_and_what_is_allowed),
    cmocka_unit_test(neighbours__forms_and_faults),
    cmocka_unit_test(any_text__is_read_or_refused_with_a_reason),
};
static const unit::Group group{"device_spec", cases};
