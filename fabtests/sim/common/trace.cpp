// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "sim/common/trace.h"

#include "dpdkx/wire/handshake.h"
#include "dpdkx/wire/packet.h"

#include <fmt/format.h>

namespace sim {

using namespace dpdkx::wire;

namespace {

std::string describe(const AckBlock &a) {
  std::string text = fmt::format(" ack {} processed {} credit {} delay {}", a.cumulative.value,
                                 a.processed.value, a.credit_limit, a.delay_us);
  for (unsigned w = 0; w < a.sack_words; ++w)
    text += fmt::format("{}{:x}", w ? "," : " sack ", a.sack[w]);
  return text;
}

std::string describe(const Frame &f) {
  const auto id = [](OpId i) { return static_cast<std::uint64_t>(i); };
  switch (f.type) {
  case FrameType::message:
  case FrameType::tagged:
    return fmt::format(" | {} mn {} len {} of {}{}",
                       f.type == FrameType::tagged ? "tagged" : "message", f.message.mn.value,
                       f.message.len, f.message.total,
                       f.message.flags & frame_flag::want_processed ? " want_processed" : "");
  case FrameType::segment:
    return fmt::format(" | segment mn {} at {} len {}", f.segment.mn.value, f.segment.offset,
                       f.segment.len);
  case FrameType::rts:
    return fmt::format(" | rts mn {} total {} sender {:x}", f.rts.mn.value, f.rts.total,
                       id(f.rts.sender));
  case FrameType::cts:
    return fmt::format(" | cts sender {:x} receiver {:x} length {}", id(f.cts.sender),
                       id(f.cts.receiver), f.cts.length);
  case FrameType::rdata:
    return fmt::format(" | rdata receiver {:x} at {} len {}", id(f.rdata.receiver), f.rdata.offset,
                       f.rdata.len);
  case FrameType::fin:
    return fmt::format(" | fin sender {:x} status {}", id(f.fin.sender), f.fin.status);
  case FrameType::write:
    return fmt::format(" | write mn {} len {} of {}{}", f.write.mn.value, f.write.len,
                       f.write.targets.total(),
                       f.write.flags & frame_flag::want_processed ? " want_processed" : "");
  case FrameType::write_request:
    return fmt::format(" | write_request mn {} total {} sender {:x}", f.write_request.mn.value,
                       f.write_request.targets.total(), id(f.write_request.sender));
  case FrameType::read:
    return fmt::format(" | read mn {} total {} reader {:x}", f.read.mn.value,
                       f.read.targets.total(), id(f.read.reader));
  case FrameType::status:
    return fmt::format(" | status mn {} {}", f.status.mn.value, f.status.status);
  case FrameType::atomic:
    return fmt::format(" | atomic mn {} op {} datatype {} kind {} total {} reader {:x}{}",
                       f.atomic.mn.value, f.atomic.op, f.atomic.datatype, f.atomic.kind,
                       f.atomic.targets.total(), id(f.atomic.reader),
                       f.atomic.flags & frame_flag::want_processed ? " want_processed" : "");
  case FrameType::add:
    return fmt::format(" | add mn {} key {:x} value {}{}", f.add.mn.value, f.add.key, f.add.value,
                       f.add.flags & frame_flag::want_processed ? " want_processed" : "");
  case FrameType::connect:
  case FrameType::accept:
  case FrameType::ready:
  case FrameType::reject:
  case FrameType::shutdown: {
    static const char *const names[] = {"connect", "accept", "ready", "reject", "shutdown"};
    const auto i = static_cast<std::size_t>(f.type) - static_cast<std::size_t>(FrameType::connect);
    return fmt::format(" | {} mn {} id {:x} len {}", names[i], f.connection.mn.value,
                       f.connection.id, f.connection.len);
  }
  case FrameType::pad:
    break;
  }
  return "";
}

std::string describe_body(PacketType type, std::span<const std::byte> in) {
  const auto number = [](auto v) { return static_cast<std::uint64_t>(v); };
  Hello h;
  Challenge c;
  Reset r;
  switch (type) {
  case PacketType::hello:
  case PacketType::confirm:
  case PacketType::welcome:
    return decode(in, h)
               ? fmt::format(" from {:x} to {:x} token {:x} datagram {} padding {} first {} {}",
                             number(h.incarnation), number(h.peer_incarnation), number(h.token),
                             h.max_datagram, h.padding, h.first_pn.value, h.first_mn.value)
               : " malformed body";
  case PacketType::challenge:
    return decode(in, c) ? fmt::format(" from {:x} to {:x} token {:x}", number(c.incarnation),
                                       number(c.peer_incarnation), number(c.peer_token))
                         : " malformed body";
  case PacketType::reset:
    return decode(in, r)
               ? fmt::format(" from {:x} of token {:x}", number(r.incarnation), number(r.token))
               : " malformed body";
  default:
    return "";
  }
}

const char *name(PacketType t) {
  static const char *const names[] = {"?",       "data",    "ack",   "hello", "challenge",
                                      "confirm", "welcome", "reset", "bye",   "datagram"};
  const auto i = static_cast<std::size_t>(t);
  return names[i < std::size(names) ? i : 0];
}

} // namespace

std::string describe(std::span<const std::byte> in) {
  const auto header = decode_header(in);
  if (!header)
    return "malformed header";
  std::string text = fmt::format("{} pn {} token {:x}{}", name(header->type), header->pn.value,
                                 static_cast<std::uint64_t>(header->token),
                                 header->flags & packet_flag::ack_now ? " ack_now" : "");
  if (header->flags & packet_flag::ack_block) {
    AckBlock a;
    if (!decode_ack(in, a))
      return text + " malformed ack";
    text += describe(a);
  }
  if (header->type != PacketType::data)
    return text + describe_body(header->type, in);
  Frame f;
  FrameResult result;
  while ((result = decode_frame(in, f)) == FrameResult::frame)
    text += describe(f);
  return result == FrameResult::end ? text : text + " | malformed";
}

} // namespace sim
