// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/property.h"
#include "unit/wire/any.h"

#include <cstring>

#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::wire;

namespace {

std::uint32_t crc_of(std::vector<std::uint8_t> v) { return crc32c(std::as_bytes(std::span(v))); }

// The check value of the CRC catalogue, and the vectors of RFC 3720, B.4.
void crc32c__gives_the_known_values(void **) {
  const char text[] = "123456789";
  assert_int_equal(crc32c(std::as_bytes(std::span(text, 9))), 0xe3069283);
  assert_int_equal(crc_of(std::vector<std::uint8_t>(32, 0)), 0x8a9136aa);
  assert_int_equal(crc_of(std::vector<std::uint8_t>(32, 0xff)), 0x62a8ab43);
  std::vector<std::uint8_t> up(32), down(32);
  for (unsigned i = 0; i < 32; ++i)
    up[i] = static_cast<std::uint8_t>(i), down[i] = static_cast<std::uint8_t>(31 - i);
  assert_int_equal(crc_of(up), 0x46dd794e);
  assert_int_equal(crc_of(down), 0x113fdb5c);
  assert_int_equal(crc32c({}), 0);
}

std::uint32_t bit_by_bit(const std::vector<std::uint8_t> &v) {
  std::uint32_t crc = 0xffffffff;
  for (const std::uint8_t byte : v) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

// Short and long ones are summed up in different ways.
void crc32c__is_the_same_at_every_length(void **) {
  std::vector<std::uint8_t> v;
  for (unsigned length = 0; length < 600; ++length) {
    assert_int_equal(crc_of(v), bit_by_bit(v));
    v.push_back(static_cast<std::uint8_t>(length * 73 + 5));
  }
}

std::vector<std::byte> sealed(std::size_t size) {
  std::vector<std::byte> d(size);
  encode(d.data(), any::header());
  for (std::size_t i = packet_header_size; i < size; ++i)
    d[i] = std::byte(any::bits(0xff));
  seal(d);
  return d;
}

void seal__is_the_crc_with_the_field_zero(void **) {
  assert_true(unit::holds("seal is the crc with the field zero", [] {
    auto d = sealed(packet_header_size + any::below<std::size_t>(400));
    RC_ASSERT(verify(d));
    RC_ASSERT((std::to_integer<int>(d[2]) & packet_flag::checksummed) != 0);
    const auto stored = bytes::get<std::uint32_t>(d.data() + 4);
    std::memset(d.data() + 4, 0, 4);
    RC_ASSERT(crc32c(d) == stored);
  }));
}

// CRC32C finds every burst of up to 32 bits.
void verify__finds_any_short_burst(void **) {
  assert_true(unit::holds("verify finds any short burst", [] {
    auto d = sealed(packet_header_size + any::below<std::size_t>(400));
    const std::size_t first = any::below(d.size() * 8);
    const std::uint32_t burst = any::u32() | 1;
    for (unsigned i = 0; i < 32 && first + i < d.size() * 8; ++i)
      d[(first + i) / 8] ^= std::byte((burst >> i & 1) << (first + i) % 8);
    RC_ASSERT(!verify(d));
  }));
}

void verify__refuses_less_than_a_header(void **) {
  std::vector<std::byte> d(packet_header_size - 1);
  assert_false(verify(d));
  assert_false(verify({}));
}

const CMUnitTest cases[] = {
    cmocka_unit_test(crc32c__gives_the_known_values),
    cmocka_unit_test(crc32c__is_the_same_at_every_length),
    cmocka_unit_test(seal__is_the_crc_with_the_field_zero),
    cmocka_unit_test(verify__finds_any_short_burst),
    cmocka_unit_test(verify__refuses_less_than_a_header),
};
const unit::Group group{"checksum", cases};

} // namespace
