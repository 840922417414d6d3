// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The frames of connections.
#include "unit/property.h"
#include "unit/wire/frames.h"

#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::wire;
using namespace frames;

namespace {

constexpr FrameType all_types[] = {FrameType::connect, FrameType::accept, FrameType::ready,
                                   FrameType::reject, FrameType::shutdown};

void connection__comes_back(void **) {
  assert_true(unit::holds("connection comes back", [] {
    const ConnectionFrame f = any::connection();
    const Exact e = encoded(f, connection_frame_size, f.len);
    const ConnectionFrame d = decoded(e, f.type).connection;
    RC_ASSERT(d.type == f.type && d.len == f.len && d.mn == f.mn && d.id == f.id);
    RC_ASSERT(d.payload == e.data.get() + connection_frame_size);
  }));
}

void connection__carries_no_more_than_it_may(void **) {
  for (const FrameType type : all_types) {
    ConnectionFrame f;
    f.type = type;
    const bool speaks = type != FrameType::ready && type != FrameType::shutdown;
    f.len = speaks ? max_connection_data : 0;
    assert_false(frame_refused(f));
    ++f.len;
    assert_true(frame_refused(f));
    f.len = 0xffff;
    assert_true(frame_refused(f));
  }
}

void connection__has_no_flags(void **) {
  for (const FrameType type : all_types)
    for (unsigned flags = 1; flags < 256; ++flags) {
      ConnectionFrame f;
      f.type = type;
      Exact e(connection_frame_size);
      encode(e.data.get(), f);
      assert_false(refused(e.span()));
      e.data[1] = std::byte(flags);
      assert_true(refused(e.span()));
    }
}

// The smallest packet of a session has room for one: protocol.md, section 4.
void connection__fits_into_any_packet(void **) {
  constexpr std::size_t smallest = 548, riding_ack = AckBlock::fixed_size + 4 * 8;
  assert_true(packet_header_size + riding_ack + connection_frame_size + max_connection_data <=
              smallest);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(connection__comes_back),
    cmocka_unit_test(connection__carries_no_more_than_it_may),
    cmocka_unit_test(connection__has_no_flags),
    cmocka_unit_test(connection__fits_into_any_packet),
};
const unit::Group group{"packet_connection", cases};

} // namespace
