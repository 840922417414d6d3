// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "fuzz/packets.h"

#include "dpdkx/wire/packet.h"
#include "dpdkx/wire/probe.h"

#include <cstdlib>

namespace fuzz {

using namespace dpdkx;

void must(bool condition) {
  if (!condition)
    std::abort();
}

void must_be_one_line(std::string_view logged) {
  for (const char c : logged)
    must(static_cast<unsigned char>(c) >= ' ' && c != 0x7f);
}

std::vector<std::byte> forged_packet(Input &in, std::uint64_t token) {
  wire::PacketHeader header;
  const std::uint8_t how = in.byte();
  header.type = how & 64  ? static_cast<wire::PacketType>(how % 11)
                : how & 1 ? wire::PacketType::ack
                          : wire::PacketType::data;
  header.flags = in.byte() & wire::packet_flag::known;
  const std::uint8_t other = in.byte();
  header.token = wire::Token{other % 8 ? token : other};
  header.pn = PacketNumber{in.word() - 128u};
  wire::AckBlock block{};
  std::size_t size = wire::packet_header_size;
  if (header.flags & wire::packet_flag::ack_block) {
    block.cumulative = PacketNumber{in.word() - 128u};
    block.sack_words = in.byte() % (wire::AckBlock::max_sack_words + 1);
    for (unsigned i = 0; i < block.sack_words; ++i)
      block.sack[i] = std::uint64_t{in.byte()} * 0x8040'2010'0804'0201;
    size += block.wire_size();
  }
  std::vector<std::byte> out(size + in.byte() % 64);
  std::byte *const end = wire::encode(out.data(), header);
  if (header.flags & wire::packet_flag::ack_block)
    wire::encode(end, block);
  if (header.flags & wire::packet_flag::checksummed && how & 32)
    wire::seal(out);
  return out;
}

std::vector<std::byte> forged_probe(Input &in) {
  wire::Probe probe;
  probe.kind = static_cast<wire::ProbeKind>(in.byte() % 4);
  probe.length = in.word();
  probe.answer_port = static_cast<std::uint16_t>(in.word());
  probe.asker = in.byte();
  probe.cookie = in.byte();
  probe.asked = in.byte();
  probe.heard = in.byte();
  std::vector<std::byte> out(wire::min_probe + in.byte());
  wire::encode_datagram(out.data(), probe);
  wire::seal(out);
  return out;
}

} // namespace fuzz
