// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The frame of counters.
#include "unit/property.h"
#include "unit/wire/frames.h"

#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::wire;
using namespace frames;

namespace {

void add__comes_back(void **) {
  assert_true(unit::holds("add comes back", [] {
    const AddFrame f = any::add();
    const AddFrame d = decoded(encoded(f, add_frame_size), FrameType::add).add;
    RC_ASSERT(d.flags == f.flags && d.mn == f.mn && d.key == f.key && d.value == f.value);
  }));
}

void add__has_no_other_flags(void **) {
  for (unsigned flags = 0; flags < 256; ++flags) {
    AddFrame f;
    f.flags = static_cast<std::uint8_t>(flags);
    const bool known =
        flags == 0 || flags == frame_flag::want_processed || flags == frame_flag::untold;
    assert_int_equal(frame_refused(f), !known);
  }
}

void add__ignores_what_is_reserved(void **) {
  const Exact e = encoded(AddFrame{}, add_frame_size);
  e.data[2] = e.data[3] = std::byte{0xff};
  assert_false(refused(e.span()));
}

// What follows it in the packet is the next frame.
void add__takes_its_own_bytes_only(void **) {
  Exact e(2 * add_frame_size);
  AddFrame second;
  second.value = 2;
  encode(encode(e.data.get(), AddFrame{}), second);
  std::span<const std::byte> in = e.span();
  Frame d;
  assert_true(decode_frame(in, d) == FrameResult::frame);
  assert_int_equal(d.add.value, 0);
  assert_true(decode_frame(in, d) == FrameResult::frame);
  assert_int_equal(d.add.value, 2);
  assert_true(in.empty());
}

const CMUnitTest cases[] = {
    cmocka_unit_test(add__comes_back),
    cmocka_unit_test(add__has_no_other_flags),
    cmocka_unit_test(add__ignores_what_is_reserved),
    cmocka_unit_test(add__takes_its_own_bytes_only),
};
const unit::Group group{"packet_counter", cases};

} // namespace
