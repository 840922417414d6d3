// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/encapsulation.h"

#include "dpdkx/net/bytes.h"
#include "dpdkx/net/checksum.h"

#include "unit/property.h"
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

// A whole frame with random bytes in it.
Bytes frame_of(const LocalSide &local, const Ip &to, std::uint16_t from_port, std::uint16_t to_port,
               const std::vector<std::uint8_t> &payload) {
  UdpEncapsulation encapsulation(local, from_port, 10);
  Bytes frame(encapsulation.header_size());
  for (auto byte : payload)
    frame.push_back(std::byte{byte});
  encapsulation.write(frame.data(), peer_mac, to, to_port,
                      static_cast<std::uint16_t>(payload.size()));
  return frame;
}

// The sum that RFC 8200, 8.1 wants, over the frame's pseudo-header and all behind the header.
std::uint16_t udp6_sum(const Bytes &frame) {
  const auto *header = frame.data() + ethernet_size;
  Bytes covered(header + 8, header + ipv6_size);
  for (auto byte : {std::byte{0}, std::byte{0}, header[4], header[5], std::byte{0}, std::byte{0},
                    std::byte{0}, header[6]})
    covered.push_back(byte);
  covered.insert(covered.end(), frame.begin() + ethernet_size + ipv6_size, frame.end());
  return checksum_finish(checksum_add(0, covered));
}

} // namespace

static void ipv4__header_as_sent(void **) {
  auto frame = frame_of({our_mac, ip("10.0.0.1")}, ip("10.0.0.2"), 5000, 6000,
                        std::vector<std::uint8_t>(100));
  const auto *header = frame.data() + ethernet_size;
  assert_int_equal(load_be16(header), 0x4500 | 10 << 2);
  assert_int_equal(load_be16(header + 2), 128);
  assert_int_equal(load_be16(header + 6), 0x4000); // DF
  assert_int_equal(load_be16(header + ipv4_size + 6), 0);
  assert_true(checksum_holds({header, ipv4_size}));
}

static void ipv4__header_checksum_for_any_peer(void **) {
  assert_true(rc::check("any addresses, ports, lengths", [](std::uint32_t from, std::uint32_t to,
                                                            std::uint16_t port, std::uint8_t dscp) {
    UdpEncapsulation encapsulation({our_mac, Ipv4{from}}, port, dscp & 63);
    Bytes header(encapsulation.header_size());
    auto size = static_cast<std::uint16_t>(*rc::gen::inRange(0, 65507));
    encapsulation.write(header.data(), peer_mac, Ipv4{to}, port, size);
    RC_ASSERT(checksum_holds({header.data() + ethernet_size, ipv4_size}));
  }));
}

static void ipv6__header_as_sent(void **) {
  auto frame =
      frame_of({our_mac, ip("fd00::1")}, ip("fd00::2"), 5000, 6000, std::vector<std::uint8_t>(100));
  const auto *header = frame.data() + ethernet_size;
  assert_int_equal(load_be16(frame.data() + 12), 0x86dd);
  assert_int_equal(load_be32(header) >> 20, 0x600 | 10 << 2);
  assert_int_equal(load_be16(header + 4), 108);
  assert_int_equal(std::to_integer<int>(header[6]), 17);
  assert_int_equal(std::to_integer<int>(header[7]), 64);
  assert_true(Ip::load(header + 8) == ip("fd00::1") && Ip::load(header + 24) == ip("fd00::2"));
  assert_int_equal(load_be16(header + 40), 5000);
  assert_int_equal(load_be16(header + 42), 6000);
  assert_int_equal(load_be16(header + 44), 108);
}

static void ipv6__flow_label_tells_flows_apart(void **) {
  auto label = [](std::uint16_t from, std::uint16_t to) {
    auto frame = frame_of({our_mac, ip("fd00::1")}, ip("fd00::2"), from, to, {});
    return load_be32(frame.data() + ethernet_size) & 0xfffff;
  };
  assert_int_equal(label(5000, 6000), label(5000, 6000));
  assert_int_not_equal(label(5000, 6000), label(5000, 6001));
  assert_int_not_equal(label(5000, 6000), label(5001, 6000));
}

static void ipv6__checksum_covers_addresses_ports_and_payload(void **) {
  assert_true(
      rc::check("any of them", [](const std::array<std::uint8_t, 16> &from,
                                  const std::array<std::uint8_t, 16> &to, std::uint16_t port,
                                  std::uint16_t to_port, const std::vector<std::uint8_t> &payload) {
        LocalSide local(our_mac, Ip(from));
        RC_PRE(local.is_v6);
        auto frame = frame_of(local, Ip(to), port, to_port, payload);
        RC_ASSERT(udp6_sum(frame) == 0);
        RC_ASSERT(load_be16(frame.data() + ethernet_size + ipv6_size + 6) != 0);
      }));
}

static void ipv6__checksum_of_zero_goes_as_ones(void **) {
  // Some payload of two bytes brings the sum there.
  bool found = false;
  for (unsigned value = 0; value < 0x10000; ++value) {
    auto frame =
        frame_of({our_mac, ip("fd00::1")}, ip("fd00::2"), 5000, 6000,
                 {static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)});
    auto checksum = load_be16(frame.data() + ethernet_size + ipv6_size + 6);
    assert_int_not_equal(checksum, 0);
    found = found || checksum == 0xffff;
  }
  assert_true(found);
}

static void ipv6__checksum_left_to_the_device(void **) {
  UdpEncapsulation encapsulation({our_mac, ip("fd00::1")}, 5000, 0, true);
  Bytes frame(encapsulation.header_size());
  encapsulation.write(frame.data(), peer_mac, ip("fd00::2"), 6000, 0);
  assert_int_equal(load_be16(frame.data() + ethernet_size + ipv6_size + 6), 0);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(ipv4__header_as_sent),
    cmocka_unit_test(ipv4__header_checksum_for_any_peer),
    cmocka_unit_test(ipv6__header_as_sent),
    cmocka_unit_test(ipv6__flow_label_tells_flows_apart),
    cmocka_unit_test(ipv6__checksum_covers_addresses_ports_and_payload),
    cmocka_unit_test(ipv6__checksum_of_zero_goes_as_ones),
    cmocka_unit_test(ipv6__checksum_left_to_the_device),
};
static const unit::Group group{"encapsulation", cases};
