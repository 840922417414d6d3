// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Any datagram through the decoders: nothing beyond it is read, and what was
// understood is encoded to the same bytes again.
#include "dpdkx/wire/handshake.h"
#include "dpdkx/wire/packet.h"
#include "dpdkx/wire/probe.h"

#include <cstdlib>
#include <cstring>
#include <vector>

using namespace dpdkx::wire;

namespace {

void require(bool holds) {
  if (!holds)
    std::abort();
}

// In memory of its own, so that AddressSanitizer sees the end.
std::vector<std::byte> copy(std::span<const std::byte> in) { return {in.begin(), in.end()}; }

template <class T> std::vector<std::byte> encoded(const T &value, std::size_t most) {
  std::vector<std::byte> out(most);
  out.resize(static_cast<std::size_t>(encode(out.data(), value) - out.data()));
  return out;
}

// The bytes of `in` that are not reserved: those the format ignores are blanked.
void require_same(std::vector<std::byte> in, const std::vector<std::byte> &again,
                  std::initializer_list<std::size_t> reserved) {
  require(in.size() >= again.size());
  in.resize(again.size());
  for (const std::size_t i : reserved)
    in[i] = std::byte{};
  require(in == again);
}

void read_all(const std::byte *payload, std::size_t len) {
  std::byte sum{};
  for (std::size_t i = 0; i < len; ++i)
    sum ^= payload[i];
  asm volatile("" : : "r"(sum));
}

// What whoever executes it relies on: no piece goes beyond the end of the address space.
void require_sound(const Targets &t) {
  require(t.count <= max_targets);
  std::uint64_t left = t.total();
  for (unsigned i = 0; i < t.count; ++i) {
    require(t.at[i].length <= left && t.at[i].address + t.at[i].length >= t.at[i].address);
    left -= t.at[i].length;
  }
  require(left == 0);
}

void frame_again(const Frame &f, std::span<const std::byte> from) {
  const std::vector<std::byte> in = copy(from);
  switch (f.type) {
  case FrameType::message:
  case FrameType::tagged:
    read_all(f.message.payload, f.message.len);
    require_same(in, encoded(f.message, max_message_frame_size), {});
    break;
  case FrameType::segment:
    read_all(f.segment.payload, f.segment.len);
    require_same(in, encoded(f.segment, segment_frame_size), {});
    break;
  case FrameType::rts:
    require_same(in, encoded(f.rts, max_rts_frame_size), {3});
    break;
  case FrameType::cts:
    require_same(in, encoded(f.cts, cts_frame_size), {2, 3});
    break;
  case FrameType::rdata:
    read_all(f.rdata.payload, f.rdata.len);
    require_same(in, encoded(f.rdata, rdata_frame_size), {});
    break;
  case FrameType::fin:
    require_same(in, encoded(f.fin, fin_frame_size), {2, 3});
    break;
  case FrameType::write:
    read_all(f.write.payload, f.write.len);
    require_sound(f.write.targets);
    require_same(in, encoded(f.write, max_write_frame_size), {9, 10, 11, 12, 13, 14, 15});
    break;
  case FrameType::write_request:
    require_sound(f.write_request.targets);
    require_same(in, encoded(f.write_request, max_write_request_frame_size), {});
    break;
  case FrameType::read:
    require_sound(f.read.targets);
    require_same(in, encoded(f.read, max_read_frame_size), {2});
    break;
  case FrameType::status:
    require_same(in, encoded(f.status, status_frame_size), {});
    break;
  case FrameType::atomic:
    read_all(f.atomic.payload, f.atomic.len);
    require_sound(f.atomic.targets);
    require_same(in, encoded(f.atomic, max_atomic_frame_size), {});
    break;
  case FrameType::add:
    require_same(in, encoded(f.add, add_frame_size), {2, 3});
    break;
  case FrameType::connect:
  case FrameType::accept:
  case FrameType::ready:
  case FrameType::reject:
  case FrameType::shutdown:
    require(f.connection.type == f.type && f.connection.len <= max_connection_data);
    read_all(f.connection.payload, f.connection.len);
    require_same(in, encoded(f.connection, connection_frame_size), {});
    break;
  default:
    std::abort();
  }
}

void frames(std::span<const std::byte> in) {
  Frame f;
  for (std::span<const std::byte> before = in; decode_frame(in, f) == FrameResult::frame;
       before = in) {
    require(in.size() < before.size());
    frame_again(f, before.first(before.size() - in.size()));
  }
}

bool ack(std::span<const std::byte> &in) {
  const std::vector<std::byte> before = copy(in);
  AckBlock a{};
  if (!decode_ack(in, a))
    return false;
  require_same(before, encoded(a, AckBlock::fixed_size + 8 * AckBlock::max_sack_words), {15});
  return true;
}

void body(PacketType type, std::uint8_t flags, std::span<const std::byte> in) {
  Hello hello;
  Challenge challenge;
  Reset reset;
  Probe probe;
  switch (type) {
  case PacketType::data:
  case PacketType::datagram:
    if ((flags & packet_flag::ack_block) == 0 || ack(in))
      frames(in);
    break;
  case PacketType::ack:
  case PacketType::bye:
    ack(in);
    break;
  case PacketType::hello:
  case PacketType::confirm:
  case PacketType::welcome:
    if (decode(in, hello)) {
      hello.padding = 0;
      require_same(copy(in), encoded(hello, hello_size), {106, 107, 108, 109, 110, 111});
    }
    break;
  case PacketType::challenge:
    if (decode(in, challenge))
      require_same(copy(in), encoded(challenge, challenge_size), {2, 3, 52, 53, 54, 55});
    break;
  case PacketType::reset:
    if (decode(in, reset))
      require_same(copy(in), encoded(reset, reset_size), {});
    break;
  case PacketType::probe:
    if (decode(in, probe)) {
      require(probe.padding <= in.size() - probe_size);
      probe.padding = 0;
      require_same(copy(in), encoded(probe, probe_size), {14, 15, 44, 45, 46, 47});
    }
    break;
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::vector<std::byte> datagram = copy(std::as_bytes(std::span(data, size)));
  verify(datagram);
  std::span<const std::byte> in(datagram);
  const auto h = decode_header(in);
  if (!h)
    return 0;
  require_same(datagram, encoded(*h, packet_header_size), {3, 20, 21, 22, 23});
  body(h->type, h->flags, in);
  seal(datagram);
  require(verify(datagram));
  return 0;
}
