// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/property.h"
#include "unit/wire/frames.h"

#include <array>
#include <cstring>

#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::wire;
using namespace frames;

namespace {

// --- what is encoded is decoded

void header__comes_back(void **) {
  assert_true(unit::holds("header comes back", [] {
    const PacketHeader h = any::header();
    const Exact e = encoded(h, packet_header_size);
    std::span<const std::byte> in = e.span();
    const auto d = decode_header(in);
    RC_ASSERT(d.has_value());
    RC_ASSERT(in.empty());
    RC_ASSERT(d->type == h.type && d->flags == h.flags && d->checksum == h.checksum &&
              d->token == h.token && d->pn == h.pn && d->version == protocol_version);
  }));
}

void ack__comes_back(void **) {
  assert_true(unit::holds("ack comes back", [] {
    const AckBlock a = any::ack();
    const Exact e = encoded(a, a.wire_size());
    std::span<const std::byte> in = e.span();
    AckBlock d{};
    RC_ASSERT(decode_ack(in, d));
    RC_ASSERT(in.empty());
    RC_ASSERT(d.cumulative == a.cumulative && d.processed == a.processed &&
              d.credit_limit == a.credit_limit && d.delay_us == a.delay_us &&
              d.sack_words == a.sack_words);
    RC_ASSERT(std::equal(d.sack, d.sack + d.sack_words, a.sack));
    const std::size_t n = any::below(e.size);
    std::span<const std::byte> cut = e.span().first(n);
    RC_ASSERT(!decode_ack(cut, d));
  }));
}

void message__comes_back(void **) {
  assert_true(unit::holds("message comes back", [] {
    const MessageFrame f = any::message();
    const Exact e = encoded(f, size_of(f), f.len);
    const MessageFrame d = decoded(e, f.tagged ? FrameType::tagged : FrameType::message).message;
    RC_ASSERT(d.tagged == f.tagged && d.flags == f.flags && d.len == f.len && d.mn == f.mn &&
              d.tag == f.tag && d.data == f.data && d.total == f.total);
    RC_ASSERT(d.payload == e.data.get() + size_of(f));
    RC_ASSERT(size_of(f) <= max_message_frame_size);
  }));
}

void segment__comes_back(void **) {
  assert_true(unit::holds("segment comes back", [] {
    const SegmentFrame f = any::segment();
    const Exact e = encoded(f, segment_frame_size, f.len);
    const SegmentFrame d = decoded(e, FrameType::segment).segment;
    RC_ASSERT(d.len == f.len && d.mn == f.mn && d.offset == f.offset);
    RC_ASSERT(d.payload == e.data.get() + segment_frame_size);
  }));
}

void rts__comes_back(void **) {
  assert_true(unit::holds("rts comes back", [] {
    const RtsFrame f = any::rts();
    const Exact e = encoded(f, size_of(f));
    const RtsFrame d = decoded(e, FrameType::rts).rts;
    RC_ASSERT(d.flags == f.flags && d.mn == f.mn && d.total == f.total && d.sender == f.sender &&
              d.tag == f.tag && d.data == f.data && d.regions == f.regions);
    for (unsigned i = 0; i < f.regions; ++i)
      RC_ASSERT(d.region[i].address == f.region[i].address &&
                d.region[i].length == f.region[i].length);
    RC_ASSERT(size_of(f) <= max_rts_frame_size);
  }));
}

void cts_rdata_fin__come_back(void **) {
  assert_true(unit::holds("cts, rdata, fin come back", [] {
    const CtsFrame c = any::cts();
    const CtsFrame dc = decoded(encoded(c, cts_frame_size), FrameType::cts).cts;
    RC_ASSERT(dc.sender == c.sender && dc.receiver == c.receiver && dc.length == c.length);
    const RdataFrame r = any::rdata();
    const Exact e = encoded(r, rdata_frame_size, r.len);
    const RdataFrame dr = decoded(e, FrameType::rdata).rdata;
    RC_ASSERT(dr.len == r.len && dr.receiver == r.receiver && dr.offset == r.offset);
    RC_ASSERT(dr.payload == e.data.get() + rdata_frame_size);
    const FinFrame f = any::fin();
    const FinFrame df = decoded(encoded(f, fin_frame_size), FrameType::fin).fin;
    RC_ASSERT(df.sender == f.sender && df.status == f.status);
  }));
}

void frames__follow_each_other_until_the_pad(void **) {
  std::array<std::byte, 128> d{};
  MessageFrame m;
  m.len = 5;
  std::byte *end = encode(d.data(), m) + m.len;
  end = encode(end, FinFrame{OpId{9}, 2});
  std::span<const std::byte> in(d);
  Frame f;
  assert_true(decode_frame(in, f) == FrameResult::frame && f.type == FrameType::message);
  assert_true(decode_frame(in, f) == FrameResult::frame && f.type == FrameType::fin);
  assert_int_equal(f.fin.status, 2);
  assert_true(decode_frame(in, f) == FrameResult::end);
  in = std::span<const std::byte>(d).first(static_cast<std::size_t>(end - d.data()));
  assert_true(decode_frame(in, f) == FrameResult::frame);
  assert_true(decode_frame(in, f) == FrameResult::frame);
  assert_true(decode_frame(in, f) == FrameResult::end);
}

// --- what is malformed is refused

void header__refuses_other_versions_types_flags(void **) {
  std::array<std::byte, packet_header_size> d;
  encode(d.data(), PacketHeader{});
  const auto with = [&](std::size_t at, int v) {
    auto copy = d;
    copy[at] = std::byte(v);
    std::span<const std::byte> in(copy);
    return decode_header(in).has_value();
  };
  assert_true(with(0, protocol_version));
  assert_false(with(0, protocol_version + 1));
  assert_false(with(0, 0));
  for (int type = 0; type < 256; ++type)
    assert_int_equal(with(1, type), type >= 1 && type <= 10);
  for (int flags = 0; flags < 256; ++flags)
    assert_int_equal(with(2, flags), (flags & ~31) == 0);
  assert_true(with(3, 0xff) && with(20, 0xff)); // reserved: ignored
  std::span<const std::byte> cut = std::span<const std::byte>(d).first(packet_header_size - 1);
  assert_false(decode_header(cut).has_value());
}

void ack__refuses_too_many_words(void **) {
  AckBlock a{};
  std::array<std::byte, 512> d{};
  encode(d.data(), a);
  d[14] = std::byte(AckBlock::max_sack_words + 1);
  std::span<const std::byte> in(d);
  assert_false(decode_ack(in, a));
  d[14] = std::byte(AckBlock::max_sack_words);
  assert_true(decode_ack(in, a));
}

void frames__refuse_unknown_types_and_flags(void **) {
  std::array<std::byte, 512> d{};
  for (int type = 0; type < 256; ++type) {
    if (type <= 11 || type == 32 || type == 48 || (type >= 56 && type <= 60))
      continue;
    d[0] = std::byte(type);
    assert_true(refused(d));
  }
  // Flags that may stand alone in a frame of that type, which is valid with some bytes 1: `more`
  // needs a total, `pull` regions.
  const struct {
    FrameType type;
    std::uint8_t flags;
    std::vector<std::size_t> ones = {};
  } types[] = {{FrameType::message, 1 | 4},
               {FrameType::tagged, 1 | 4},
               {FrameType::segment, 0, {2}}, // never empty
               {FrameType::rts, 1 | 4 | 8},
               {FrameType::cts, 0},
               {FrameType::rdata, 0},
               {FrameType::fin, 0},
               {FrameType::write, 1 | 4},
               {FrameType::write_request, 1, {3, 24, 32}}, // a target of one byte, with data or not
               {FrameType::read, 0},
               {FrameType::status, 0, {2}}, // never 0
               {FrameType::atomic, 1 | 4},
               {FrameType::add, 4 | 32}};
  for (const auto &t : types) {
    d = {};
    d[0] = std::byte(t.type);
    for (const std::size_t at : t.ones)
      d[at] = std::byte{1};
    assert_false(refused(d));
    for (int bit = 0; bit < 8; ++bit) {
      d[1] = std::byte(1 << bit);
      assert_int_equal(refused(d), (t.flags >> bit & 1) == 0);
    }
  }
}

void message__refuses_a_total_within_its_first_part(void **) {
  MessageFrame f;
  f.flags = frame_flag::more;
  f.len = 100;
  f.total = 100;
  assert_true(frame_refused(f));
  f.total = 101;
  assert_false(frame_refused(f));
}

void segment__refuses_nothing_and_overflow(void **) {
  SegmentFrame f;
  f.len = 0;
  assert_true(frame_refused(f));
  f.len = 16;
  f.offset = 0xfffffff0;
  assert_true(frame_refused(f));
  f.offset = 0xffffffef;
  assert_false(frame_refused(f));
}

void rdata__refuses_overflow(void **) {
  RdataFrame f;
  f.len = 16;
  f.offset = ~std::uint64_t{0} - 15;
  assert_true(frame_refused(f));
  f.offset -= 1;
  assert_false(frame_refused(f));
}

void rts__refuses_regions_that_do_not_fit(void **) {
  RtsFrame f{};
  f.flags = frame_flag::pull;
  f.total = 30;
  assert_true(frame_refused(f)); // none
  f.regions = 2;
  f.region[0] = {1000, 10};
  f.region[1] = {2000, 19};
  assert_true(frame_refused(f)); // too little
  f.region[1].length = 20;
  assert_false(frame_refused(f));
  f.region[1].length = 21;
  assert_true(frame_refused(f)); // too much
  f.region[1] = {~std::uint64_t{0} - 18, 20};
  assert_true(frame_refused(f)); // wraps
  f.region[1] = {2000, 20};
  f.flags = 0;
  assert_true(frame_refused(f)); // not announced
  f.flags = frame_flag::pull;
  f.regions = max_rts_regions + 1;
  std::array<std::byte, 4096> d{};
  RtsFrame few = f;
  few.regions = 1;
  few.region[0].length = 30;
  encode(d.data(), few);
  d[2] = std::byte(max_rts_regions + 1);
  assert_true(refused(d));
}

void decoders__survive_anything(void **) {
  assert_true(unit::holds("decoders survive anything", [] {
    const auto raw =
        *rc::gen::container<std::vector<std::uint8_t>>(rc::gen::arbitrary<std::uint8_t>());
    Exact e(raw.size());
    if (!raw.empty())
      std::memcpy(e.data.get(), raw.data(), raw.size());
    std::span<const std::byte> in = e.span();
    decode_header(in);
    AckBlock a;
    decode_ack(in, a);
    Frame f;
    FrameResult r;
    std::size_t left = in.size();
    while ((r = decode_frame(in, f)) == FrameResult::frame) {
      RC_ASSERT(in.size() < left);
      left = in.size();
    }
  }));
}

const CMUnitTest cases[] = {
    cmocka_unit_test(header__comes_back),
    cmocka_unit_test(ack__comes_back),
    cmocka_unit_test(message__comes_back),
    cmocka_unit_test(segment__comes_back),
    cmocka_unit_test(rts__comes_back),
    cmocka_unit_test(cts_rdata_fin__come_back),
    cmocka_unit_test(frames__follow_each_other_until_the_pad),
    cmocka_unit_test(header__refuses_other_versions_types_flags),
    cmocka_unit_test(ack__refuses_too_many_words),
    cmocka_unit_test(frames__refuse_unknown_types_and_flags),
    cmocka_unit_test(message__refuses_a_total_within_its_first_part),
    cmocka_unit_test(segment__refuses_nothing_and_overflow),
    cmocka_unit_test(rdata__refuses_overflow),
    cmocka_unit_test(rts__refuses_regions_that_do_not_fit),
    cmocka_unit_test(decoders__survive_anything),
};
const unit::Group group{"packet", cases};

} // namespace
