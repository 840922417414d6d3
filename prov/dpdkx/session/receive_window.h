// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Which packets have come in beyond the first missing one.
#pragma once

#include "dpdkx/base/seq.h"
#include "dpdkx/wire/packet.h"

#include <cstdint>

namespace dpdkx::session {

// The number of the first missing packet is its owner's, so that a session
// without holes needs none of this.
class ReceiveWindow {
public:
  static constexpr std::uint32_t size = 64 * wire::AckBlock::max_sack_words; // packets

  bool empty() const { return held_ == 0; }

  // `pn` is less than `size` ahead of `next`, and not equal to it. False: it was here already.
  bool insert(PacketNumber next, PacketNumber pn);
  // The packet `next` has come in: the first one that is missing now.
  PacketNumber advance(PacketNumber next);
  // The bitmap of an AckBlock whose cumulative is `next`.
  void fill(PacketNumber next, wire::AckBlock &) const;

private:
  static constexpr std::uint32_t words = size / 64;
  static std::uint32_t word(PacketNumber pn) { return pn.value / 64 % words; }
  static std::uint64_t bit(PacketNumber pn) { return std::uint64_t{1} << pn.value % 64; }
  std::uint64_t word_at(PacketNumber from) const; // 64 packets from `from` on

  // A ring: packet pn has bit pn % size; all bits but those of packets held are 0.
  std::uint64_t bits_[words] = {};
  std::uint32_t held_ = 0; // bits set
  PacketNumber highest_;   // of the packets held
};

} // namespace dpdkx::session
