// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/frame.h"

#include "dpdkx/net/bytes.h"
#include "dpdkx/net/checksum.h"
#include "dpdkx/net/encapsulation.h"

#include <algorithm>
#include <memory>

#include "unit/property.h"
#include "unit/unit.h"

using namespace dpdkx::net;

namespace {

using Bytes = std::vector<std::byte>;

constexpr Mac our_mac{{2, 0, 0, 0, 0, 1}}, peer_mac{{2, 0, 0, 0, 0, 2}};
constexpr Ip our_ip{Ipv4{0x0a000001}}, peer_ip{Ipv4{0x0a000002}};
constexpr std::uint16_t our_port = 5000, peer_port = 6000;

LocalSide ours(std::uint16_t vlan = 0) { return {our_mac, our_ip, vlan}; }
LocalSide peers(std::uint16_t vlan = 0) { return {peer_mac, peer_ip, vlan}; }

// As the peer would send it to us.
Bytes udp_frame(std::size_t payload, std::uint16_t vlan = 0, bool padded = true) {
  UdpEncapsulation encapsulation(peers(vlan), peer_port, 10);
  Bytes frame(encapsulation.header_size() + payload, std::byte{0x5a});
  encapsulation.write(frame.data(), our_mac, our_ip, our_port, static_cast<std::uint16_t>(payload));
  if (padded)
    frame.resize(std::max<std::size_t>(frame.size(), min_frame));
  return frame;
}

Bytes question(const Mac &to, std::uint16_t vlan = 0) {
  Bytes frame(max_control_frame);
  frame.resize(write_question(frame.data(), peers(vlan), to, our_ip));
  return frame;
}

Bytes answer(std::uint16_t vlan = 0) {
  Bytes frame(max_control_frame);
  frame.resize(write_answer(frame.data(), peers(vlan), our_mac, our_ip));
  return frame;
}

// Our datagram to the peer, quoted by a router.
Bytes icmp_frame(std::uint8_t code, std::uint16_t mtu) {
  auto frame = udp_frame(8 + ipv4_size + 8 - udp_size, 0, false); // an IP packet of that length
  auto *ip = frame.data() + ethernet_size;
  auto *icmp = ip + ipv4_size;
  ip[9] = std::byte{1};
  store_be16(ip + 10, 0);
  store_be16(ip + 10, checksum_finish(checksum_add(0, {ip, ipv4_size})));
  std::fill_n(icmp, 8, std::byte{});
  icmp[0] = std::byte{3};
  icmp[1] = std::byte{code};
  store_be16(icmp + 6, mtu);
  UdpEncapsulation sent(ours(), our_port, 0);
  Bytes original(sent.header_size());
  sent.write(original.data(), peer_mac, peer_ip, peer_port, 100);
  std::copy(original.begin() + ethernet_size, original.end(), icmp + 8);
  store_be16(icmp + 2, checksum_finish(checksum_add(0, {icmp, 8 + ipv4_size + udp_size})));
  return frame;
}

// Parses a copy that ends where the allocation ends, for AddressSanitizer to watch.
Drop parse(const Bytes &frame, ReceivedFrame &out, const LocalSide &local = ours()) {
  auto copy = std::make_unique<std::byte[]>(frame.size());
  std::copy(frame.begin(), frame.end(), copy.get());
  return parse_frame({copy.get(), frame.size()}, local, out);
}

Drop parse(const Bytes &frame, const LocalSide &local = ours()) {
  ReceivedFrame ignored;
  return parse(frame, ignored, local);
}

void expect_drop(Drop expected, const Bytes &frame, const LocalSide &local = ours()) {
  assert_string_equal(std::string(to_string(parse(frame, local))).c_str(),
                      std::string(to_string(expected)).c_str());
}

Bytes with(Bytes frame, std::size_t at, std::uint8_t value) {
  frame.at(at) = std::byte{value};
  return frame;
}

// Changes a byte of the IP header and repairs its checksum.
Bytes with_ip(Bytes frame, std::size_t at, std::uint8_t value) {
  auto *ip = frame.data() + ethernet_size;
  ip[at] = std::byte{value};
  store_be16(ip + 10, 0);
  store_be16(ip + 10, checksum_finish(checksum_add(0, {ip, ipv4_size})));
  return frame;
}

} // namespace

static void udp__round_trip(void **) {
  assert_true(unit::holds("any size, ports, VLAN and padding", [] {
    auto size = *rc::gen::inRange<std::size_t>(0, 9000);
    auto vlan = *rc::gen::element<std::uint16_t>(0, 1, 100, 4094);
    auto frame = udp_frame(size, vlan, *rc::gen::arbitrary<bool>());
    ReceivedFrame out;
    RC_ASSERT(parse(frame, out, ours(vlan)) == Drop::none);
    RC_ASSERT(out.kind == FrameKind::udp);
    RC_ASSERT(out.source == peer_ip);
    RC_ASSERT(out.source_port == peer_port && out.port == our_port);
    RC_ASSERT(out.payload_len == size);
    RC_ASSERT(source_mac(frame.data()) == peer_mac);
  }));
}

static void udp__refuses_what_is_not_for_us(void **) {
  auto good = udp_frame(100);
  expect_drop(Drop::other_mac, with(good, 5, 9));
  expect_drop(Drop::other_mac, with(good, 0, 0xff));
  expect_drop(Drop::other_ip, with_ip(good, 19, 9));
  expect_drop(Drop::other_protocol, with_ip(good, 9, 6));
  expect_drop(Drop::other_protocol, with(good, 12, 0x86)); // an ethertype of its own
  expect_drop(Drop::other_protocol, with(with(good, 12, 0x86), 13, 0xdd)); // IPv6
  expect_drop(Drop::other_vlan, udp_frame(100, 5));
  expect_drop(Drop::other_vlan, udp_frame(100, 5), ours(6));
  expect_drop(Drop::other_vlan, good, ours(6));
}

static void udp__refuses_malformed(void **) {
  auto good = udp_frame(100);
  expect_drop(Drop::truncated, {});
  expect_drop(Drop::ip_header, with_ip(good, 0, 0x46)); // options
  expect_drop(Drop::ip_header, with_ip(good, 0, 0x65)); // version 6
  expect_drop(Drop::ip_header, with_ip(with_ip(good, 2, 0), 3, 19));
  expect_drop(Drop::truncated, with_ip(good, 3, 129));  // one byte more than there is
  expect_drop(Drop::udp_length, with_ip(good, 3, 127)); // one byte that no length covers
  expect_drop(Drop::ip_checksum, with(good, ethernet_size + 8, 1));
  expect_drop(Drop::ip_fragment, with_ip(good, 6, 0x20)); // more fragments
  expect_drop(Drop::ip_fragment, with_ip(good, 7, 1));    // an offset
  expect_drop(Drop::bad_source, with_ip(good, 12, 0));
  expect_drop(Drop::bad_source, with_ip(good, 12, 127));
  expect_drop(Drop::bad_source, with_ip(good, 12, 224));
  expect_drop(Drop::bad_source, with_ip(good, 15, 1)); // our own
  expect_drop(Drop::udp_length, with(good, ethernet_size + ipv4_size + 5, 107));
  expect_drop(Drop::udp_length, with(good, ethernet_size + ipv4_size + 5, 109));
  auto no_port = with(good, ethernet_size + ipv4_size, 0);
  expect_drop(Drop::bad_source, with(no_port, ethernet_size + ipv4_size + 1, 0));
}

static void udp__cut_short_is_never_accepted(void **) {
  auto good = udp_frame(100);
  for (std::size_t n = 0; n < good.size(); ++n)
    assert_true(parse(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n))) !=
                Drop::none);
}

static void udp__one_wrong_bit_in_the_ip_header_is_never_accepted(void **) {
  auto good = udp_frame(40);
  for (std::size_t at = ethernet_size; at < ethernet_size + ipv4_size; ++at)
    for (int bit = 0; bit < 8; ++bit) {
      auto bad = good;
      bad[at] ^= std::byte(1 << bit);
      assert_true(parse(bad) != Drop::none);
    }
}

static void any_bytes__are_read_within_bounds(void **) {
  assert_true(unit::holds("a good frame with random damage", [] {
    auto kind = *rc::gen::inRange(0, 4);
    auto vlan = static_cast<std::uint16_t>(kind == 3 ? 7 : 0);
    auto frame = kind == 0   ? icmp_frame(4, 1400)
                 : kind == 1 ? question(Mac::broadcast())
                             : udp_frame(60, vlan);
    auto hits = *rc::gen::container<std::vector<std::pair<std::uint8_t, std::uint8_t>>>(
        *rc::gen::inRange(0, 6), rc::gen::arbitrary<std::pair<std::uint8_t, std::uint8_t>>());
    for (auto [at, value] : hits)
      frame[at % frame.size()] = std::byte{value};
    frame.resize(*rc::gen::inRange<std::size_t>(0, frame.size() + 1));
    ReceivedFrame out;
    auto drop = parse(frame, out, ours(vlan));
    // What is accepted as a datagram lies within the frame.
    if (drop == Drop::none && out.kind == FrameKind::udp)
      RC_ASSERT(ours(vlan).headers() + out.payload_len <= frame.size());
  }));
}

static void arp__round_trip(void **) {
  for (std::uint16_t vlan : {0, 9}) {
    ReceivedFrame out;
    const auto &message = out.neighbour;
    assert_int_equal(question(Mac::broadcast(), vlan).size(), min_frame);
    assert_true(parse(question(Mac::broadcast(), vlan), out, ours(vlan)) == Drop::none);
    assert_true(out.kind == FrameKind::neighbour);
    assert_true(message.question && message.target == our_ip);
    assert_true(message.sender_mac == peer_mac && message.sender == peer_ip);
    assert_true(message.from == peer_mac && !message.weak);
    assert_true(parse(question(our_mac, vlan), out, ours(vlan)) == Drop::none);
    assert_true(parse(answer(vlan), out, ours(vlan)) == Drop::none);
    assert_true(!message.question && message.sender == peer_ip && message.sender_mac == peer_mac);
    Bytes announced(max_control_frame);
    announced.resize(write_announcement(announced.data(), peers(vlan)));
    assert_true(parse(announced, out, ours(vlan)) == Drop::none);
    assert_true(message.question && message.sender == peer_ip && message.target == peer_ip);
  }
}

static void arp__refuses_malformed(void **) {
  auto good = answer();
  for (std::size_t at : {0, 2, 4, 5, 6}) // hardware, protocol, lengths, operation
    expect_drop(Drop::arp_fields, with(good, ethernet_size + at, 9));
  expect_drop(Drop::arp_fields, with(good, ethernet_size + 7, 3));    // RARP
  expect_drop(Drop::arp_fields, with(good, ethernet_size + 8, 1));    // a multicast sender
  expect_drop(Drop::arp_fields, with(good, ethernet_size + 14, 224)); // its address
  expect_drop(Drop::other_mac, with(good, 5, 9));
  good.resize(ethernet_size + arp_size - 1);
  expect_drop(Drop::truncated, good);
}

static void icmp__tells_what_our_datagram_met(void **) {
  ReceivedFrame out;
  assert_true(parse(icmp_frame(4, 1400), out) == Drop::none);
  assert_true(out.kind == FrameKind::unreachable);
  assert_true(out.unreachable.too_big);
  assert_int_equal(out.unreachable.next_mtu, 1400);
  assert_true(out.unreachable.to == peer_ip);
  assert_int_equal(out.unreachable.to_port, peer_port);
  assert_int_equal(out.unreachable.from_port, our_port);
  assert_true(parse(icmp_frame(3, 0), out) == Drop::none);
  assert_false(out.unreachable.too_big);
  assert_int_equal(out.unreachable.code, 3);
}

static void icmp__refuses_what_it_does_not_cover(void **) {
  auto good = icmp_frame(3, 0);
  for (auto at = ethernet_size + ipv4_size + 1; at < good.size(); ++at) {
    auto bad = good;
    bad[at] ^= std::byte{0x40};
    expect_drop(Drop::icmp_fields, bad);
  }
  expect_drop(Drop::other_protocol, with(good, ethernet_size + ipv4_size, 8)); // echo
}

static void farewell__round_trip(void **) {
  for (bool answer : {false, true}) {
    Bytes frame(min_frame);
    assert_int_equal(write_farewell(frame.data(), peers(), {answer}), min_frame);
    ReceivedFrame out;
    assert_true(parse(frame, out) == Drop::none);
    assert_true(out.kind == FrameKind::farewell);
    assert_int_equal(out.farewell.answer, answer);
    expect_drop(Drop::other_protocol, with(frame, ethernet_size, 9));
    expect_drop(Drop::other_protocol, with(frame, ethernet_size + 4, 2));
    frame.resize(ethernet_size + 4);
    expect_drop(Drop::truncated, frame);
  }
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(udp__round_trip),
    cmocka_unit_test(udp__refuses_what_is_not_for_us),
    cmocka_unit_test(udp__refuses_malformed),
    cmocka_unit_test(udp__cut_short_is_never_accepted),
    cmocka_unit_test(udp__one_wrong_bit_in_the_ip_header_is_never_accepted),
    cmocka_unit_test(any_bytes__are_read_within_bounds),
    cmocka_unit_test(arp__round_trip),
    cmocka_unit_test(arp__refuses_malformed),
    cmocka_unit_test(icmp__tells_what_our_datagram_met),
    cmocka_unit_test(farewell__round_trip),
    cmocka_unit_test(icmp__refuses_what_it_does_not_cover),
};
static const unit::Group group{"frame", cases};
