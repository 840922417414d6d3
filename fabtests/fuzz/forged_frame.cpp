// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "fuzz/forged_frame.h"

namespace fuzz {

using namespace dpdkx::wire;

namespace {

constexpr std::size_t most_payload = 1200;

Targets targets(Input &in, const Known &known) {
  Targets t;
  t.count = in.byte() % (max_targets + 1);
  for (unsigned i = 0; i < t.count; ++i) {
    const std::size_t size = in.byte() & 1 ? in.word() : in.byte() % 64u;
    const harness::RemoteHow at = known.place(size);
    t.at[i] = {at.addr, size, at.key};
  }
  return t;
}

template <class Frame> std::vector<std::byte> encoded(const Frame &f, std::size_t payload) {
  std::vector<std::byte> bytes(max_write_request_frame_size + payload); // the longest
  bytes.resize(static_cast<std::size_t>(encode(bytes.data(), f) - bytes.data()) + payload);
  return bytes;
}

// A number near the newest; of one that is under way, of the next, or of a later one.
dpdkx::MessageNumber number(Input &in, const Known &known) {
  return known.next + static_cast<std::uint32_t>(static_cast<std::int8_t>(in.byte() & 15) - 4);
}

OpId operation(Input &in, const Known &known) {
  const std::uint8_t which = in.byte();
  return known.operations.empty() || which >= 250
             ? static_cast<OpId>(which)
             : known.operations[known.operations.size() - 1 - which % known.operations.size()];
}

std::vector<std::byte> message(Input &in, const Known &known) {
  MessageFrame f;
  const std::uint8_t how = in.byte();
  f.tagged = how & 1;
  f.tag = how >> 1 & 1;
  f.flags = how >> 2 & (frame_flag::cq_data | frame_flag::more | frame_flag::want_processed);
  f.mn = number(in, known);
  f.len = static_cast<std::uint16_t>(in.word() % most_payload);
  f.total = f.flags & frame_flag::more ? f.len + 1u + in.word() : f.len;
  return encoded(f, f.len);
}

std::vector<std::byte> segment(Input &in, const Known &known) {
  SegmentFrame f;
  f.mn = number(in, known);
  f.len = static_cast<std::uint16_t>(1 + in.word() % most_payload);
  f.offset = in.word();
  return encoded(f, f.len);
}

std::vector<std::byte> rts(Input &in, const Known &known) {
  RtsFrame f;
  const std::uint8_t how = in.byte();
  f.flags = how & (frame_flag::cq_data | frame_flag::want_processed | frame_flag::tagged);
  f.tag = how >> 1 & 1;
  f.mn = number(in, known);
  f.total = in.word();
  f.sender = operation(in, known);
  return encoded(f, 0);
}

std::vector<std::byte> cts(Input &in, const Known &known) {
  return encoded(CtsFrame{operation(in, known), operation(in, known), in.word()}, 0);
}

std::vector<std::byte> rdata(Input &in, const Known &known) {
  RdataFrame f;
  f.receiver = operation(in, known);
  f.len = static_cast<std::uint16_t>(in.word() % most_payload);
  f.offset = in.byte() & 1 ? in.word() : 0;
  return encoded(f, f.len);
}

std::vector<std::byte> fin(Input &in, const Known &known) {
  return encoded(FinFrame{operation(in, known), in.byte()}, 0);
}

std::vector<std::byte> write(Input &in, const Known &known) {
  WriteFrame f;
  f.mn = number(in, known);
  f.targets = targets(in, known);
  f.flags = in.byte() & (frame_flag::cq_data | frame_flag::more | frame_flag::want_processed);
  f.len = static_cast<std::uint16_t>((f.flags & frame_flag::more ? in.word() : f.targets.total()) %
                                     most_payload);
  return encoded(f, f.len);
}

std::vector<std::byte> write_request(Input &in, const Known &known) {
  WriteRequestFrame f;
  f.mn = number(in, known);
  f.targets = targets(in, known);
  f.sender = operation(in, known);
  return encoded(f, 0);
}

std::vector<std::byte> read(Input &in, const Known &known) {
  ReadFrame f;
  f.mn = number(in, known);
  f.targets = targets(in, known);
  f.reader = operation(in, known);
  return encoded(f, 0);
}

std::vector<std::byte> status(Input &in, const Known &known) {
  StatusFrame f;
  f.mn = number(in, known);
  f.status = in.byte();
  return encoded(f, 0);
}

std::vector<std::byte> atomic(Input &in, const Known &known) {
  AtomicFrame f;
  f.mn = number(in, known);
  f.targets = targets(in, known);
  f.op = in.byte() % 20;
  f.datatype = in.byte() % 20;
  f.kind = in.byte() % 3;
  f.len = static_cast<std::uint16_t>(f.targets.total() * (f.kind == 2 ? 2 : 1) % most_payload);
  f.reader = f.kind ? operation(in, known) : OpId::none;
  return encoded(f, f.len);
}

std::vector<std::byte> add(Input &in, const Known &known) {
  AddFrame f;
  f.mn = number(in, known);
  f.flags = in.byte() & (frame_flag::want_processed | frame_flag::untold);
  f.key = in.byte() % 10;
  f.value = in.word();
  return encoded(f, 0);
}

std::vector<std::byte> connection(Input &in, const Known &known) {
  ConnectionFrame f;
  const std::uint8_t how = in.byte();
  f.type = static_cast<FrameType>(static_cast<std::uint8_t>(FrameType::connect) + how % 5);
  f.mn = number(in, known);
  f.id = how & 128 ? in.byte() : known.connection;
  if (f.type != FrameType::ready && f.type != FrameType::shutdown)
    f.len = in.byte();
  return encoded(f, f.len);
}

} // namespace

std::vector<std::byte> forged_frame(Input &in, const Known &known) {
  using Forge = std::vector<std::byte> (*)(Input &, const Known &);
  static constexpr Forge forges[] = {message, segment,    rts,        cts,          rdata,  fin,
                                     write,   write,      read,       status,       atomic, add,
                                     add,     connection, connection, write_request};
  return forges[in.byte() % std::size(forges)](in, known);
}

} // namespace fuzz
