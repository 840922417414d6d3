// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the fuzzers of the daemon's two sides share: what must hold, and packets that come as far
// as those of a session.
#pragma once

#include "fuzz/input.h"

#include <cstring>
#include <string_view>
#include <vector>

namespace fuzz {

void must(bool condition);
void must_be_one_line(std::string_view logged); // and printable

// As a rule nothing; else it changes some bytes of what would have been right.
template <class T> void spoil(Input &in, T &value) {
  for (unsigned n = in.byte() % 8; n > 4; --n) {
    const std::size_t at = in.byte() % sizeof(T);
    const std::uint8_t byte = in.byte();
    std::memcpy(reinterpret_cast<std::byte *>(&value) + at, &byte, 1);
  }
}

// A datagram as one of a session, as a rule with that token.
std::vector<std::byte> forged_packet(Input &, std::uint64_t token);
std::vector<std::byte> forged_probe(Input &);

} // namespace fuzz
