// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/session/receive_window.h"

#include <bit>

namespace dpdkx::session {

bool ReceiveWindow::insert(PacketNumber next, PacketNumber pn) {
  std::uint64_t &w = bits_[word(pn)];
  if (w & bit(pn))
    return false;
  w |= bit(pn);
  if (held_ == 0 || pn - next > highest_ - next)
    highest_ = pn;
  ++held_;
  return true;
}

PacketNumber ReceiveWindow::advance(PacketNumber next) {
  PacketNumber first = next + 1;
  while (held_ != 0) {
    // The run of packets from `first` on, within its word.
    std::uint64_t &w = bits_[word(first)];
    const unsigned at = first.value % 64;
    const unsigned run = static_cast<unsigned>(std::countr_one(w >> at));
    if (run == 0)
      break;
    w &= ~((run == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << run) - 1) << at);
    held_ -= run;
    first = first + run;
  }
  return first;
}

std::uint64_t ReceiveWindow::word_at(PacketNumber from) const {
  const unsigned at = from.value % 64;
  const std::uint64_t low = bits_[word(from)] >> at;
  return at == 0 ? low : low | bits_[word(from + 64)] << (64 - at);
}

void ReceiveWindow::fill(PacketNumber next, wire::AckBlock &out) const {
  out.sack_words = 0;
  if (held_ == 0)
    return;
  const std::uint32_t reach = static_cast<std::uint32_t>(highest_ - next); // >= 1
  out.sack_words = static_cast<std::uint8_t>((reach + 63) / 64);
  for (std::uint32_t w = 0; w < out.sack_words; ++w)
    out.sack[w] = word_at(next + 1 + 64 * w);
}

} // namespace dpdkx::session
