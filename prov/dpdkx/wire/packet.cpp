// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The frames that are not on every packet's way; the rest is in codec_inl.h.
#include "dpdkx/wire/packet.h"

namespace dpdkx::wire {

namespace {

void put_head(std::byte *out, FrameType type, std::uint8_t flags, std::uint16_t len) {
  bytes::put(out + 0, type);
  bytes::put(out + 1, flags);
  bytes::put(out + 2, len);
}

FrameResult decode_segment(std::span<const std::byte> &in, SegmentFrame &out) {
  if (in.size() < segment_frame_size)
    return FrameResult::malformed;
  const std::byte *p = in.data();
  SegmentFrame f;
  f.len = bytes::get<std::uint16_t>(p + 2);
  bytes::get_into(p + 4, f.mn);
  f.offset = bytes::get<std::uint32_t>(p + 8);
  if (bytes::get<std::uint8_t>(p + 1) != 0 || f.len == 0 ||
      in.size() < segment_frame_size + f.len || f.offset + f.len < f.offset)
    return FrameResult::malformed;
  f.payload = p + segment_frame_size;
  in = in.subspan(segment_frame_size + f.len);
  out = f;
  return FrameResult::frame;
}

// Whether the regions are as many as the flag says and hold `total` bytes.
bool regions_fit(const RtsFrame &f) {
  if ((f.flags & frame_flag::pull) == 0)
    return f.regions == 0;
  if (f.regions == 0)
    return false;
  std::uint64_t left = f.total;
  for (unsigned i = 0; i < f.regions; ++i) {
    const RemoteRegion &r = f.region[i];
    if (r.length > left || r.address + r.length < r.address)
      return false;
    left -= r.length;
  }
  return left == 0;
}

FrameResult decode_rts(std::span<const std::byte> &in, RtsFrame &f) {
  constexpr std::uint8_t known =
      frame_flag::cq_data | frame_flag::want_processed | frame_flag::tagged | frame_flag::pull;
  if (in.size() < 24)
    return FrameResult::malformed;
  const std::byte *p = in.data();
  f.flags = bytes::get<std::uint8_t>(p + 1);
  f.regions = bytes::get<std::uint8_t>(p + 2);
  if ((f.flags & ~known) != 0 || f.regions > max_rts_regions || in.size() < size_of(f))
    return FrameResult::malformed;
  bytes::get_into(p + 4, f.mn);
  bytes::get_into(p + 8, f.total);
  bytes::get_into(p + 16, f.sender);
  p += 24;
  f.tag = f.data = 0;
  if (f.flags & frame_flag::tagged) {
    bytes::get_into(p, f.tag);
    p += 8;
  }
  if (f.flags & frame_flag::cq_data) {
    bytes::get_into(p, f.data);
    p += 8;
  }
  for (unsigned i = 0; i < f.regions; ++i, p += 16)
    f.region[i] = {bytes::get<std::uint64_t>(p), bytes::get<std::uint64_t>(p + 8)};
  if (!regions_fit(f))
    return FrameResult::malformed;
  in = in.subspan(size_of(f));
  return FrameResult::frame;
}

FrameResult decode_cts(std::span<const std::byte> &in, CtsFrame &out) {
  if (in.size() < cts_frame_size || bytes::get<std::uint8_t>(in.data() + 1) != 0)
    return FrameResult::malformed;
  const std::byte *p = in.data();
  out = {bytes::get<OpId>(p + 4), bytes::get<OpId>(p + 12), bytes::get<std::uint64_t>(p + 20)};
  in = in.subspan(cts_frame_size);
  return FrameResult::frame;
}

FrameResult decode_fin(std::span<const std::byte> &in, FinFrame &out) {
  if (in.size() < fin_frame_size || bytes::get<std::uint8_t>(in.data() + 1) != 0)
    return FrameResult::malformed;
  const std::byte *p = in.data();
  out = {bytes::get<OpId>(p + 4), bytes::get<std::uint32_t>(p + 12)};
  in = in.subspan(fin_frame_size);
  return FrameResult::frame;
}

} // namespace

FrameResult decode_rare_frame(std::span<const std::byte> &in, Frame &out) {
  switch (out.type) {
  case FrameType::segment:
    return decode_segment(in, out.segment);
  case FrameType::rts:
    return decode_rts(in, out.rts);
  case FrameType::cts:
    return decode_cts(in, out.cts);
  case FrameType::fin:
    return decode_fin(in, out.fin);
  default:
    return FrameResult::malformed;
  }
}

std::byte *encode(std::byte *out, const SegmentFrame &f) {
  put_head(out, FrameType::segment, 0, f.len);
  bytes::put(out + 4, f.mn);
  bytes::put(out + 8, f.offset);
  return out + segment_frame_size;
}

std::byte *encode(std::byte *out, const RtsFrame &f) {
  put_head(out, FrameType::rts, f.flags, f.regions);
  bytes::put(out + 4, f.mn);
  bytes::put(out + 8, f.total);
  bytes::put(out + 16, f.sender);
  out += 24;
  if (f.flags & frame_flag::tagged) {
    bytes::put(out, f.tag);
    out += 8;
  }
  if (f.flags & frame_flag::cq_data) {
    bytes::put(out, f.data);
    out += 8;
  }
  for (unsigned i = 0; i < f.regions; ++i, out += 16) {
    bytes::put(out, f.region[i].address);
    bytes::put(out + 8, f.region[i].length);
  }
  return out;
}

std::byte *encode(std::byte *out, const CtsFrame &f) {
  put_head(out, FrameType::cts, 0, 0);
  bytes::put(out + 4, f.sender);
  bytes::put(out + 12, f.receiver);
  bytes::put(out + 20, f.length);
  return out + cts_frame_size;
}

std::byte *encode(std::byte *out, const FinFrame &f) {
  put_head(out, FrameType::fin, 0, 0);
  bytes::put(out + 4, f.sender);
  bytes::put(out + 12, f.status);
  return out + fin_frame_size;
}

} // namespace dpdkx::wire
