// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// All ranks of a collective: the part that each has, and who its peers are.
#pragma once

#include "collc/simulate/part.h"

#include <cstdint>
#include <vector>

namespace collc {

// The other end of a rank's channel.
struct link {
  std::uint32_t peer = 0;
  std::uint32_t channel : 31 = 0; // by number at the peer
  std::uint32_t counts : 1 = 0;   // the peer's tank: writes that are counted do
};

class cast {
public:
  // Throws error: what the text does wrong, messages that don't match, or too much of something.
  cast(const algorithm &a, const request &q, const lowering &how, std::uint64_t rendezvous,
       bool triggered, bool driven);

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(of_.size()); }
  struct member {
    std::uint64_t first_link = 0;
    std::uint32_t part = 0;
  };
  [[nodiscard]] const member &of(std::uint32_t rank) const { return of_[rank]; }
  [[nodiscard]] const std::vector<part> &parts() const { return parts_; }
  [[nodiscard]] const part &part_of(std::uint32_t rank) const { return parts_[of_[rank].part]; }
  [[nodiscard]] const link &link_of(std::uint32_t rank, std::uint32_t channel) const {
    return links_[of_[rank].first_link + channel];
  }
  [[nodiscard]] const message_sizes &sizes() const { return maker_.sizes(); }

  static constexpr std::int64_t most_ranks = std::int64_t{1} << 24;

private:
  std::vector<channel_key> add_ranks(const algorithm &a, const request &q);
  void join(const std::vector<channel_key> &keys);
  void join(std::uint32_t rank, std::uint32_t channel, std::uint32_t peer, std::uint32_t there);

  part_maker maker_;
  std::vector<part> parts_;
  std::vector<member> of_;
  std::vector<link> links_;
};

} // namespace collc
