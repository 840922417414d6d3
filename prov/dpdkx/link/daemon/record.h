// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What goes through the rings between a rank and dpdkxd: a header, and by kind
// what follows it. The rank is the ring's End::opener.
//
// Paths have the rank's numbers. A number is used again for another peer; then
// it has another generation, by which what was on its way for the old one is
// known.
#pragma once

#include "dpdkx/link/link.h"

#include <cstdint>
#include <cstring>

namespace dpdkx::link::daemon {

inline constexpr std::uint32_t min_ring_bytes = 64 * 1024;

enum class RecordKind : std::uint8_t {
  data = 1,     // both ways: a datagram on a path
  stranger = 2, // to the rank: WireOrigin, a datagram without a path
  reply = 3,    // to the daemon: WireOrigin, a datagram that goes back there
  open = 4,     // to the daemon: WireOrigin, of which the source is the peer
  close = 5,    // to the daemon
  session = 6,  // to the daemon: SessionOfPath
  event = 7,    // to the rank: WireEvent
};

struct RecordHeader {
  std::uint8_t kind; // RecordKind
  std::uint8_t bulk; // data, to the daemon: 1: to the peer's bulk port
  std::uint16_t generation;
  std::uint32_t path;
};
static_assert(sizeof(RecordHeader) == 8);

struct WireOrigin {
  std::uint8_t ip[16];
  std::uint16_t port;
  std::uint8_t hop[6];
};
static_assert(sizeof(WireOrigin) == 24);

struct SessionOfPath {
  std::uint64_t local, peer;    // the rank's, and its peer's
  std::uint16_t peer_bulk_port; // 0: none
  std::uint8_t peer_joined;     // 1: Port::set_joined()
  std::uint8_t zero[5];
};

struct WireEvent {
  std::uint32_t kind; // PathEventKind
  std::int32_t error;
};

inline constexpr std::uint32_t max_record_overhead = sizeof(RecordHeader) + sizeof(WireOrigin);

inline WireOrigin wire_origin(const Origin &origin) {
  WireOrigin out{};
  std::memcpy(out.ip, origin.source.ip.data(), sizeof(out.ip));
  out.port = origin.source.port;
  std::memcpy(out.hop, origin.hop.data(), sizeof(out.hop));
  return out;
}

inline Origin origin_of(const WireOrigin &wire) {
  Origin out;
  std::memcpy(out.source.ip.data(), wire.ip, sizeof(wire.ip));
  out.source.port = wire.port;
  std::memcpy(out.hop.data(), wire.hop, sizeof(wire.hop));
  return out;
}

// Reads one struct off a record's front, once; false: it is shorter.
template <class T> bool take(const std::byte *&data, std::uint32_t &len, T &out) {
  if (len < sizeof(T))
    return false;
  std::memcpy(&out, data, sizeof(T));
  data += sizeof(T);
  len -= static_cast<std::uint32_t>(sizeof(T));
  return true;
}

template <class T> std::byte *put(std::byte *to, const T &value) {
  std::memcpy(to, &value, sizeof(T));
  return to + sizeof(T);
}

} // namespace dpdkx::link::daemon
