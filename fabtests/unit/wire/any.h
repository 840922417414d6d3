// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Any valid packet or frame, for rapidcheck.
#pragma once

#include "dpdkx/wire/handshake.h"
#include "dpdkx/wire/packet.h"
#include "dpdkx/wire/probe.h"
#include "unit/property.h"

#include <algorithm>
#include <vector>

namespace any {

using namespace dpdkx;

inline std::uint64_t u64() { return *rc::gen::arbitrary<std::uint64_t>(); }
inline std::uint32_t u32() { return *rc::gen::arbitrary<std::uint32_t>(); }
inline std::uint16_t u16() { return *rc::gen::arbitrary<std::uint16_t>(); }
inline std::uint8_t bits(std::uint8_t of) {
  return static_cast<std::uint8_t>(*rc::gen::arbitrary<std::uint8_t>() & of);
}
template <class T> T below(T n) { return *rc::gen::inRange<T>(0, n); }

inline wire::PacketHeader header() {
  wire::PacketHeader h;
  h.type = static_cast<wire::PacketType>(1 + below(10));
  h.flags = bits(wire::packet_flag::known);
  h.checksum = u32();
  h.token = wire::Token{u64()};
  h.pn = {u32()};
  return h;
}

inline wire::AckBlock ack() {
  wire::AckBlock a{};
  a.cumulative = {u32()};
  a.processed = {u32()};
  a.credit_limit = u32();
  a.delay_us = u16();
  a.sack_words = static_cast<std::uint8_t>(below<int>(wire::AckBlock::max_sack_words + 1));
  for (unsigned w = 0; w < a.sack_words; ++w)
    a.sack[w] = u64();
  return a;
}

inline wire::MessageFrame message() {
  wire::MessageFrame f;
  f.tagged = *rc::gen::arbitrary<bool>();
  f.flags =
      bits(wire::frame_flag::cq_data | wire::frame_flag::more | wire::frame_flag::want_processed);
  f.len = below<std::uint16_t>(2000);
  f.mn = {u32()};
  f.tag = f.tagged ? u64() : 0;
  f.data = f.flags & wire::frame_flag::cq_data ? u64() : 0;
  f.total = f.flags & wire::frame_flag::more ? f.len + 1 + u64() / 2 : f.len;
  return f;
}

inline wire::SegmentFrame segment() {
  wire::SegmentFrame f;
  f.len = static_cast<std::uint16_t>(1 + below<int>(2000));
  f.mn = {u32()};
  f.offset = u32() / 2;
  return f;
}

inline wire::RtsFrame rts() {
  wire::RtsFrame f{};
  f.flags = bits(wire::frame_flag::cq_data | wire::frame_flag::want_processed |
                 wire::frame_flag::tagged | wire::frame_flag::pull);
  f.mn = {u32()};
  f.sender = wire::OpId{u64()};
  f.tag = f.flags & wire::frame_flag::tagged ? u64() : 0;
  f.data = f.flags & wire::frame_flag::cq_data ? u64() : 0;
  f.total = u32();
  if (f.flags & wire::frame_flag::pull) {
    f.regions = static_cast<std::uint8_t>(1 + below<int>(wire::max_rts_regions));
    f.total = 0;
    for (unsigned i = 0; i < f.regions; ++i) {
      f.region[i] = {u64() / 2, u32()};
      f.total += f.region[i].length;
    }
  }
  return f;
}

inline wire::CtsFrame cts() { return {wire::OpId{u64()}, wire::OpId{u64()}, u64()}; }

inline wire::RdataFrame rdata() {
  wire::RdataFrame f;
  f.len = below<std::uint16_t>(2000);
  f.receiver = wire::OpId{u64()};
  f.offset = u64() / 2;
  return f;
}

// As long as a packet can hold.
inline wire::Targets targets(unsigned least) {
  wire::Targets t;
  t.count = static_cast<std::uint8_t>(least + below<unsigned>(wire::max_targets + 1 - least));
  for (unsigned i = 0; i < t.count; ++i)
    t.at[i] = {u64() / 2, below<std::uint64_t>(200), u64()};
  return t;
}

inline wire::WriteFrame write() {
  wire::WriteFrame f;
  f.flags =
      bits(wire::frame_flag::cq_data | wire::frame_flag::more | wire::frame_flag::want_processed);
  f.mn = {u32()};
  f.data = f.flags & wire::frame_flag::cq_data ? u64() : 0;
  f.targets = targets(f.flags & wire::frame_flag::more ? 1 : 0);
  f.len = static_cast<std::uint16_t>(f.targets.total());
  if (f.flags & wire::frame_flag::more)
    f.targets.at[below(f.targets.count)].length += 1 + u64() / 4;
  return f;
}

inline wire::WriteRequestFrame write_request() {
  wire::WriteRequestFrame f{};
  f.flags = bits(wire::frame_flag::cq_data | wire::frame_flag::pull);
  f.mn = {u32()};
  f.sender = wire::OpId{u64()};
  f.data = f.flags & wire::frame_flag::cq_data ? u64() : 0;
  f.targets = targets(1);
  f.targets.at[0].length += 1 + u64() / 4;
  if (f.flags & wire::frame_flag::pull) {
    f.regions = static_cast<std::uint8_t>(1 + below<int>(wire::max_rts_regions));
    std::uint64_t left = f.targets.total();
    for (unsigned i = 0; i < f.regions; ++i) {
      const std::uint64_t length = i + 1u == f.regions ? left : u64() % (left + 1);
      f.region[i] = {u64() / 2, length};
      left -= length;
    }
  }
  return f;
}

inline wire::ReadFrame read() {
  wire::ReadFrame f;
  f.mn = {u32()};
  f.reader = wire::OpId{u64()};
  f.targets = targets(0);
  return f;
}

inline wire::StatusFrame status() {
  wire::StatusFrame f;
  f.status = static_cast<std::uint16_t>(1 + below<int>(wire::max_status));
  f.mn = {u32()};
  return f;
}

inline wire::AtomicFrame atomic() {
  wire::AtomicFrame f;
  f.flags = bits(wire::frame_flag::cq_data | wire::frame_flag::want_processed);
  f.len = below<std::uint16_t>(2000);
  f.mn = {u32()};
  f.reader = wire::OpId{u64()};
  f.op = bits(0xff), f.datatype = bits(0xff);
  f.kind = static_cast<std::uint8_t>(below<int>(wire::max_atomic_kind + 1));
  f.data = f.flags & wire::frame_flag::cq_data ? u64() : 0;
  f.targets = targets(0);
  return f;
}

inline wire::AddFrame add() {
  using namespace wire::frame_flag;
  const std::uint8_t flags[] = {0, want_processed, untold};
  return {flags[below(3)], {u32()}, u64(), u64()};
}

inline wire::ConnectionFrame connection() {
  wire::ConnectionFrame f;
  f.type = static_cast<wire::FrameType>(static_cast<int>(wire::FrameType::connect) + below(5));
  const bool speaks = f.type != wire::FrameType::ready && f.type != wire::FrameType::shutdown;
  f.len = speaks ? below<std::uint16_t>(wire::max_connection_data + 1) : std::uint16_t{0};
  f.mn = {u32()};
  f.id = u64();
  return f;
}

inline wire::FinFrame fin() { return {wire::OpId{u64()}, u32()}; }

template <std::size_t N> std::array<std::byte, N> bytes() {
  std::array<std::byte, N> a;
  for (std::byte &b : a)
    b = std::byte(bits(0xff));
  return a;
}

inline wire::Hello hello() {
  wire::Hello h;
  h.version_min = bits(0x7f);
  h.version_max = static_cast<std::uint8_t>(h.version_min + bits(0x7f));
  h.features = u64();
  h.incarnation = wire::Incarnation{1 + u64() / 2};
  h.peer_incarnation = wire::Incarnation{u64()};
  h.token = wire::Token{1 + u64() / 2};
  h.attempt = u32();
  for (std::uint8_t &b : h.address.ip)
    b = bits(0xff);
  h.address.port = u16();
  h.max_datagram = std::max(u32(), wire::min_datagram);
  h.credit_limit = u32();
  h.first_pn = {u32()};
  h.first_mn = {u32()};
  h.key = bytes<16>();
  h.cookie = bytes<16>();
  h.bulk_port = u16();
  h.padding = *rc::gen::element<std::uint32_t>(0, 4, 5, 100, 1336, 65539);
  return h;
}

inline wire::Challenge challenge() {
  wire::Challenge c;
  c.version_min = bits(0x7f);
  c.version_max = static_cast<std::uint8_t>(c.version_min + bits(0x7f));
  c.incarnation = wire::Incarnation{1 + u64() / 2};
  c.peer_incarnation = wire::Incarnation{u64()};
  c.peer_token = wire::Token{u64()};
  c.attempt = u32();
  c.cookie = bytes<16>();
  c.max_datagram = std::max(u32(), wire::min_datagram);
  c.key = bytes<16>();
  return c;
}

inline wire::Probe probe() {
  wire::Probe p;
  p.version_min = bits(0x7f);
  p.version_max = static_cast<std::uint8_t>(p.version_min + bits(0x7f));
  p.kind = *rc::gen::element(wire::ProbeKind::question, wire::ProbeKind::answer);
  p.role = static_cast<wire::ProbeRole>(bits(0xff));
  p.sequence = u32(), p.length = u32();
  p.answer_port = u16();
  p.asker = u64(), p.cookie = u64(), p.key = u64();
  p.asked = u32(), p.heard = u32();
  p.max_datagram = std::max(u32(), wire::min_datagram);
  p.padding = *rc::gen::element<std::uint32_t>(0, 4, 8, 100, 1392, 8892);
  return p;
}

} // namespace any
