// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How an endpoint's engine is set up. The face fills it from the settings
// (FI_DPDKX_*) and the application's fi_info.
#pragma once

#include "dpdkx/session/session.h"

#include <cstddef>
#include <cstdint>

namespace dpdkx::engine {

struct Config {
  session::Params session;

  std::size_t tx_size = 1024;     // sends under way at most; more: -FI_EAGAIN
  std::size_t rx_size = 8192;     // receives posted at most; more: -FI_EAGAIN
  std::size_t inject_size = 1024; // bytes

  // A message of more bytes goes by rendezvous.
  std::size_t rendezvous_host = 16384;
  std::size_t rendezvous_device = 65536;
  bool pull = true; // read large messages straight from a local peer's memory

  bool checksum = true; // on links that ask for one

  // Memory for messages nobody has posted a receive for, bytes: what all peers
  // together may be promised beyond the first credit, and one peer at most.
  std::size_t unexpected_pool = 64u << 20;
  std::size_t unexpected_peer = 4u << 20;

  Duration connect_timeout = std::chrono::seconds(10); // nobody answers at an address
  Duration linger = std::chrono::seconds(10); // close waits that long for what was promised
  std::size_t backlog = 8u << 20;             // bytes kept by service() for the next turn

  // Empty turns in a row before the caller's processor is yielded; 0: adapt.
  std::uint32_t yield_after = 0;

  bool one_thread = false; // at a time calls it: Endpoint::mutex() need keep nobody out

  bool datagrams = false; // of type FI_EP_DGRAM: see datagram.cpp

  // A peer that a session can't be set up with is asked what comes through.
  bool check = false;

  std::uint64_t seed = 0; // not 0: tokens and secrets are reproducible (simulation)
};

} // namespace dpdkx::engine
