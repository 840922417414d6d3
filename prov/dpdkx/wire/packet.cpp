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

// Of frames without a length: it is two numbers there.
void put_head(std::byte *out, FrameType type, std::uint8_t flags, std::uint8_t regions,
              std::uint8_t targets) {
  put_head(out, type, flags, static_cast<std::uint16_t>(regions | targets << 8));
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
bool regions_fit(std::uint8_t flags, std::span<const RemoteRegion> regions, std::uint64_t total) {
  if ((flags & frame_flag::pull) == 0)
    return regions.empty();
  if (regions.empty())
    return false;
  for (const RemoteRegion &r : regions) {
    if (r.length > total || r.address + r.length < r.address)
      return false;
    total -= r.length;
  }
  return total == 0;
}

void get_regions(const std::byte *p, std::span<RemoteRegion> out) {
  for (RemoteRegion &r : out) {
    r = {bytes::get<std::uint64_t>(p), bytes::get<std::uint64_t>(p + 8)};
    p += region_size;
  }
}

std::byte *put_regions(std::byte *out, std::span<const RemoteRegion> regions) {
  for (const RemoteRegion &r : regions) {
    bytes::put(out, r.address);
    bytes::put(out + 8, r.length);
    out += region_size;
  }
  return out;
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
  const std::span regions(f.region, f.regions);
  get_regions(p, regions);
  if (!regions_fit(f.flags, regions, f.total))
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

FrameResult decode_write_request(std::span<const std::byte> &in, WriteRequestFrame &f) {
  constexpr std::uint8_t known = frame_flag::cq_data | frame_flag::pull;
  if (in.size() < 16)
    return FrameResult::malformed;
  const std::byte *p = in.data();
  f.flags = bytes::get<std::uint8_t>(p + 1);
  f.regions = bytes::get<std::uint8_t>(p + 2);
  f.targets.count = bytes::get<std::uint8_t>(p + 3);
  if ((f.flags & ~known) != 0 || f.regions > max_rts_regions || f.targets.count > max_targets ||
      in.size() < size_of(f))
    return FrameResult::malformed;
  bytes::get_into(p + 4, f.mn);
  bytes::get_into(p + 8, f.sender);
  p += 16;
  f.data = 0;
  if (f.flags & frame_flag::cq_data) {
    bytes::get_into(p, f.data);
    p += 8;
  }
  const std::span regions(f.region, f.regions);
  get_regions(p + target_size * f.targets.count, regions);
  std::uint64_t total;
  if (!detail::get_targets(p, f.targets, total) || total == 0 ||
      !regions_fit(f.flags, regions, total))
    return FrameResult::malformed;
  in = in.subspan(size_of(f));
  return FrameResult::frame;
}

FrameResult decode_read(std::span<const std::byte> &in, ReadFrame &f) {
  if (in.size() < 16)
    return FrameResult::malformed;
  const std::byte *p = in.data();
  f.targets.count = bytes::get<std::uint8_t>(p + 3);
  if (bytes::get<std::uint8_t>(p + 1) != 0 || f.targets.count > max_targets ||
      in.size() < size_of(f))
    return FrameResult::malformed;
  bytes::get_into(p + 4, f.mn);
  bytes::get_into(p + 8, f.reader);
  std::uint64_t total;
  if (!detail::get_targets(p + 16, f.targets, total))
    return FrameResult::malformed;
  in = in.subspan(size_of(f));
  return FrameResult::frame;
}

// `in` holds at least 8 bytes.
FrameResult decode_status(std::span<const std::byte> &in, StatusFrame &f) {
  const std::byte *p = in.data();
  f.status = bytes::get<std::uint16_t>(p + 2);
  bytes::get_into(p + 4, f.mn);
  if (bytes::get<std::uint8_t>(p + 1) != 0 || f.status == 0 || f.status > max_status)
    return FrameResult::malformed;
  in = in.subspan(status_frame_size);
  return FrameResult::frame;
}

FrameResult decode_atomic(std::span<const std::byte> &in, AtomicFrame &f) {
  constexpr std::uint8_t known = frame_flag::cq_data | frame_flag::want_processed;
  if (in.size() < 24)
    return FrameResult::malformed;
  const std::byte *p = in.data();
  f.flags = bytes::get<std::uint8_t>(p + 1);
  f.len = bytes::get<std::uint16_t>(p + 2);
  bytes::get_into(p + 4, f.mn);
  bytes::get_into(p + 8, f.reader);
  f.op = bytes::get<std::uint8_t>(p + 16);
  f.datatype = bytes::get<std::uint8_t>(p + 17);
  f.kind = bytes::get<std::uint8_t>(p + 18);
  f.targets.count = bytes::get<std::uint8_t>(p + 19);
  f.offset = bytes::get<std::uint32_t>(p + 20);
  if ((f.flags & ~known) != 0 || f.kind > max_atomic_kind || f.targets.count > max_targets ||
      in.size() < size_of(f) + f.len)
    return FrameResult::malformed;
  p += 24;
  f.data = 0;
  if (f.flags & frame_flag::cq_data) {
    bytes::get_into(p, f.data);
    p += 8;
  }
  std::uint64_t total;
  if (!detail::get_targets(p, f.targets, total) || total > max_atomic_total)
    return FrameResult::malformed;
  f.payload = p + target_size * f.targets.count;
  in = in.subspan(size_of(f) + f.len);
  return FrameResult::frame;
}

FrameResult decode_add(std::span<const std::byte> &in, AddFrame &f) {
  if (in.size() < add_frame_size)
    return FrameResult::malformed;
  const std::byte *p = in.data();
  f.flags = bytes::get<std::uint8_t>(p + 1);
  bytes::get_into(p + 4, f.mn);
  f.key = bytes::get<std::uint64_t>(p + 8);
  f.value = bytes::get<std::uint64_t>(p + 16);
  if (f.flags != 0 && f.flags != frame_flag::want_processed && f.flags != frame_flag::untold)
    return FrameResult::malformed;
  in = in.subspan(add_frame_size);
  return FrameResult::frame;
}

FrameResult decode_connection(std::span<const std::byte> &in, FrameType type, ConnectionFrame &f) {
  if (in.size() < connection_frame_size)
    return FrameResult::malformed;
  const std::byte *p = in.data();
  f.type = type;
  f.len = bytes::get<std::uint16_t>(p + 2);
  bytes::get_into(p + 4, f.mn);
  f.id = bytes::get<std::uint64_t>(p + 8);
  const bool speaks = type != FrameType::ready && type != FrameType::shutdown;
  if (bytes::get<std::uint8_t>(p + 1) != 0 || f.len > (speaks ? max_connection_data : 0) ||
      in.size() < connection_frame_size + f.len)
    return FrameResult::malformed;
  f.payload = p + connection_frame_size;
  in = in.subspan(connection_frame_size + f.len);
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
  case FrameType::write_request:
    return decode_write_request(in, out.write_request);
  case FrameType::read:
    return decode_read(in, out.read);
  case FrameType::status:
    return decode_status(in, out.status);
  case FrameType::atomic:
    return decode_atomic(in, out.atomic);
  case FrameType::add:
    return decode_add(in, out.add);
  case FrameType::connect:
  case FrameType::accept:
  case FrameType::ready:
  case FrameType::reject:
  case FrameType::shutdown:
    return decode_connection(in, out.type, out.connection);
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
  return put_regions(out, std::span(f.region, f.regions));
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

std::byte *encode(std::byte *out, const WriteRequestFrame &f) {
  put_head(out, FrameType::write_request, f.flags, f.regions, f.targets.count);
  bytes::put(out + 4, f.mn);
  bytes::put(out + 8, f.sender);
  out += 16;
  if (f.flags & frame_flag::cq_data) {
    bytes::put(out, f.data);
    out += 8;
  }
  out = detail::put_targets(out, f.targets);
  return put_regions(out, std::span(f.region, f.regions));
}

std::byte *encode(std::byte *out, const ReadFrame &f) {
  put_head(out, FrameType::read, 0, 0, f.targets.count);
  bytes::put(out + 4, f.mn);
  bytes::put(out + 8, f.reader);
  return detail::put_targets(out + 16, f.targets);
}

std::byte *encode(std::byte *out, const StatusFrame &f) {
  put_head(out, FrameType::status, 0, f.status);
  bytes::put(out + 4, f.mn);
  return out + status_frame_size;
}

std::byte *encode(std::byte *out, const AtomicFrame &f) {
  put_head(out, FrameType::atomic, f.flags, f.len);
  bytes::put(out + 4, f.mn);
  bytes::put(out + 8, f.reader);
  bytes::put(out + 16, f.op);
  bytes::put(out + 17, f.datatype);
  bytes::put(out + 18, f.kind);
  bytes::put(out + 19, f.targets.count);
  bytes::put(out + 20, f.offset);
  out += 24;
  if (f.flags & frame_flag::cq_data) {
    bytes::put(out, f.data);
    out += 8;
  }
  return detail::put_targets(out, f.targets);
}

std::byte *encode(std::byte *out, const AddFrame &f) {
  put_head(out, FrameType::add, f.flags, 0);
  bytes::put(out + 4, f.mn);
  bytes::put(out + 8, f.key);
  bytes::put(out + 16, f.value);
  return out + add_frame_size;
}

std::byte *encode(std::byte *out, const ConnectionFrame &f) {
  put_head(out, f.type, 0, f.len);
  bytes::put(out + 4, f.mn);
  bytes::put(out + 8, f.id);
  return out + connection_frame_size;
}

} // namespace dpdkx::wire
