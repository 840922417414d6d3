// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/checksum.h"

#include "dpdkx/net/bytes.h"

#include "unit/property.h"
#include "unit/unit.h"

using namespace dpdkx::net;

namespace {

std::vector<std::byte> as_bytes(const std::vector<std::uint8_t> &in) {
  std::vector<std::byte> out;
  for (auto b : in)
    out.push_back(std::byte{b});
  return out;
}

// RFC 1071 word by word, with the carry folded at once.
std::uint16_t slow_checksum(const std::vector<std::uint8_t> &bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    sum += static_cast<std::uint32_t>(bytes[i] << 8 | (i + 1 < bytes.size() ? bytes[i + 1] : 0));
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return static_cast<std::uint16_t>(~sum);
}

} // namespace

static void checksum__equals_the_definition(void **) {
  assert_true(rc::check("any bytes", [](const std::vector<std::uint8_t> &bytes) {
    RC_ASSERT(checksum_finish(checksum_add(0, as_bytes(bytes))) == slow_checksum(bytes));
  }));
}

static void checksum__of_long_runs_of_ones(void **) {
  std::vector<std::uint8_t> ones(65536, 0xff);
  assert_int_equal(checksum_finish(checksum_add(0, as_bytes(ones))), slow_checksum(ones));
  assert_int_equal(checksum_finish(~std::uint64_t{0}), slow_checksum({}) ^ 0xffff);
}

static void checksum__known_header(void **) {
  // The example header of RFC 1071's successors: 45 00 00 73 ... c0 a8 00 c7
  const std::vector<std::uint8_t> header = {0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40,
                                            0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
                                            0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};
  assert_true(checksum_holds(as_bytes(header)));
  auto broken = header;
  broken[3] ^= 1;
  assert_false(checksum_holds(as_bytes(broken)));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(checksum__equals_the_definition),
    cmocka_unit_test(checksum__of_long_runs_of_ones),
    cmocka_unit_test(checksum__known_header),
};
static const unit::Group group{"checksum", cases};
