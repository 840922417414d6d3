// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/joined.h"

#include "dpdkx/net/bytes.h"
#include "dpdkx/net/checksum.h"
#include "dpdkx/net/encapsulation.h"

#include <vector>

#include "unit/unit.h"

using namespace dpdkx::net;

namespace {

using Bytes = std::vector<std::byte>;

constexpr Mac peer_mac{{2, 0, 0, 0, 0, 2}};

struct Side {
  LocalSide local;
  Ip peer;
  std::uint32_t headers;
};

const Side &side(unsigned which) {
  constexpr Mac mac{{2, 0, 0, 0, 0, 1}};
  static const Ip v4{Ipv4{0x0a000001}}, peer_v4{Ipv4{0x0a000002}};
  static const auto v6 = [](std::uint8_t last) {
    Ip ip;
    ip.bytes = {0xfd, 0, 0, 0x77};
    ip.bytes[15] = last;
    return ip;
  };
  static const Side all[] = {{{mac, v4}, peer_v4, 42},
                             {{mac, v4, 7}, peer_v4, 46},
                             {{mac, v6(1)}, v6(2), 62},
                             {{mac, v6(1), 7}, v6(2), 66}};
  return all[which];
}

Bytes frame(const Side &side, std::uint16_t payload, std::uint16_t to_port = 6000) {
  const UdpEncapsulation encapsulation(side.local, 5000, 10);
  Bytes out(encapsulation.header_size() + payload, std::byte{0x5a});
  encapsulation.write(out.data(), peer_mac, side.peer, to_port, payload);
  return out;
}

void each_side(void (*check)(const Side &)) {
  for (unsigned i = 0; i < 4; ++i)
    check(side(i));
}

} // namespace

static void headers__are_those_of_a_datagram(void **) {
  each_side([](const Side &s) {
    const Bytes whole = frame(s, 100);
    assert_int_equal(udp_headers(whole), s.headers);
    assert_int_equal(udp_payload(whole.data(), s.headers), 100);
    for (std::size_t n = 0; n < whole.size(); ++n)
      assert_int_equal(udp_headers({whole.data(), n}), n < s.headers ? 0 : s.headers);
  });
}

static void headers__of_anything_else_are_none(void **) {
  each_side([](const Side &s) {
    const bool v6 = s.local.is_v6;
    const std::uint32_t ip = s.local.link_header();
    const Bytes whole = frame(s, 100);
    for (const std::uint32_t at : {ip - 2, ip, v6 ? ip + 6 : ip + 9}) { // type, version, protocol
      Bytes other = whole;
      other[at] ^= std::byte{0x22};
      assert_int_equal(udp_headers(other), 0);
    }
  });
}

static void headers__that_say_less_than_themselves_have_no_payload(void **) {
  Bytes whole = frame(side(0), 100);
  for (const std::uint16_t length : {0, 7, 8}) {
    store_be16(whole.data() + 38, length);
    assert_int_equal(udp_payload(whole.data(), 42), 0);
  }
}

static void same__but_for_lengths(void **) {
  each_side([](const Side &s) {
    const Bytes one = frame(s, 100);
    assert_true(same_headers(one.data(), frame(s, 99).data(), s.headers));
    assert_false(same_headers(one.data(), frame(s, 100, 6001).data(), s.headers));
    const std::uint32_t ip = s.local.link_header();
    const bool v6 = s.local.is_v6;
    for (std::uint32_t at = 0; at < s.headers; ++at) {
      Bytes other = one;
      other[at] ^= std::byte{1};
      const bool length = v6 ? at == ip + 4 || at == ip + 5
                             : at == ip + 2 || at == ip + 3 || at == ip + 10 || at == ip + 11;
      const bool of_udp = at >= s.headers - 4; // length and checksum
      assert_int_equal(same_headers(one.data(), other.data(), s.headers), length || of_udp);
    }
  });
}

static void payload__set_again_is_as_if_it_had_been_so(void **) {
  each_side([](const Side &s) {
    for (const std::uint16_t size : {0, 1, 1400, 8972}) {
      Bytes changed = frame(s, 1000);
      const Bytes wanted = frame(s, size);
      set_udp_payload(changed.data(), s.headers, size, false);
      // IPv6's UDP checksum is the caller's.
      const std::size_t same = s.headers - (s.local.is_v6 ? 2 : 0);
      assert_memory_equal(changed.data(), wanted.data(), same);
    }
  });
}

// What the kernel or a NIC does with it: the sum over UDP's header and payload goes there.
static void checksum__begun_can_be_ended(void **) {
  each_side([](const Side &s) {
    constexpr std::uint32_t size = 5000;
    Bytes joined = frame(s, 1000);
    joined.resize(s.headers + size, std::byte{0xa7});
    set_udp_payload(joined.data(), s.headers, size, true);
    std::byte *const udp = joined.data() + s.headers - udp_size;
    const std::uint16_t sum = checksum_finish(checksum_add(0, {udp, udp_size + size}));
    store_be16(udp + 6, sum);
    const std::uint32_t addresses = s.local.is_v6 ? 2 * Ip::size : 8;
    const std::uint64_t before = checksum_add(17 + udp_size + size, {udp - addresses, addresses});
    assert_int_equal(checksum_finish(checksum_add(before, {udp, udp_size + size})), 0);
  });
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(headers__are_those_of_a_datagram),
    cmocka_unit_test(headers__of_anything_else_are_none),
    cmocka_unit_test(headers__that_say_less_than_themselves_have_no_payload),
    cmocka_unit_test(same__but_for_lengths),
    cmocka_unit_test(payload__set_again_is_as_if_it_had_been_so),
    cmocka_unit_test(checksum__begun_can_be_ended),
};
static const unit::Group group{"net_joined", cases};
