// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/frame.h"

#include "dpdkx/net/bytes.h"
#include "dpdkx/net/checksum.h"
#include "dpdkx/net/encapsulation.h"

#include <memory>

#include "unit/property.h"
#include "unit/unit.h"

using namespace dpdkx::net;

namespace {

using Bytes = std::vector<std::byte>;

constexpr Mac our_mac{{2, 0, 0, 0, 0, 1}}, peer_mac{{2, 0, 0, 0, 0, 2}};
constexpr std::uint16_t our_port = 5000, peer_port = 6000;
constexpr std::size_t ip_at = ethernet_size, icmp_at = ip_at + ipv6_size;
constexpr std::size_t next_header = ip_at + 6, hop_limit = ip_at + 7, source_at = ip_at + 8,
                      destination_at = ip_at + 24;

Ip ip(const char *text) {
  Ip out;
  assert_true(parse_ip(text, out));
  return out;
}

LocalSide ours(std::uint16_t vlan = 0) { return {our_mac, ip("fd00::1"), vlan}; }
LocalSide peers(std::uint16_t vlan = 0) { return {peer_mac, ip("fd00::2"), vlan}; }

// As the peer would send it to us.
Bytes udp_frame(std::size_t payload, std::uint16_t vlan = 0, std::size_t padding = 0) {
  UdpEncapsulation encapsulation(peers(vlan), peer_port, 10);
  Bytes frame(encapsulation.header_size() + payload, std::byte{0x5a});
  encapsulation.write(frame.data(), our_mac, ours().ip, our_port,
                      static_cast<std::uint16_t>(payload));
  frame.resize(frame.size() + padding);
  return frame;
}

template <class Write> Bytes control_frame(Write &&write) {
  Bytes frame(max_control_frame);
  frame.resize(write(frame.data()));
  return frame;
}

Bytes solicitation(const Mac &to = Mac::broadcast(), std::uint16_t vlan = 0) {
  return control_frame(
      [&](std::byte *at) { return write_question(at, peers(vlan), to, ours().ip); });
}

Bytes advertisement(std::uint16_t vlan = 0) {
  return control_frame(
      [&](std::byte *at) { return write_answer(at, peers(vlan), our_mac, ours().ip); });
}

Bytes announcement() {
  return control_frame([&](std::byte *at) { return write_announcement(at, peers()); });
}

void repair_checksum(Bytes &frame) {
  auto *icmp = frame.data() + icmp_at;
  auto size = frame.size() - icmp_at;
  store_be16(icmp + 2, 0);
  auto sum = checksum_add(size + 58, {frame.data() + source_at, 2 * Ip::size});
  store_be16(icmp + 2, checksum_finish(checksum_add(sum, {icmp, size})));
}

// Our datagram to the peer, quoted by a router.
Bytes icmp_frame(std::uint8_t type, std::uint8_t code, std::uint32_t word) {
  auto frame = udp_frame(8 + ipv6_size + 8 - udp_size); // an IP packet of that length
  auto *icmp = frame.data() + icmp_at;
  frame[next_header] = std::byte{58};
  icmp[0] = std::byte{type};
  icmp[1] = std::byte{code};
  store_be32(icmp + 4, word);
  UdpEncapsulation sent(ours(), our_port, 0, true);
  Bytes original(sent.header_size());
  sent.write(original.data(), peer_mac, peers().ip, peer_port, 100);
  std::copy(original.begin() + ethernet_size, original.end(), icmp + 8);
  repair_checksum(frame);
  return frame;
}

// Parses a copy that ends where the allocation ends, for AddressSanitizer to watch.
Drop parse(const Bytes &frame, ReceivedFrame &out, const LocalSide &local = ours()) {
  auto copy = std::make_unique<std::byte[]>(frame.size());
  std::copy(frame.begin(), frame.end(), copy.get());
  return parse_frame({copy.get(), frame.size()}, local, out);
}

void expect_drop(Drop expected, const Bytes &frame, const LocalSide &local = ours()) {
  ReceivedFrame ignored;
  assert_string_equal(std::string(to_string(parse(frame, ignored, local))).c_str(),
                      std::string(to_string(expected)).c_str());
}

Bytes with(Bytes frame, std::size_t at, std::uint8_t value) {
  frame.at(at) = std::byte{value};
  return frame;
}

Bytes with_ip(Bytes frame, std::size_t at, const Ip &value) {
  value.store(frame.data() + at);
  return frame;
}

// The same for what the checksum of ICMPv6 covers.
Bytes repaired(Bytes frame) {
  repair_checksum(frame);
  return frame;
}

} // namespace

static void udp__round_trip(void **) {
  assert_true(unit::holds("any size, VLAN and padding", [] {
    auto size = *rc::gen::inRange<std::size_t>(0, 9000);
    auto vlan = *rc::gen::element<std::uint16_t>(0, 1, 100, 4094);
    auto frame = udp_frame(size, vlan, *rc::gen::inRange<std::size_t>(0, 3));
    ReceivedFrame out;
    RC_ASSERT(parse(frame, out, ours(vlan)) == Drop::none);
    RC_ASSERT(out.kind == FrameKind::udp);
    RC_ASSERT(out.source == peers().ip);
    RC_ASSERT(out.source_port == peer_port && out.port == our_port);
    RC_ASSERT(out.payload_len == size);
    RC_ASSERT(source_mac(frame.data()) == peer_mac);
  }));
}

static void udp__refuses_what_is_not_for_us(void **) {
  auto good = udp_frame(100);
  expect_drop(Drop::other_mac, with(good, 5, 9));
  expect_drop(Drop::other_mac, with(good, 0, 0xff));
  expect_drop(Drop::other_ip, with(good, destination_at + 15, 9));
  expect_drop(Drop::other_protocol, with(good, next_header, 6));
  expect_drop(Drop::other_protocol, with(with(good, 12, 8), 13, 0)); // IPv4
  expect_drop(Drop::other_vlan, udp_frame(100, 5));
  expect_drop(Drop::other_vlan, good, ours(6));
  // Datagrams to groups: to its address, its MAC address, or both.
  auto group = solicited_node(ours().ip);
  auto to_group = with_ip(good, destination_at, group), to_mac = good, both = to_group;
  group_mac(group).store(to_mac.data());
  group_mac(group).store(both.data());
  for (const auto &frame : {to_group, to_mac, both})
    expect_drop(Drop::other_ip, frame);
}

static void udp__refuses_malformed(void **) {
  auto good = udp_frame(100);
  expect_drop(Drop::truncated, {});
  expect_drop(Drop::ip_header, with(good, ip_at, 0x45));  // version 4
  expect_drop(Drop::ip_header, with(good, ip_at + 5, 0)); // a jumbogram's length
  expect_drop(Drop::truncated, with(good, ip_at + 5, 109));
  expect_drop(Drop::udp_length, with(good, ip_at + 5, 107)); // one byte that no length covers
  expect_drop(Drop::udp_length, with(good, ip_at + 5, 7));
  expect_drop(Drop::udp_length, with(good, icmp_at + 5, 107));
  for (std::uint8_t extension : {0, 43, 51, 60})
    expect_drop(Drop::ip_header, with(good, next_header, extension));
  expect_drop(Drop::ip_fragment, with(good, next_header, 44));
  for (const char *source : {"::", "::1", "ff02::1", "fe80::2", "fd00::1"})
    expect_drop(Drop::bad_source, with_ip(good, source_at, ip(source)));
  expect_drop(Drop::bad_source, with_ip(good, source_at, Ip(Ipv4{0x0a000002}))); // mapped
  auto no_port = with(good, icmp_at, 0);
  expect_drop(Drop::bad_source, with(no_port, icmp_at + 1, 0));
  expect_drop(Drop::udp_checksum, with(with(good, icmp_at + 6, 0), icmp_at + 7, 0));
}

static void udp__cut_short_is_never_accepted(void **) {
  auto good = udp_frame(100);
  ReceivedFrame out;
  for (std::size_t n = 0; n < good.size(); ++n)
    assert_true(parse(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n)), out) !=
                Drop::none);
}

static void solicitation__round_trip(void **) {
  for (std::uint16_t vlan : {0, 9})
    for (const auto &to : {Mac::broadcast(), our_mac}) {
      ReceivedFrame out;
      const auto &message = out.neighbour;
      auto frame = solicitation(to, vlan);
      assert_true(parse(frame, out, ours(vlan)) == Drop::none);
      assert_true(Mac::load(frame.data()) ==
                  (to == our_mac ? our_mac : Mac{{0x33, 0x33, 0xff, 0, 0, 1}}));
      assert_true(out.kind == FrameKind::neighbour && message.question && !message.weak);
      assert_true(message.sender == peers().ip && message.sender_mac == peer_mac);
      assert_true(message.target == ours().ip && message.from == peer_mac);
    }
}

static void solicitation__of_who_has_no_address_yet(void **) {
  auto probe = solicitation();
  probe.resize(icmp_at + icmp6_size); // without its option
  probe[ip_at + 5] = std::byte{icmp6_size};
  probe = repaired(with_ip(probe, source_at, {}));
  ReceivedFrame out;
  assert_true(parse(probe, out) == Drop::none);
  assert_true(out.neighbour.question && out.neighbour.sender.is_any());
  assert_true(out.neighbour.sender_mac.is_zero() && out.neighbour.from == peer_mac);
  // To us alone, or with a MAC address, it isn't one.
  auto to_us = repaired(with_ip(probe, destination_at, ours().ip));
  our_mac.store(to_us.data());
  expect_drop(Drop::nd_fields, to_us);
  expect_drop(Drop::nd_fields, repaired(with_ip(solicitation(), source_at, {})));
}

static void advertisement__round_trip(void **) {
  for (std::uint16_t vlan : {0, 9}) {
    ReceivedFrame out;
    const auto &message = out.neighbour;
    assert_true(parse(advertisement(vlan), out, ours(vlan)) == Drop::none);
    assert_true(out.kind == FrameKind::neighbour && !message.question && !message.weak);
    assert_true(message.sender == peers().ip && message.sender_mac == peer_mac);
  }
  ReceivedFrame out;
  auto frame = announcement();
  assert_true(parse(frame, out) == Drop::none && out.neighbour.sender == peers().ip);
  assert_true(Mac::load(frame.data()) == group_mac(all_nodes));
  // Unasked it must not claim to be an answer.
  expect_drop(Drop::nd_fields, repaired(with(frame, icmp_at + 4, 0x60)));
  auto to_nobody = control_frame([](std::byte *at) { return write_answer(at, peers(), {}, {}); });
  assert_true(to_nobody == frame);
}

static void advertisement__without_override_or_option_is_weak(void **) {
  ReceivedFrame out;
  assert_true(parse(repaired(with(advertisement(), icmp_at + 4, 0x40)), out) == Drop::none);
  assert_true(out.neighbour.weak && out.neighbour.sender_mac == peer_mac);
  auto bare = advertisement();
  bare.resize(icmp_at + icmp6_size);
  bare[ip_at + 5] = std::byte{icmp6_size};
  assert_true(parse(repaired(bare), out) == Drop::none);
  assert_true(out.neighbour.weak && out.neighbour.sender_mac.is_zero());
}

static void neighbour__refuses_malformed(void **) {
  for (const auto &good : {solicitation(), advertisement()}) {
    constexpr auto target = icmp_at + 8, option = icmp_at + icmp6_size;
    expect_drop(Drop::nd_fields, with(good, hop_limit, 254)); // from beyond a router
    expect_drop(Drop::nd_fields, with(good, icmp_at + 2, 0x5a));
    expect_drop(Drop::nd_fields, repaired(with(good, icmp_at + 1, 1)));
    for (const char *wrong : {"ff02::1", "::", "::1"})
      expect_drop(Drop::nd_fields, repaired(with_ip(good, target, ip(wrong))));
    expect_drop(Drop::nd_fields, repaired(with_ip(good, target, Ip(Ipv4{0x0a000001}))));
    expect_drop(Drop::nd_fields, repaired(with(good, option + 1, 0))); // an option without end
    expect_drop(Drop::nd_fields, repaired(with(good, option + 1, 2))); // beyond the packet
    expect_drop(Drop::nd_fields, repaired(with(good, option + 2, 3))); // a group's MAC address
    expect_drop(Drop::bad_source, repaired(with_ip(good, source_at, ip("ff02::1"))));
    expect_drop(Drop::bad_source, repaired(with_ip(good, source_at, Ip(Ipv4{0x0a000002}))));
    expect_drop(Drop::other_ip, with(good, destination_at + 15, 9));
    auto odd = good;
    odd.push_back(std::byte{1}); // half an option
    odd[ip_at + 5] = std::byte{33};
    expect_drop(Drop::nd_fields, repaired(odd));
    auto short_one = good;
    short_one.resize(icmp_at + icmp6_size - 1);
    short_one[ip_at + 5] = std::byte{icmp6_size - 1};
    expect_drop(Drop::nd_fields, repaired(short_one));
  }
  expect_drop(Drop::nd_fields, repaired(with_ip(advertisement(), source_at, {})));
  expect_drop(Drop::other_mac, with(solicitation(), 0, 0x32));                      // not a group's
  expect_drop(Drop::other_protocol, repaired(with(advertisement(), icmp_at, 134))); // a router's
}

static void neighbour__one_wrong_bit_is_never_accepted(void **) {
  for (const auto &good : {solicitation(), advertisement(), announcement()})
    for (std::size_t at = ip_at + 4; at < good.size(); ++at)
      for (int bit = 0; bit < 8; ++bit) {
        auto bad = good;
        bad[at] ^= std::byte(1 << bit);
        ReceivedFrame out;
        assert_true(parse(bad, out) != Drop::none);
      }
}

static void icmp__tells_what_our_datagram_met(void **) {
  ReceivedFrame out;
  assert_true(parse(icmp_frame(2, 0, 1400), out) == Drop::none);
  assert_true(out.kind == FrameKind::unreachable && out.unreachable.too_big);
  assert_int_equal(out.unreachable.next_mtu, 1400);
  assert_true(out.unreachable.to == peers().ip);
  assert_int_equal(out.unreachable.to_port, peer_port);
  assert_int_equal(out.unreachable.from_port, our_port);
  assert_true(parse(icmp_frame(1, 4, 0), out) == Drop::none);
  assert_false(out.unreachable.too_big);
  assert_int_equal(out.unreachable.code, 4);
}

static void icmp__refuses_what_it_does_not_cover(void **) {
  for (const auto &good : {icmp_frame(1, 4, 0), icmp_frame(2, 0, 1400)}) {
    for (auto at = icmp_at + 1; at < good.size(); ++at)
      expect_drop(Drop::icmp_fields,
                  with(good, at, std::to_integer<std::uint8_t>(good[at]) ^ 0x40));
    constexpr auto quoted = icmp_at + 8;
    expect_drop(Drop::icmp_fields, repaired(with(good, quoted, 0x45)));
    expect_drop(Drop::icmp_fields, repaired(with(good, quoted + 6, 6)));      // TCP
    expect_drop(Drop::icmp_fields, repaired(with(good, quoted + 8 + 15, 7))); // not from us
    auto short_one = good;
    short_one.pop_back();
    short_one[ip_at + 5] = std::byte{55};
    expect_drop(Drop::icmp_fields, repaired(short_one));
    expect_drop(Drop::other_ip, repaired(with_ip(good, destination_at, all_nodes)));
  }
  expect_drop(Drop::other_protocol, repaired(with(icmp_frame(1, 0, 0), icmp_at, 128))); // echo
}

static void report__is_one_that_switches_understand(void **) {
  auto frame = control_frame([](std::byte *at) {
    return write_group_report(at, ours(), solicited_node(ours().ip), true);
  });
  // To MLD routers, from nobody, no further than the link, a router alert before the report.
  assert_true(Mac::load(frame.data()) == (Mac{{0x33, 0x33, 0, 0, 0, 0x16}}));
  assert_int_equal(load_be16(frame.data() + ip_at + 4), frame.size() - icmp_at);
  assert_int_equal(std::to_integer<int>(frame[next_header]), 0);
  assert_int_equal(std::to_integer<int>(frame[hop_limit]), 1);
  assert_true(Ip::load(frame.data() + source_at).is_any());
  assert_true(Ip::load(frame.data() + destination_at) == ip("ff02::16"));
  const std::uint8_t alert[] = {58, 0, 5, 2, 0, 0, 1, 0};
  assert_memory_equal(frame.data() + icmp_at, alert, sizeof(alert));
  frame.erase(frame.begin() + icmp_at, frame.begin() + icmp_at + sizeof(alert));
  auto sent = frame;
  repair_checksum(frame);
  assert_true(frame == sent);
  const std::uint8_t head[] = {143, 0}, rest[] = {0, 0, 0, 1, 4, 0, 0, 0};
  assert_memory_equal(frame.data() + icmp_at, head, sizeof(head));
  assert_memory_equal(frame.data() + icmp_at + 4, rest, sizeof(rest));
  assert_true(Ip::load(frame.data() + icmp_at + 12) == solicited_node(ours().ip));
  assert_int_equal(frame.size(), icmp_at + 28);
}

static void any_bytes__are_read_within_bounds(void **) {
  assert_true(unit::holds("a good frame with random damage", [] {
    auto vlan = *rc::gen::element<std::uint16_t>(0, 7);
    auto kind = vlan ? 3 : *rc::gen::inRange(0, 4);
    auto frame = kind == 0   ? icmp_frame(2, 0, 1400)
                 : kind == 1 ? solicitation()
                 : kind == 2 ? advertisement()
                             : udp_frame(60, vlan);
    auto hits = *rc::gen::container<std::vector<std::pair<std::uint8_t, std::uint8_t>>>(
        *rc::gen::inRange(0, 6), rc::gen::arbitrary<std::pair<std::uint8_t, std::uint8_t>>());
    for (auto [at, value] : hits)
      frame[at % frame.size()] = std::byte{value};
    if (kind < 3 && *rc::gen::arbitrary<bool>())
      repair_checksum(frame);
    frame.resize(*rc::gen::inRange<std::size_t>(0, frame.size() + 1));
    ReceivedFrame out;
    auto drop = parse(frame, out, ours(vlan));
    // What is accepted as a datagram lies within the frame.
    if (drop == Drop::none && out.kind == FrameKind::udp)
      RC_ASSERT(ours(vlan).headers() + out.payload_len <= frame.size());
  }));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(udp__round_trip),
    cmocka_unit_test(udp__refuses_what_is_not_for_us),
    cmocka_unit_test(udp__refuses_malformed),
    cmocka_unit_test(udp__cut_short_is_never_accepted),
    cmocka_unit_test(solicitation__round_trip),
    cmocka_unit_test(solicitation__of_who_has_no_address_yet),
    cmocka_unit_test(advertisement__round_trip),
    cmocka_unit_test(advertisement__without_override_or_option_is_weak),
    cmocka_unit_test(neighbour__refuses_malformed),
    cmocka_unit_test(neighbour__one_wrong_bit_is_never_accepted),
    cmocka_unit_test(icmp__tells_what_our_datagram_met),
    cmocka_unit_test(icmp__refuses_what_it_does_not_cover),
    cmocka_unit_test(report__is_one_that_switches_understand),
    cmocka_unit_test(any_bytes__are_read_within_bounds),
};
static const unit::Group group{"frame_ipv6", cases};
