// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Datagrams as text, for --trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sim {

// "data pn 7 ack 12 credit 300 | message mn 3 len 100 | rts mn 4 total 90000"
std::string describe(std::span<const std::byte> datagram);

// What --trace A,B asks for: the datagrams between those two nodes.
struct TracedPair {
  bool on = false;
  std::uint32_t a = 0, b = 0;
};
inline TracedPair traced;

} // namespace sim
