// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Sequence numbers of 32 bits that wrap. Ordering is by signed distance, so it
// holds for numbers less than 2^31 apart.
#pragma once

#include <cstdint>

namespace dpdkx {

template <class Tag> struct Seq {
  std::uint32_t value = 0;

  friend bool operator==(Seq, Seq) = default;
  // How far `b` is behind `a`; negative when it is ahead.
  friend std::int32_t operator-(Seq a, Seq b) {
    return static_cast<std::int32_t>(a.value - b.value);
  }
  friend bool operator<(Seq a, Seq b) { return a - b < 0; }
  friend bool operator>(Seq a, Seq b) { return b < a; }
  friend bool operator<=(Seq a, Seq b) { return !(b < a); }
  friend bool operator>=(Seq a, Seq b) { return !(a < b); }
  friend Seq operator+(Seq a, std::uint32_t n) { return Seq{a.value + n}; }
  friend Seq operator-(Seq a, std::uint32_t n) { return Seq{a.value - n}; }
  Seq &operator++() {
    ++value;
    return *this;
  }
  Seq operator++(int) { return Seq{value++}; }
};

using PacketNumber = Seq<struct PacketNumberTag>;   // reliability: a packet of a session
using MessageNumber = Seq<struct MessageNumberTag>; // order: a message of a session

} // namespace dpdkx
