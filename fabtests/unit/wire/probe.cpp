// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/wire/probe.h"
#include "unit/property.h"

#include "unit/wire/any.h"

#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::wire;

namespace {

void probe__comes_back(void **) {
  assert_true(unit::holds("probe comes back", [] {
    const Probe p = any::probe();
    std::vector<std::byte> d(probe_size + p.padding);
    RC_ASSERT(encode(d.data(), p) == d.data() + d.size());
    Probe o;
    RC_ASSERT(decode(d, o));
    RC_ASSERT(o.version_min == p.version_min && o.version_max == p.version_max &&
              o.kind == p.kind && o.role == p.role && o.sequence == p.sequence &&
              o.length == p.length && o.answer_port == p.answer_port && o.asker == p.asker &&
              o.cookie == p.cookie && o.asked == p.asked && o.heard == p.heard &&
              o.max_datagram == p.max_datagram && o.key == p.key && o.padding == p.padding);
    const std::size_t n = any::below(d.size());
    d.resize(n);
    RC_ASSERT(decode(d, o) == (n == probe_size)); // only the padding is missing
  }));
}

void datagram__is_sealed_and_as_long_as_padding_makes_it(void **) {
  for (const std::uint32_t padding : {0u, 4u, 1392u, 8892u}) {
    std::vector<std::byte> d(min_probe + padding);
    Probe p, o;
    p.asker = 5;
    p.padding = padding;
    assert_int_equal(encode_datagram(d.data(), p), d.size());
    assert_true(verify(d));
    std::span<const std::byte> in(d);
    const auto header = decode_header(in);
    assert_true(header && header->type == PacketType::probe &&
                header->flags == packet_flag::checksummed);
    assert_true(decode(in, o) && o.asker == 5 && o.padding == padding);
  }
}

void probe__refuses_what_makes_no_sense(void **) {
  std::vector<std::byte> d(probe_size);
  Probe o;
  const auto refused = [&](const Probe &p) {
    encode(d.data(), p);
    return !decode(d, o);
  };
  assert_false(refused({}));
  assert_true(refused({.version_min = 3, .version_max = 2}));
  assert_true(refused({.kind = ProbeKind{0}}));
  assert_true(refused({.kind = ProbeKind{3}}));
  assert_true(refused({.max_datagram = min_datagram - 1}));
  assert_false(refused({.role = ProbeRole{77}})); // what later versions may be
}

void probe__tells_no_more_of_a_key_than_its_first_bytes(void **) {
  KeyDigest key{}, other{};
  assert_int_equal(probe_key(key), 0);
  for (std::size_t i = 0; i < key.size(); ++i)
    key[i] = other[i] = std::byte(i + 1);
  other[8] = std::byte{99};
  assert_int_equal(probe_key(key), 0x0807060504030201);
  assert_true(probe_key(key) == probe_key(other));
}

void probe__survives_anything(void **) {
  assert_true(unit::holds("probe survives anything", [] {
    auto raw = *rc::gen::scale(
        3.0, rc::gen::container<std::vector<std::uint8_t>>(rc::gen::arbitrary<std::uint8_t>()));
    Probe p;
    decode(std::as_bytes(std::span(raw)), p);
  }));
}

const CMUnitTest cases[] = {
    cmocka_unit_test(probe__comes_back),
    cmocka_unit_test(datagram__is_sealed_and_as_long_as_padding_makes_it),
    cmocka_unit_test(probe__refuses_what_makes_no_sense),
    cmocka_unit_test(probe__tells_no_more_of_a_key_than_its_first_bytes),
    cmocka_unit_test(probe__survives_anything),
};
const unit::Group group{"probe", cases};

} // namespace
