// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The body of a probe, which asks whether datagrams come through, or answers.
// See protocol.md, section 15. Same in every protocol version.
#pragma once

#include "dpdkx/wire/handshake.h"

namespace dpdkx::wire {

enum class ProbeKind : std::uint8_t { question = 1, answer = 2 };

enum class ProbeRole : std::uint8_t { // of the sender; later versions may know others
  endpoint = 1,
  daemon = 2,  // belongs to no job: its key means nothing
  checker = 3, // a program that checks
};

struct Probe {
  std::uint8_t version_min = protocol_version, version_max = protocol_version;
  ProbeKind kind = ProbeKind::question;
  ProbeRole role = ProbeRole::endpoint;
  std::uint32_t sequence = 0;    // of the question
  std::uint32_t length = 0;      // question: bytes wanted of the answer's datagram; answer: bytes
                                 // that the question's had
  std::uint16_t answer_port = 0; // question: 0: to where it came from
  std::uint64_t asker = 0;       // drawn by who asks
  std::uint64_t cookie = 0;      // answer: to be sent back; question: of an earlier answer, or 0
  std::uint32_t asked = 0;       // question: how many before it
  std::uint32_t heard = 0;       // question: how many of them were answered
  std::uint32_t max_datagram = min_datagram; // what the sender's link can carry, bytes
  std::uint64_t key = 0;                     // the first bytes of the job's key digest
  std::uint32_t padding = 0; // bytes of the padding extension, its head included: 0 or 4...65539
};

inline constexpr std::size_t probe_size = 56; // without extensions and padding
// Its datagram, without padding; with it, a multiple of 4 bytes more.
inline constexpr std::uint32_t min_probe = packet_header_size + probe_size;

std::byte *encode(std::byte *out, const Probe &);
bool decode(std::span<const std::byte> in, Probe &out);

// A whole datagram, sealed; `probe.padding` gives it its length, which is returned. `out` has room.
std::uint32_t encode_datagram(std::byte *out, const Probe &probe);

std::uint64_t probe_key(const KeyDigest &); // what a probe has of it

} // namespace dpdkx::wire
