// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/wire/probe.h"

#include <cstring>

namespace dpdkx::wire {

std::byte *encode(std::byte *out, const Probe &p) {
  std::memset(out, 0, probe_size);
  bytes::put(out + 0, p.version_min);
  bytes::put(out + 1, p.version_max);
  bytes::put(out + 2, p.kind);
  bytes::put(out + 3, p.role);
  bytes::put(out + 4, p.sequence);
  bytes::put(out + 8, p.length);
  bytes::put(out + 12, p.answer_port);
  bytes::put(out + 16, p.asker);
  bytes::put(out + 24, p.cookie);
  bytes::put(out + 32, p.asked);
  bytes::put(out + 36, p.heard);
  bytes::put(out + 40, p.max_datagram);
  bytes::put(out + 48, p.key);
  return put_padding(out + probe_size, p.padding);
}

bool decode(std::span<const std::byte> in, Probe &p) {
  if (in.size() < probe_size)
    return false;
  const std::byte *from = in.data();
  bytes::get_into(from + 0, p.version_min);
  bytes::get_into(from + 1, p.version_max);
  bytes::get_into(from + 2, p.kind);
  bytes::get_into(from + 3, p.role);
  bytes::get_into(from + 4, p.sequence);
  bytes::get_into(from + 8, p.length);
  bytes::get_into(from + 12, p.answer_port);
  bytes::get_into(from + 16, p.asker);
  bytes::get_into(from + 24, p.cookie);
  bytes::get_into(from + 32, p.asked);
  bytes::get_into(from + 36, p.heard);
  bytes::get_into(from + 40, p.max_datagram);
  bytes::get_into(from + 48, p.key);
  if (p.version_min > p.version_max || p.max_datagram < min_datagram ||
      (p.kind != ProbeKind::question && p.kind != ProbeKind::answer))
    return false;
  return skip_extensions(in.subspan(probe_size), p.padding);
}

std::uint32_t encode_datagram(std::byte *out, const Probe &probe) {
  PacketHeader header;
  header.type = PacketType::probe;
  header.flags = packet_flag::checksummed;
  const std::byte *const end = encode(encode(out, header), probe);
  const auto len = static_cast<std::uint32_t>(end - out);
  seal({out, len});
  return len;
}

std::uint64_t probe_key(const KeyDigest &key) { return bytes::get<std::uint64_t>(key.data()); }

} // namespace dpdkx::wire
