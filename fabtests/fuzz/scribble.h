// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What an input writes into memory that two ends share: nonsense, wherever it likes.
#pragma once

#include "dpdkx/link/host/segment.h"
#include "fuzz/input.h"

#include <cstring>

namespace fuzz {

inline std::uint64_t number(Input &in) {
  std::uint64_t out = 0;
  for (int i = 0; i < 8; ++i)
    out = out << 8 | in.byte();
  return out;
}

// A control word, or bytes of a ring.
inline void scribble(Input &in, const dpdkx::link::host::Segment &segment) {
  using dpdkx::link::host::End;
  const std::uint64_t value = in.byte() & 1 ? in.byte() : number(in);
  const std::uint8_t where = in.byte();
  const End end = where & 1 ? End::opener : End::acceptor;
  const dpdkx::link::host::RingMemory ring = segment.ring(end);
  switch (where >> 1 & 3) {
  case 0:
    segment.consumer_words(end).head = value;
    break;
  case 1:
    segment.consumer_words(end).head += value * 64;
    break;
  case 2:
    segment.consumer_words(end).sleep = static_cast<std::uint32_t>(value);
    break;
  default:
    std::memcpy(ring.bytes + (in.word() & (ring.size - 1)), &value, sizeof(value));
  }
}

// Where the next record to `receiver` begins, and of what length it likes.
inline void write_word(Input &in, const dpdkx::link::host::Segment &segment,
                       dpdkx::link::host::End receiver, std::uint64_t position) {
  const std::uint8_t how = in.byte();
  const std::uint64_t word =
      how & 1
          ? number(in)
          : dpdkx::link::host::publish_word(position + (how & 2 ? in.byte() * 64u : 0), in.word());
  const dpdkx::link::host::RingMemory ring = segment.ring(receiver);
  std::memcpy(ring.bytes + (position & (ring.size - 1)), &word, sizeof(word));
}

} // namespace fuzz
