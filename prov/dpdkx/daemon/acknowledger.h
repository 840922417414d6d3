// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Acknowledges packets that lie in the ring of a rank which computes: they have
// been received, for the ring outlives this process. That they have been
// processed is for the rank to say.
//
// Nothing is asked of the rank but the tokens of its sessions. How far it had
// acknowledged is known from the blocks that it sends; an acknowledgement here
// is the last of them, what was acknowledged here before, and what has come in
// since. A rank that reads says the rest by itself.
#pragma once

#include "dpdkx/base/clock.h"
#include "dpdkx/session/receive_window.h"
#include "dpdkx/wire/packet.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace dpdkx::daemon {

class Acknowledger {
public:
  // `after`: so long a rank leaves packets unread until it is taken to compute.
  explicit Acknowledger(Duration after) : after_(after) {}

  // The session on a path, by the rank's number for it; tokens 0: none any more.
  void session(std::uint32_t path, wire::Token local, wire::Token peer);
  // The rank sends a datagram.
  void sent(std::uint32_t path, std::span<const std::byte> datagram);
  // A datagram lies in its ring, in front of position `end`.
  void delivered(std::uint32_t path, std::span<const std::byte> in_ring, std::uint64_t end,
                 Time now);
  // How far it has read. Its processor has that line, so it is to be asked for when looks() says
  // so, not for each packet.
  void read_up_to(std::uint64_t position, Time now);
  bool looks(Time now) const {
    return first_ < unread_.size() && (now - looked_at_ >= after_ / 4 || due(now));
  }

  bool pending() const { return considered_ < unread_.size(); } // there will be some
  bool due(Time now) const {
    return pending() && (absent_ || now - std::max(unread_[first_].at, read_at_) >= after_);
  }
  // `send` is given the path and an acknowledgement, a whole datagram, for each path that has one
  // due; returns how many packets that acknowledges.
  template <class Send> std::uint64_t acknowledge(Send &&send) {
    const std::uint64_t packets = consider();
    std::byte room[max_datagram];
    for (const std::uint32_t path : due_)
      send(path, write(paths_[path], room));
    due_.clear();
    return packets;
  }

  static constexpr std::size_t max_datagram =
      wire::packet_header_size + wire::AckBlock::fixed_size + 8 * wire::AckBlock::max_sack_words;

private:
  // What has come in, up to an absence of the rank's and in it.
  struct Received {
    std::uint64_t absence = 0; // which one
    PacketNumber next;
    session::ReceiveWindow window;
    bool due = false;

    void add(PacketNumber);
    void add_sack(const wire::AckBlock &);
  };
  struct Path {
    wire::Token local = wire::Token::none, peer = wire::Token::none;
    bool has_block = false;
    bool checksums = false; // it sends them, and so takes no packet without
    wire::AckBlock block;   // its last
    std::unique_ptr<Received> received;
  };
  struct Unread {
    std::uint64_t end;
    const std::byte *data;
    std::uint32_t len, path;
    Time at;
  };

  std::uint64_t consider();
  bool take(const Unread &);
  Received &received(Path &) const;
  static std::span<const std::byte> write(Path &, std::byte *room);

  const Duration after_;
  std::vector<Unread> unread_; // from first_ on; what is in front of that, it has read
  std::size_t first_ = 0, considered_ = 0;
  bool absent_ = false;
  Time read_at_{}, looked_at_{}; // when it was last seen to have read; when that was looked at
  std::uint64_t absence_ = 0;
  std::vector<Path> paths_;
  std::vector<std::uint32_t> due_;
};

} // namespace dpdkx::daemon
