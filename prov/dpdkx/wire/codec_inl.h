// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The encoders and decoders of packet.h that every packet passes through,
// inline so that the engine's turn compiles to a few loads and stores. Included
// by packet.h only.
#pragma once

#include "dpdkx/wire/bytes.h"
#include "dpdkx/wire/packet.h"

namespace dpdkx::wire {

// Frames other than message, tagged, rdata and write: packet.cpp.
FrameResult decode_rare_frame(std::span<const std::byte> &in, Frame &out);

constexpr std::size_t size_of(const MessageFrame &f) {
  return 8u + (f.tagged ? 8u : 0u) + (f.flags & frame_flag::cq_data ? 8u : 0u) +
         (f.flags & frame_flag::more ? 8u : 0u);
}

constexpr std::size_t size_of(const RtsFrame &f) {
  return 24u + (f.flags & frame_flag::tagged ? 8u : 0u) +
         (f.flags & frame_flag::cq_data ? 8u : 0u) + region_size * f.regions;
}

constexpr std::size_t size_of(const WriteFrame &f) {
  return 16u + (f.flags & frame_flag::cq_data ? 8u : 0u) + target_size * f.targets.count;
}

constexpr std::size_t size_of(const WriteRequestFrame &f) {
  return 16u + (f.flags & frame_flag::cq_data ? 8u : 0u) + target_size * f.targets.count +
         region_size * f.regions;
}

constexpr std::size_t size_of(const ReadFrame &f) { return 16u + target_size * f.targets.count; }

constexpr std::size_t size_of(const AtomicFrame &f) {
  return 24u + (f.flags & frame_flag::cq_data ? 8u : 0u) + target_size * f.targets.count;
}

inline std::uint64_t Targets::total() const {
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < count; ++i)
    sum += at[i].length;
  return sum;
}

inline std::byte *encode(std::byte *out, const PacketHeader &h) {
  bytes::put(out + 0, h.version);
  bytes::put(out + 1, h.type);
  bytes::put(out + 2, h.flags);
  bytes::put(out + 3, std::uint8_t{0});
  bytes::put(out + 4, h.checksum);
  bytes::put(out + 8, h.token);
  bytes::put(out + 16, h.pn);
  bytes::put(out + 20, std::uint32_t{0});
  return out + packet_header_size;
}

inline std::optional<PacketHeader> decode_header(std::span<const std::byte> &in) {
  if (in.size() < packet_header_size)
    return std::nullopt;
  const std::byte *p = in.data();
  PacketHeader h;
  h.version = bytes::get<std::uint8_t>(p);
  h.type = bytes::get<PacketType>(p + 1);
  h.flags = bytes::get<std::uint8_t>(p + 2);
  h.checksum = bytes::get<std::uint32_t>(p + 4);
  h.token = bytes::get<Token>(p + 8);
  bytes::get_into(p + 16, h.pn);
  if (h.version != protocol_version || h.type < PacketType::data || h.type > PacketType::probe ||
      (h.flags & ~packet_flag::known) != 0)
    return std::nullopt;
  in = in.subspan(packet_header_size);
  return h;
}

inline std::byte *encode(std::byte *out, const AckBlock &a) {
  bytes::put(out + 0, a.cumulative);
  bytes::put(out + 4, a.processed);
  bytes::put(out + 8, a.credit_limit);
  bytes::put(out + 12, a.delay_us);
  bytes::put(out + 14, a.sack_words);
  bytes::put(out + 15, std::uint8_t{0});
  out += AckBlock::fixed_size;
  for (unsigned w = 0; w < a.sack_words; ++w, out += 8)
    bytes::put(out, a.sack[w]);
  return out;
}

inline bool decode_ack(std::span<const std::byte> &in, AckBlock &out) {
  if (in.size() < AckBlock::fixed_size)
    return false;
  const std::byte *p = in.data();
  bytes::get_into(p + 0, out.cumulative);
  bytes::get_into(p + 4, out.processed);
  bytes::get_into(p + 8, out.credit_limit);
  bytes::get_into(p + 12, out.delay_us);
  bytes::get_into(p + 14, out.sack_words);
  if (out.sack_words > AckBlock::max_sack_words || in.size() < out.wire_size())
    return false;
  p += AckBlock::fixed_size;
  for (std::size_t w = 0; w < out.sack_words; ++w)
    bytes::get_into(p + 8 * w, out.sack[w]);
  in = in.subspan(out.wire_size());
  return true;
}

inline std::byte *encode(std::byte *out, const MessageFrame &f) {
  bytes::put(out + 0, f.tagged ? FrameType::tagged : FrameType::message);
  bytes::put(out + 1, f.flags);
  bytes::put(out + 2, f.len);
  bytes::put(out + 4, f.mn);
  out += 8;
  if (f.tagged) {
    bytes::put(out, f.tag);
    out += 8;
  }
  if (f.flags & frame_flag::cq_data) {
    bytes::put(out, f.data);
    out += 8;
  }
  if (f.flags & frame_flag::more) {
    bytes::put(out, f.total);
    out += 8;
  }
  return out;
}

inline std::byte *encode(std::byte *out, const RdataFrame &f) {
  bytes::put(out + 0, FrameType::rdata);
  bytes::put(out + 1, std::uint8_t{0});
  bytes::put(out + 2, f.len);
  bytes::put(out + 4, f.receiver);
  bytes::put(out + 12, f.offset);
  return out + rdata_frame_size;
}

namespace detail {

inline std::byte *put_targets(std::byte *out, const Targets &t) {
  for (unsigned i = 0; i < t.count; ++i, out += target_size) {
    bytes::put(out, t.at[i].address);
    bytes::put(out + 8, t.at[i].length);
    bytes::put(out + 16, t.at[i].key);
  }
  return out;
}

// `p`: t.count <= max_targets of them. False: an end, or the sum of the lengths, wraps.
inline bool get_targets(const std::byte *p, Targets &t, std::uint64_t &total) {
  total = 0;
  for (unsigned i = 0; i < t.count; ++i, p += target_size) {
    RemoteTarget &r = t.at[i];
    r = {bytes::get<std::uint64_t>(p), bytes::get<std::uint64_t>(p + 8),
         bytes::get<std::uint64_t>(p + 16)};
    total += r.length;
    if (total < r.length || r.address + r.length < r.address)
      return false;
  }
  return true;
}

} // namespace detail

inline std::byte *encode(std::byte *out, const WriteFrame &f) {
  bytes::put(out + 0, FrameType::write);
  bytes::put(out + 1, f.flags);
  bytes::put(out + 2, f.len);
  bytes::put(out + 4, f.mn);
  bytes::put(out + 8, std::uint64_t{f.targets.count}); // and reserved
  out += 16;
  if (f.flags & frame_flag::cq_data) {
    bytes::put(out, f.data);
    out += 8;
  }
  return detail::put_targets(out, f.targets);
}

namespace detail {

// `in` holds at least 8 bytes.
inline FrameResult decode_message(std::span<const std::byte> &in, bool tagged, MessageFrame &out) {
  constexpr std::uint8_t known =
      frame_flag::cq_data | frame_flag::more | frame_flag::want_processed;
  const std::byte *p = in.data();
  MessageFrame f;
  f.tagged = tagged;
  f.flags = bytes::get<std::uint8_t>(p + 1);
  f.len = bytes::get<std::uint16_t>(p + 2);
  bytes::get_into(p + 4, f.mn);
  if ((f.flags & ~known) != 0 || in.size() < size_of(f) + f.len)
    return FrameResult::malformed;
  p += 8;
  if (tagged) {
    f.tag = bytes::get<std::uint64_t>(p);
    p += 8;
  }
  if (f.flags & frame_flag::cq_data) {
    f.data = bytes::get<std::uint64_t>(p);
    p += 8;
  }
  f.total = f.len;
  if (f.flags & frame_flag::more) {
    f.total = bytes::get<std::uint64_t>(p);
    p += 8;
    if (f.total <= f.len)
      return FrameResult::malformed;
  }
  f.payload = p;
  in = in.subspan(static_cast<std::size_t>(p - in.data()) + f.len);
  out = f;
  return FrameResult::frame;
}

inline FrameResult decode_rdata(std::span<const std::byte> &in, RdataFrame &out) {
  if (in.size() < rdata_frame_size)
    return FrameResult::malformed;
  const std::byte *p = in.data();
  RdataFrame f;
  f.len = bytes::get<std::uint16_t>(p + 2);
  f.receiver = bytes::get<OpId>(p + 4);
  f.offset = bytes::get<std::uint64_t>(p + 12);
  if (bytes::get<std::uint8_t>(p + 1) != 0 || in.size() < rdata_frame_size + f.len ||
      f.offset + f.len < f.offset)
    return FrameResult::malformed;
  f.payload = p + rdata_frame_size;
  in = in.subspan(rdata_frame_size + f.len);
  out = f;
  return FrameResult::frame;
}

// `in` holds at least 8 bytes.
inline FrameResult decode_write(std::span<const std::byte> &in, WriteFrame &f) {
  constexpr std::uint8_t known =
      frame_flag::cq_data | frame_flag::more | frame_flag::want_processed;
  if (in.size() < 16)
    return FrameResult::malformed;
  const std::byte *p = in.data();
  f.flags = bytes::get<std::uint8_t>(p + 1);
  f.len = bytes::get<std::uint16_t>(p + 2);
  bytes::get_into(p + 4, f.mn);
  f.targets.count = bytes::get<std::uint8_t>(p + 8);
  if ((f.flags & ~known) != 0 || f.targets.count > max_targets || in.size() < size_of(f) + f.len)
    return FrameResult::malformed;
  p += 16;
  f.data = 0;
  if (f.flags & frame_flag::cq_data) {
    f.data = bytes::get<std::uint64_t>(p);
    p += 8;
  }
  std::uint64_t total;
  if (!get_targets(p, f.targets, total) ||
      (f.flags & frame_flag::more ? f.len >= total : f.len != total))
    return FrameResult::malformed;
  f.payload = p + target_size * f.targets.count;
  in = in.subspan(size_of(f) + f.len);
  return FrameResult::frame;
}

} // namespace detail

inline FrameResult decode_frame(std::span<const std::byte> &in, Frame &out) {
  if (in.empty())
    return FrameResult::end;
  out.type = static_cast<FrameType>(in[0]);
  if (out.type == FrameType::pad)
    return FrameResult::end;
  if (in.size() < 8) // no frame is shorter
    return FrameResult::malformed;
  if (out.type == FrameType::tagged || out.type == FrameType::message)
    return detail::decode_message(in, out.type == FrameType::tagged, out.message);
  if (out.type == FrameType::rdata)
    return detail::decode_rdata(in, out.rdata);
  if (out.type == FrameType::write)
    return detail::decode_write(in, out.write);
  return decode_rare_frame(in, out);
}

} // namespace dpdkx::wire
