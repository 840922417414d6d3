// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Datagrams to groups, and who is told that we are in them.
#include "dpdkx/net/bytes.h"
#include "dpdkx/net/checksum.h"
#include "dpdkx/net/encapsulation.h"
#include "dpdkx/net/frame.h"

#include <cstring>

#include "unit/unit.h"

using namespace dpdkx::net;

namespace {

using Bytes = std::vector<std::byte>;

constexpr Mac our_mac{{2, 0, 0, 0, 0, 1}}, peer_mac{{2, 0, 0, 0, 0, 2}};

Ip ip(const char *text) {
  Ip out;
  assert_true(parse_ip(text, out));
  return out;
}

struct Family {
  LocalSide ours, peers;
  Ip group;
};

std::vector<Family> families() {
  std::vector<Family> all;
  for (const std::uint16_t vlan : {0, 7}) {
    all.push_back(
        {{our_mac, ip("10.0.0.1"), vlan}, {peer_mac, ip("10.0.0.2"), vlan}, ip("239.129.3.4")});
    all.push_back({{our_mac, ip("fd00::1"), vlan}, {peer_mac, ip("fd00::2"), vlan}, ip("ff15::3")});
  }
  for (Family &f : all)
    f.ours.groups = true;
  return all;
}

Bytes datagram(const LocalSide &from, const Mac &mac, const Ip &to) {
  UdpEncapsulation encapsulation(from, 6000, 10);
  Bytes frame(encapsulation.header_size() + 100, std::byte{0x5a});
  encapsulation.write(frame.data(), mac, to, 7000, 100);
  return frame;
}

void expect_drop(Drop expected, const Bytes &frame, const LocalSide &local) {
  ReceivedFrame ignored;
  const auto drop = parse_frame(frame, local, ignored);
  if (drop != expected)
    fail_msg("dropped as %s, not %s", std::string(to_string(drop)).c_str(),
             std::string(to_string(expected)).c_str());
}

} // namespace

static void mac__of_a_group(void **) {
  assert_true(group_mac(ip("224.0.0.22")) == (Mac{{0x01, 0, 0x5e, 0, 0, 22}}));
  assert_true(group_mac(ip("239.129.3.4")) == (Mac{{0x01, 0, 0x5e, 0x01, 3, 4}}));
  assert_true(group_mac(ip("ff15::12:3456")) == (Mac{{0x33, 0x33, 0, 0x12, 0x34, 0x56}}));
}

static void datagram__to_a_group(void **) {
  for (const Family &f : families()) {
    const auto frame = datagram(f.peers, group_mac(f.group), f.group);
    ReceivedFrame out;
    assert_true(parse_frame(frame, f.ours, out) == Drop::none);
    assert_true(out.kind == FrameKind::udp && out.to_group);
    assert_true(out.group == f.group);
    assert_true(out.source == f.peers.ip);
    assert_int_equal(out.port, 7000);
    assert_int_equal(out.payload_len, 100);
    // One to ourselves is no group's, though groups are of use.
    assert_true(parse_frame(datagram(f.peers, our_mac, f.ours.ip), f.ours, out) == Drop::none);
    assert_false(out.to_group);
    auto without = f.ours;
    without.groups = false;
    expect_drop(f.ours.is_v6 ? Drop::other_ip : Drop::other_mac, frame, without);
  }
}

// RFC 1122, 3.3.6: of MAC and IP address both are a group's, or neither.
static void datagram__half_to_a_group(void **) {
  for (const Family &f : families()) {
    expect_drop(Drop::other_ip, datagram(f.peers, group_mac(f.group), f.ours.ip), f.ours);
    expect_drop(Drop::other_ip, datagram(f.peers, our_mac, f.group), f.ours);
    expect_drop(Drop::bad_source, datagram(f.ours, group_mac(f.group), f.group), f.ours);
  }
}

static void report__igmp(void **) {
  for (const bool listening : {true, false}) {
    const Family f = families()[0];
    Bytes frame(max_control_frame, std::byte{0xee});
    frame.resize(write_group_report(frame.data(), f.ours, f.group, listening));
    assert_int_equal(frame.size(), min_frame);
    assert_true(Mac::load(frame.data()) == group_mac(ip("224.0.0.22")));
    const auto *header = frame.data() + ethernet_size, *igmp = header + 24;
    assert_int_equal(std::to_integer<int>(header[0]), 0x46);
    assert_int_equal(load_be16(header + 2), 24 + 16);
    assert_int_equal(std::to_integer<int>(header[8]), 1); // no further than the link
    assert_int_equal(std::to_integer<int>(header[9]), 2);
    assert_true(checksum_holds({header, 24}) && checksum_holds({igmp, 16}));
    assert_int_equal(load_be32(header + 12), f.ours.v4.value);
    assert_int_equal(load_be32(header + 16), 0xe0000016);
    assert_int_equal(load_be32(header + 20), 0x94040000);
    const std::uint8_t head[] = {0x22, 0},
                       record[] = {0, 0, 0, 1,   static_cast<std::uint8_t>(listening ? 4 : 3),
                                   0, 0, 0, 239, 129,
                                   3, 4};
    assert_memory_equal(igmp, head, sizeof head);
    assert_memory_equal(igmp + 4, record, sizeof record);
  }
}

static void report__mld(void **) {
  const Family f = families()[1];
  for (const bool listening : {true, false}) {
    Bytes frame(max_control_frame);
    frame.resize(write_group_report(frame.data(), f.ours, f.group, listening));
    const auto *record = frame.data() + ethernet_size + ipv6_size + 8 + 8; // after the router alert
    assert_int_equal(std::to_integer<int>(record[0]), listening ? 4 : 3);
    assert_true(Ip::load(record + 4) == f.group);
  }
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(mac__of_a_group),
    cmocka_unit_test(datagram__to_a_group),
    cmocka_unit_test(datagram__half_to_a_group),
    cmocka_unit_test(report__igmp),
    cmocka_unit_test(report__mld),
};
static const unit::Group group{"groups", cases};
