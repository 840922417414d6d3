// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// One port's end of a path: a ring each way and the socket to the other end.
#pragma once

#include "dpdkx/link/host/handshake.h"
#include "dpdkx/link/host/segment.h"
#include "dpdkx/link/link.h"

namespace dpdkx::link::host {

struct Path {
  enum class State : std::uint8_t {
    connecting, // too many connections or descriptors are on their way; to be tried again
    open,
    ending, // the peer has ended; what it sent is still to be polled
    ended,  // and the engine was told
  };

  Time looked_at{}; // whether the peer lives
  PathId id = PathId::none;
  State state = State::connecting;
  bool unflushed = false;  // in HostPort::unflushed_
  bool unreleased = false; // in HostPort::unreleased_
  bool broken = false;     // the peer wrote what no peer would
  bool pull_forbidden = false;
  std::uint32_t watch_index = 0; // in HostPort::watched_
  int end_error = 0;

  RingProducer tx;
  RingConsumer rx;
  std::uint32_t *own_sleep = nullptr;  // the sender to this end looks here
  std::uint32_t *peer_sleep = nullptr; // and here this end, when it sends

  End end = End::opener; // which one this is
  Segment segment;
  Fd socket;  // none on a path to oneself
  Fd process; // tells of the peer process' end; none for this process
  Fd memfd;   // the segment's, until the peer has been sent it
  Peer who;
  Address peer;

  std::uint64_t trim_mark = 0;  // tx position when last looked at for trimming
  std::uint64_t trimmed_at = 0; // tx position when the pages were given back
};

} // namespace dpdkx::link::host
