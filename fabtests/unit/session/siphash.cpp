// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/session/siphash.h"

#include "unit/unit.h"

using namespace dpdkx::session;

namespace {

// From the reference implementation: key 00 01 ... 0f, input 00 01 ... (length - 1).
void siphash__gives_the_reference_values(void **) {
  const SipKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::byte in[15];
  for (unsigned i = 0; i < sizeof(in); ++i)
    in[i] = std::byte(i);
  const std::span<const std::byte> all(in);
  assert_true(siphash(key, all.first(0)) == 0x726fdb47dd0e0e31);
  assert_true(siphash(key, all.first(1)) == 0x74f839c593dc67fd);
  assert_true(siphash(key, all.first(8)) == 0x93f5f5799a932462);
  assert_true(siphash(key, all) == 0xa129ca6149be45e5);
}

const CMUnitTest cases[] = {cmocka_unit_test(siphash__gives_the_reference_values)};
const unit::Group group{"siphash", cases};

} // namespace
