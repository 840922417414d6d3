// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Bodies of the packets that set a session up, and down. See protocol.md.
//
// Handshake packets of every protocol version have header version 1 and these
// fixed parts; version_min and version_max in them say what comes after.
#pragma once

#include "dpdkx/base/address.h"
#include "dpdkx/wire/extensions.h" // IWYU pragma: export
#include "dpdkx/wire/packet.h"

namespace dpdkx::wire {

using Cookie = std::array<std::byte, 16>;
using KeyDigest = std::array<std::byte, 16>; // of the job's authentication key; zeros: none

// What links and paths of sessions carry at least: the UDP payload that any IPv4 path does.
inline constexpr std::uint32_t min_datagram = 548;

namespace feature { // what the sender understands beyond version 1
inline constexpr std::uint64_t none = 0;
inline constexpr std::uint64_t rma = 1;         // frames write, write_request, read, status
inline constexpr std::uint64_t atomics = 2;     // frames atomic, status
inline constexpr std::uint64_t connections = 4; // frames connect to shutdown
inline constexpr std::uint64_t counters = 8;    // frames add, status
// Of its link, not of its version: a frame may hold several datagrams, where both ends are at
// interfaces of one kernel.
inline constexpr std::uint64_t joined = 16;
inline constexpr std::uint64_t known = rma | atomics | connections | counters;
} // namespace feature

// hello, confirm, welcome.
struct Hello {
  std::uint8_t version_min = protocol_version, version_max = protocol_version;
  std::uint64_t features = feature::none;
  Incarnation incarnation = Incarnation::none;      // the sender's
  Incarnation peer_incarnation = Incarnation::none; // confirm, welcome: whom it speaks to
  Token token = Token::none;                        // for the peer to put into its packets
  std::uint32_t attempt = 0; // hello, confirm: names this try at a handshake; welcome: echoes it
  Address address;           // the sender's own name
  std::uint32_t max_datagram = min_datagram; // what the sender's link can carry, bytes
  std::uint32_t credit_limit = 0;            // first credit, see AckBlock
  PacketNumber first_pn;                     // the sender's first packet number
  MessageNumber first_mn;                    // the sender's first message number
  KeyDigest key{};
  Cookie cookie{};             // confirm: from the challenge; else zeros
  std::uint16_t bulk_port = 0; // a second UDP port of the sender's, for data of large transfers
                               // alone; 0: none
  std::uint32_t padding = 0;   // bytes of the padding extension, its head of 4 included: 0 or 4...
                               // 65539; tries the path's frame size
};

struct Challenge {
  std::uint8_t version_min = protocol_version, version_max = protocol_version;
  Incarnation incarnation = Incarnation::none;      // the sender's
  Incarnation peer_incarnation = Incarnation::none; // from the hello, so that old answers are known
  Token peer_token = Token::none;                   // from the hello
  std::uint32_t attempt = 0;                        // from the hello
  Cookie cookie{};
  std::uint32_t max_datagram = min_datagram; // what the sender's link can carry, bytes
  KeyDigest key{};
};

struct Reset {
  Token token = Token::none;                   // the token that named no session
  Incarnation incarnation = Incarnation::none; // the sender's
};

inline constexpr std::size_t hello_size = 112; // without extensions and padding
inline constexpr std::size_t challenge_size = 72;
inline constexpr std::size_t reset_size = 16;

// Bodies carry, behind the fixed part, extensions that a receiver skips when it
// doesn't know them; hello's `padding` is one.
// Encoders return the end of what they wrote; decoders take the whole body and
// answer false when it is malformed.
std::byte *encode(std::byte *out, const Hello &);
std::byte *encode(std::byte *out, const Challenge &);
std::byte *encode(std::byte *out, const Reset &);
bool decode(std::span<const std::byte> in, Hello &out);
bool decode(std::span<const std::byte> in, Challenge &out);
bool decode(std::span<const std::byte> in, Reset &out);

} // namespace dpdkx::wire
