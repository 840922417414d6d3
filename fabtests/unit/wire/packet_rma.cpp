// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The frames of RMA and atomics.
#include "unit/property.h"
#include "unit/wire/frames.h"

#include <algorithm>
#include <array>
#include <utility>

#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::wire;
using namespace frames;

namespace {

// --- what is encoded is decoded

bool same(const Targets &a, const Targets &b) {
  return std::equal(a.at, a.at + a.count, b.at, b.at + b.count,
                    [](const RemoteTarget &x, const RemoteTarget &y) {
                      return x.address == y.address && x.length == y.length && x.key == y.key;
                    });
}

void write__comes_back(void **) {
  assert_true(unit::holds("write comes back", [] {
    const WriteFrame f = any::write();
    const Exact e = encoded(f, size_of(f), f.len);
    const WriteFrame d = decoded(e, FrameType::write).write;
    RC_ASSERT(d.flags == f.flags && d.len == f.len && d.mn == f.mn && d.data == f.data);
    RC_ASSERT(same(d.targets, f.targets));
    RC_ASSERT(d.payload == e.data.get() + size_of(f));
    RC_ASSERT(size_of(f) <= max_write_frame_size);
  }));
}

void write_request__comes_back(void **) {
  assert_true(unit::holds("write_request comes back", [] {
    const WriteRequestFrame f = any::write_request();
    const Exact e = encoded(f, size_of(f));
    const WriteRequestFrame d = decoded(e, FrameType::write_request).write_request;
    RC_ASSERT(d.flags == f.flags && d.mn == f.mn && d.sender == f.sender && d.data == f.data &&
              d.regions == f.regions);
    RC_ASSERT(same(d.targets, f.targets));
    for (unsigned i = 0; i < f.regions; ++i)
      RC_ASSERT(d.region[i].address == f.region[i].address &&
                d.region[i].length == f.region[i].length);
    RC_ASSERT(size_of(f) <= max_write_request_frame_size);
  }));
}

void read_status__come_back(void **) {
  assert_true(unit::holds("read, status come back", [] {
    const ReadFrame r = any::read();
    const ReadFrame dr = decoded(encoded(r, size_of(r)), FrameType::read).read;
    RC_ASSERT(dr.mn == r.mn && dr.reader == r.reader && same(dr.targets, r.targets));
    RC_ASSERT(size_of(r) <= max_read_frame_size);
    const StatusFrame s = any::status();
    const StatusFrame ds = decoded(encoded(s, status_frame_size), FrameType::status).status;
    RC_ASSERT(ds.status == s.status && ds.mn == s.mn);
  }));
}

void atomic__comes_back(void **) {
  assert_true(unit::holds("atomic comes back", [] {
    const AtomicFrame f = any::atomic();
    const Exact e = encoded(f, size_of(f), f.len);
    const AtomicFrame d = decoded(e, FrameType::atomic).atomic;
    RC_ASSERT(d.flags == f.flags && d.len == f.len && d.mn == f.mn && d.reader == f.reader &&
              d.op == f.op && d.datatype == f.datatype && d.kind == f.kind && d.data == f.data);
    RC_ASSERT(same(d.targets, f.targets));
    RC_ASSERT(d.payload == e.data.get() + size_of(f));
    RC_ASSERT(size_of(f) <= max_atomic_frame_size);
  }));
}

void targets__sum_up(void **) {
  Targets t;
  assert_int_equal(t.total(), 0);
  t.count = 3;
  t.at[0] = {1, std::uint64_t{1} << 40, 2};
  t.at[1] = {3, 0, 4};
  t.at[2] = {5, 7, 6};
  assert_true(t.total() == (std::uint64_t{1} << 40) + 7);
}

// --- what is malformed is refused

constexpr std::uint64_t all64 = ~std::uint64_t{0};

void write__refuses_targets_that_its_payload_does_not_fill(void **) {
  WriteFrame f;
  assert_false(frame_refused(f)); // nothing is written nowhere
  f.len = 1;
  assert_true(frame_refused(f)); // something is
  f.targets.count = 2;
  f.targets.at[0] = {1000, 10, 1};
  f.targets.at[1] = {2000, 20, 2};
  for (f.len = 0; f.len < 60; ++f.len) {
    f.flags = 0;
    assert_int_equal(frame_refused(f), f.len != 30);
    f.flags = frame_flag::more;
    assert_int_equal(frame_refused(f), f.len >= 30);
  }
  f.len = 0;
  f.targets.at[0].length = f.targets.at[1].length = 0;
  f.flags = frame_flag::more;
  assert_true(frame_refused(f)); // nothing can come
}

void write_request__refuses_regions_that_do_not_fit(void **) {
  WriteRequestFrame f{};
  assert_true(frame_refused(f)); // no target
  f.targets.count = 1;
  f.targets.at[0] = {1000, 0, 1};
  assert_true(frame_refused(f)); // nothing is written
  f.targets.at[0].length = 30;
  assert_false(frame_refused(f));
  f.flags = frame_flag::pull;
  assert_true(frame_refused(f)); // no region
  f.regions = 2;
  f.region[0] = {1000, 10};
  for (const std::uint64_t length : {std::uint64_t{19}, std::uint64_t{20}, std::uint64_t{21}}) {
    f.region[1] = {2000, length};
    assert_int_equal(frame_refused(f), length != 20);
  }
  f.region[1] = {all64 - 18, 20};
  assert_true(frame_refused(f)); // wraps
  f.region[1] = {all64 - 20, 20};
  assert_false(frame_refused(f));
  f.flags = 0;
  assert_true(frame_refused(f)); // not announced
}

// One that would be right if sums were taken modulo 2^64.
template <class F> void refuses_targets_that_wrap(F f, std::uint64_t total) {
  f.targets.count = 2;
  f.targets.at[0] = {all64 - total, total, 0};
  f.targets.at[1] = {all64, 0, 0};
  assert_false(frame_refused(f));
  ++f.targets.at[0].address; // the end
  assert_true(frame_refused(f));
  f.targets.at[0] = {0, all64, 0};
  f.targets.at[1] = {0, total + 1, 0};
  assert_true(frame_refused(f)); // the sum
  std::swap(f.targets.at[0], f.targets.at[1]);
  assert_true(frame_refused(f));
}

void targets__may_not_wrap(void **) {
  WriteFrame w;
  w.len = 16;
  refuses_targets_that_wrap(w, 16);
  w.flags = frame_flag::more;
  refuses_targets_that_wrap(w, 17);
  refuses_targets_that_wrap(WriteRequestFrame{}, 16);
  WriteRequestFrame pulled{};
  pulled.flags = frame_flag::pull;
  pulled.regions = 1;
  pulled.region[0] = {0, 16};
  refuses_targets_that_wrap(pulled, 16);
  refuses_targets_that_wrap(ReadFrame{}, 16);
  refuses_targets_that_wrap(AtomicFrame{}, 16);
}

// `at`: of the byte that counts them.
template <class F> void refuses_one_more(const F &f, std::size_t at, std::size_t most) {
  std::array<std::byte, 4096> d{};
  encode(d.data(), f);
  assert_false(refused(d));
  assert_int_equal(std::to_integer<std::size_t>(d[at]), most);
  for (std::size_t n = most + 1; n < 256; ++n) {
    d[at] = std::byte(n);
    assert_true(refused(d));
  }
}

void targets__are_eight_at_most(void **) {
  Targets t;
  t.count = max_targets;
  for (RemoteTarget &r : t.at)
    r = {0, 0, 0};
  WriteFrame write;
  write.targets = t;
  refuses_one_more(write, 8, max_targets);
  ReadFrame read;
  read.targets = t;
  refuses_one_more(read, 3, max_targets);
  AtomicFrame atomic;
  atomic.targets = t;
  refuses_one_more(atomic, 19, max_targets);
  WriteRequestFrame request{};
  t.at[0].length = 1;
  request.targets = t;
  refuses_one_more(request, 3, max_targets);
  request.flags = frame_flag::pull;
  request.regions = max_rts_regions;
  request.region[0].length = 1;
  refuses_one_more(request, 2, max_rts_regions);
}

void status__is_an_error_number(void **) {
  for (const int status : {0, 1, 110, 4095, 4096, 0xffff}) {
    StatusFrame f;
    f.status = static_cast<std::uint16_t>(status);
    assert_int_equal(frame_refused(f), status == 0 || status > 4095);
  }
}

void atomic__refuses_other_kinds_and_what_no_packet_holds(void **) {
  AtomicFrame f;
  for (int kind = 0; kind < 256; ++kind) {
    f.kind = static_cast<std::uint8_t>(kind);
    assert_int_equal(frame_refused(f), kind > 2);
  }
  f.kind = 0;
  f.targets.count = 2;
  f.targets.at[0] = {0, 0xfff0, 0};
  f.targets.at[1] = {0, 0xf, 0};
  assert_false(frame_refused(f));
  f.targets.at[1].length = 0x10;
  assert_true(frame_refused(f));
}

void rma_frames__ignore_what_is_reserved(void **) {
  const auto ignored = [](const auto &f, std::size_t from, std::size_t to) {
    std::array<std::byte, 64> d{};
    encode(d.data(), f);
    std::fill(d.begin() + static_cast<std::ptrdiff_t>(from),
              d.begin() + static_cast<std::ptrdiff_t>(to), std::byte{0xff});
    return !refused(d);
  };
  assert_true(ignored(WriteFrame{}, 9, 16));
  assert_true(ignored(ReadFrame{}, 2, 3));
  assert_true(ignored(AtomicFrame{}, 20, 24));
}

// Where a payload stands, in frames that were right but for one byte.
template <class F> void stays_inside(const F &f, std::size_t payload) {
  const Exact e = encoded(f, size_of(f), payload);
  e.data[any::below(std::min(e.size, std::size_t{32}))] = std::byte(any::bits(0xff));
  std::span<const std::byte> in = e.span();
  Frame d;
  if (decode_frame(in, d) != FrameResult::frame)
    return;
  RC_ASSERT(in.data() > e.data.get() && in.data() + in.size() == e.data.get() + e.size);
  if (d.type == FrameType::write)
    RC_ASSERT(d.write.payload + d.write.len == in.data());
  if (d.type == FrameType::atomic)
    RC_ASSERT(d.atomic.payload + d.atomic.len == in.data());
}

void rma_frames__stay_inside_whatever_byte_is_wrong(void **) {
  assert_true(unit::holds("RMA frames stay inside whatever byte is wrong", [] {
    const WriteFrame w = any::write();
    stays_inside(w, w.len);
    stays_inside(any::write_request(), 0);
    stays_inside(any::read(), 0);
    const AtomicFrame a = any::atomic();
    stays_inside(a, a.len);
  }));
}

const CMUnitTest cases[] = {
    cmocka_unit_test(write__comes_back),
    cmocka_unit_test(write_request__comes_back),
    cmocka_unit_test(read_status__come_back),
    cmocka_unit_test(atomic__comes_back),
    cmocka_unit_test(targets__sum_up),
    cmocka_unit_test(write__refuses_targets_that_its_payload_does_not_fill),
    cmocka_unit_test(write_request__refuses_regions_that_do_not_fit),
    cmocka_unit_test(targets__may_not_wrap),
    cmocka_unit_test(targets__are_eight_at_most),
    cmocka_unit_test(status__is_an_error_number),
    cmocka_unit_test(atomic__refuses_other_kinds_and_what_no_packet_holds),
    cmocka_unit_test(rma_frames__ignore_what_is_reserved),
    cmocka_unit_test(rma_frames__stay_inside_whatever_byte_is_wrong),
};
const unit::Group group{"packet_rma", cases};

} // namespace
