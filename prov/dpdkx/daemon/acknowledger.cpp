// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/acknowledger.h"

#include <utility>

namespace dpdkx::daemon {

void Acknowledger::session(std::uint32_t path, wire::Token local, wire::Token peer) {
  if (paths_.size() <= path)
    paths_.resize(path + 1);
  paths_[path] = {};
  paths_[path].local = local;
  paths_[path].peer = peer;
}

void Acknowledger::sent(std::uint32_t path, std::span<const std::byte> datagram) {
  if (path >= paths_.size() || paths_[path].peer == wire::Token::none)
    return;
  Path &of = paths_[path];
  const auto header = wire::decode_header(datagram);
  if (!header || !(header->flags & wire::packet_flag::ack_block) || header->token != of.peer)
    return;
  of.has_block = wire::decode_ack(datagram, of.block); // a rank writes none that aren't whole
  of.checksums = header->flags & wire::packet_flag::checksummed;
}

void Acknowledger::delivered(std::uint32_t path, std::span<const std::byte> in_ring,
                             std::uint64_t end, Time now) {
  const bool known = path < paths_.size() && paths_[path].local != wire::Token::none;
  if (known)
    unread_.push_back({end, in_ring.data(), static_cast<std::uint32_t>(in_ring.size()), path, now});
}

void Acknowledger::read_up_to(std::uint64_t position, Time now) {
  looked_at_ = now;
  const std::size_t before = first_;
  while (first_ < unread_.size() && static_cast<std::int64_t>(position - unread_[first_].end) >= 0)
    ++first_;
  if (first_ == before)
    return;
  if (2 * first_ >= unread_.size()) {
    unread_.erase(unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  considered_ = first_;
  absent_ = false;
  read_at_ = now;
}

std::uint64_t Acknowledger::consider() {
  if (!absent_) {
    absent_ = true;
    ++absence_;
  }
  std::uint64_t taken = 0;
  for (; considered_ < unread_.size(); ++considered_)
    taken += take(unread_[considered_]);
  return taken;
}

// The rank could write over it while it is looked at: to its own harm.
bool Acknowledger::take(const Unread &packet) {
  Path &path = paths_[packet.path];
  std::span<const std::byte> in{packet.data, packet.len};
  const auto header = wire::decode_header(in);
  if (!header || header->token != path.local || path.local == wire::Token::none || !path.has_block)
    return false;
  const bool asks =
      header->type == wire::PacketType::ack && (header->flags & wire::packet_flag::ack_now);
  if (!asks && header->type != wire::PacketType::data)
    return false;
  // Without the flag, which a bit on the way may have cost it, the rank drops it.
  const bool checksummed = header->flags & wire::packet_flag::checksummed;
  if (checksummed ? !wire::verify({packet.data, packet.len}) : path.checksums)
    return false;
  Received &now = received(path);
  if (!std::exchange(now.due, true))
    due_.push_back(packet.path);
  if (asks)
    return false;
  now.add(header->pn);
  return true;
}

void Acknowledger::Received::add(PacketNumber pn) {
  const std::int32_t ahead = pn - next;
  if (ahead == 0)
    next = window.advance(next);
  else if (ahead > 0 && ahead < static_cast<std::int32_t>(session::ReceiveWindow::size))
    window.insert(next, pn);
}

void Acknowledger::Received::add_sack(const wire::AckBlock &block) {
  for (std::uint32_t bit = 0; bit < 64u * block.sack_words; ++bit)
    if (block.sack[bit / 64] >> bit % 64 & 1)
      add(block.cumulative + 1 + bit);
}

// What was acknowledged here stays so: the rank may have read it and not said so yet, and its peer
// would take an ack of less for an old one.
Acknowledger::Received &Acknowledger::received(Path &path) const {
  if (path.received && path.received->absence == absence_)
    return *path.received;
  wire::AckBlock before = path.block;
  if (path.received) {
    before.cumulative = path.received->next;
    path.received->window.fill(before.cumulative, before);
  }
  path.received = std::make_unique<Received>();
  path.received->absence = absence_;
  path.received->next = std::max(path.block.cumulative, before.cumulative);
  path.received->add_sack(path.block);
  path.received->add_sack(before);
  return *path.received;
}

std::span<const std::byte> Acknowledger::write(Path &path, std::byte *room) {
  path.received->due = false;
  wire::PacketHeader header;
  header.type = wire::PacketType::ack;
  header.flags = wire::packet_flag::ack_block | wire::packet_flag::checksummed;
  header.token = path.peer;
  wire::AckBlock block = path.block;
  block.cumulative = path.received->next;
  block.delay_us = wire::AckBlock::delay_unknown;
  path.received->window.fill(block.cumulative, block);
  std::byte *const end = wire::encode(wire::encode(room, header), block);
  const std::span<std::byte> datagram(room, end);
  wire::seal(datagram);
  return datagram;
}

} // namespace dpdkx::daemon
