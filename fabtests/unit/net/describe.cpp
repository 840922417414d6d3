// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Needs no privileges: there is a loopback interface everywhere, and nothing else is assumed.
#include "dpdkx/net/describe.h"

#include "dpdkx/net/kernel_interface.h"

#include <cerrno>
#include <cstring>

#include "unit/unit.h"

using namespace dpdkx::net;

namespace {

DeviceSpec device(const char *text) {
  std::vector<DeviceSpec> out;
  std::string error;
  assert_true(parse_devices(text, out, error));
  return out.at(0);
}

AddressSpec address(const char *text) {
  std::vector<std::optional<AddressSpec>> out;
  std::string error;
  assert_true(parse_addresses(text, out, error));
  return *out.at(0);
}

void expect_fault(int expected, const char *text, const std::optional<AddressSpec> &where,
                  std::uint32_t mtu, std::initializer_list<const char *> parts) {
  DeviceDescription out;
  std::string error;
  assert_int_equal(describe_device(device(text), where, Family::v4, mtu, out, error), expected);
  for (const char *part : parts)
    if (error.find(part) == std::string::npos)
      fail_msg("'%s' isn't in '%s'", part, error.c_str());
}

} // namespace

static void describe__vdev_with_an_address(void **) {
  DeviceDescription out;
  std::string error;
  assert_int_equal(describe_device(device("net_memif0,role=server"),
                                   address("10.99.7.1/24,10.99.7.254,12"), Family::v6, 0, out,
                                   error),
                   0);
  assert_string_equal(out.link_name.c_str(), "net_memif0");
  assert_true(out.address == (Network{Ipv4{0x0a630701}, 24}));
  assert_int_equal(out.vlan, 12);
  assert_int_equal(out.mtu, default_mtu);
  assert_false(out.kernel_has_address);
  assert_true(out.routes.next_hop(Ipv4{0x0a630709}) == Ipv4{0x0a630709});
  assert_true(out.routes.next_hop(Ipv4{0x08080808}) == Ipv4{0x0a6307fe});
}

static void describe__vdev_with_an_ipv6_address(void **) {
  DeviceDescription out;
  std::string error;
  assert_int_equal(describe_device(device("net_memif0,role=server"),
                                   address("fd99:7::1/64,fe80::9"), Family::v4, 0, out, error),
                   0);
  Ip peer, gateway, beyond;
  assert_true(parse_ip("fd99:7::2", peer) && parse_ip("fe80::9", gateway) &&
              parse_ip("2001:db8::1", beyond));
  assert_false(out.kernel_has_address);
  assert_true(out.routes.next_hop(peer) == peer);
  assert_true(out.routes.next_hop(beyond) == gateway);
  assert_false(out.routes.next_hop(Ipv4{0x08080808}).has_value());
}

static void describe__faults(void **) {
  expect_fault(-EADDRNOTAVAIL, "net_memif0", {}, 0, {"FI_DPDKX_ADDR", "net_memif0", "allowed"});
  expect_fault(-ENODEV, "no_such_if", {}, 0, {"FI_DPDKX_DEVICE", "no_such_if", "allowed", "PCI"});
  expect_fault(-ENODEV, "ffff:ff:1f.7", {}, 0,
               {"FI_DPDKX_DEVICE", "ffff:ff:1f.7", "no such PCI device", "allowed"});
  assert_null(std::strstr(kernel_interface_names().c_str(), "lo"));
  expect_fault(-ENODEV, "lo", {}, 0, {"FI_DPDKX_DEVICE", "lo", "Ethernet"});
  for (std::uint32_t mtu : {1u, 575u, 9979u, 100000u})
    expect_fault(-EMSGSIZE, "net_memif0", address("10.0.0.1/24"), mtu,
                 {"FI_DPDKX_MTU", std::to_string(mtu).c_str(), "allowed", "576-9978"});
  for (std::uint32_t mtu : {576u, 1279u}) // what IPv6 wants of every link
    expect_fault(-EMSGSIZE, "net_memif0", address("fd00::1/64"), mtu,
                 {"FI_DPDKX_MTU", std::to_string(mtu).c_str(), "allowed", "1280-9978"});
}

static void kernel__knows_its_loopback(void **) {
  auto lo = find_kernel_interface("lo");
  assert_true(lo.has_value());
  assert_false(lo->ethernet);
  assert_false(find_kernel_interface("").has_value());
  assert_false(find_kernel_interface(std::string(300, 'x')).has_value());
  assert_false(kernel_has_address(Ipv4{0x0a6307fe}));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(describe__vdev_with_an_address),
    cmocka_unit_test(describe__vdev_with_an_ipv6_address),
    cmocka_unit_test(describe__faults),
    cmocka_unit_test(kernel__knows_its_loopback),
};
static const unit::Group group{"describe", cases};
