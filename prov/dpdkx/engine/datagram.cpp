// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Endpoints for datagrams (FI_EP_DGRAM): a message is one packet, that needs no
// session, and nobody answers. What nobody is there for is gone, as with UDP.
#include "dpdkx/base/room.h"
#include "dpdkx/engine/impl.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace dpdkx::engine {

namespace {

// Where nobody was, it is looked again that often.
constexpr Duration absence = std::chrono::milliseconds(10);

// What fi_mc_addr(3) tells: apart from what address vectors do, so that one is never taken for the
// other.
constexpr fi_addr_t first_group = fi_addr_t{1} << 62;

constexpr wire::MessageFrame longest_frame() {
  wire::MessageFrame f;
  f.flags = wire::frame_flag::cq_data;
  return f;
}
static_assert(datagram_overhead == wire::packet_header_size + wire::size_of(longest_frame()));

// The job's key, as far as a packet has room for it: no proof, but what is
// another job's is told apart.
wire::Token token_of(const wire::KeyDigest &key) {
  std::uint64_t token;
  static_assert(sizeof key >= sizeof token);
  std::memcpy(&token, key.data(), sizeof token);
  return wire::Token{token};
}

} // namespace

std::size_t Endpoint::max_datagram() const {
  std::uint32_t least = UINT16_MAX; // as a frame counts
  for (const Attachment *a : {&impl_->host_, &impl_->device_})
    if (a->port)
      least = std::min(least, a->port->traits().max_datagram);
  return least - datagram_overhead;
}

ssize_t Endpoint::send_datagram(const op::SendRequest &r) { return impl_->send_datagram(r); }

// --- Out

ssize_t Endpoint::Impl::send_datagram(const op::SendRequest &r) {
  Target *t = nullptr, group;
  if (r.flags & FI_MULTICAST) [[unlikely]]
    t = &group;
  if (const int rc = t ? find_group(r.dest, group) : find_target(r.dest, t))
    return rc;
  if (t->up) {
    if (!put_datagram(*t, r))
      return -FI_EAGAIN;
  } else if (!t->absent) {
    return -FI_EAGAIN; // the path comes up
  }
  messenger_.datagram_sent(r);
  Attachment &a = attachment(*t->port);
  if (!(r.flags & FI_MORE))
    a.flush();
  return 0;
}

bool Endpoint::Impl::put_datagram(const Target &t, const op::SendRequest &r) {
  wire::MessageFrame f;
  f.flags = r.flags & FI_REMOTE_CQ_DATA ? wire::frame_flag::cq_data : 0;
  f.len = static_cast<std::uint16_t>(r.len);
  f.total = f.len;
  f.data = r.data;
  const std::size_t len = wire::packet_header_size + wire::size_of(f) + r.len;
  const link::TxRoom room = t.port->reserve(t.path, static_cast<std::uint32_t>(len));
  if (!room.data)
    return false;
  std::byte *to = wire::encode(room.data + wire::packet_header_size, f);
  for (std::size_t i = 0; i < r.iov_count; ++i) {
    if (r.iov[i].iov_len)
      std::memcpy(to, r.iov[i].iov_base, r.iov[i].iov_len);
    to += r.iov[i].iov_len;
  }
  wire::PacketHeader h;
  h.type = wire::PacketType::datagram;
  h.token = token_of(config_.session.key);
  const bool checksum = config_.checksum && t.port->traits().checksum;
  if (checksum)
    h.flags |= wire::packet_flag::checksummed;
  wire::encode(room.data, h);
  if (checksum)
    wire::seal({room.data, len});
  t.port->commit(t.path, room, static_cast<std::uint32_t>(len));
  attachment(*t.port).dirty = true;
  ++statistics_.tx_packets;
  return true;
}

// --- Groups

int Endpoint::join(const Address &group, bool sends, bool receives, fi_addr_t &dest) {
  link::Port *const device = impl_->device_.port.get();
  if (!device)
    return -EOPNOTSUPP;
  auto &groups = impl_->groups_;
  std::size_t i = 0;
  while (i < groups.size() && groups[i].path != link::PathId::none)
    ++i;
  if (i == groups.size() && !make_room(groups, i + 1))
    return -ENOMEM;
  link::PathId path = link::PathId::none;
  if (const int rc = device->join(group, receives, path))
    return rc;
  if (!Impl::name_path(impl_->device_, path, no_conn)) {
    device->close_path(path);
    return -ENOMEM;
  }
  if (i == groups.size())
    groups.emplace_back();
  groups[i] = {path, sends};
  dest = first_group + i;
  return 0;
}

void Endpoint::leave(fi_addr_t dest) {
  Impl::Group &group = impl_->groups_[dest - first_group];
  impl_->device_.port->flush(); // what it has sent there still goes
  impl_->device_.port->close_path(std::exchange(group.path, link::PathId::none));
}

int Endpoint::Impl::find_group(fi_addr_t dest, Target &out) const {
  const fi_addr_t i = dest - first_group; // huge, if dest is less
  if (i >= groups_.size() || groups_[i].path == link::PathId::none || !groups_[i].sends)
    return -FI_EINVAL;
  out.port = device_.port.get();
  out.path = groups_[i].path;
  out.up = true;
  return 0;
}

// --- Where to

// 0, also where nobody is there; -FI_EINVAL: not in the book; what else keeps a
// path from being opened.
int Endpoint::Impl::find_target(fi_addr_t dest, Target *&t) {
  if (dest < targets_.size() && targets_[dest].up) [[likely]] {
    t = &targets_[dest];
    return 0;
  }
  Address a;
  if (!book_.lookup(dest, a))
    return not_in_book(dest);
  if (targets_.size() <= dest) {
    if (!make_room(targets_, dest + 1))
      return -FI_ENOMEM;
    targets_.resize(dest + 1);
  }
  t = &targets_[dest];
  if (t->path != link::PathId::none)
    return 0;
  if (t->error == -FI_EHOSTUNREACH)
    return t->error; // said once
  read_clock();
  return now_ < t->again_at ? t->error : seek(dest, a, *t);
}

int Endpoint::Impl::seek(fi_addr_t dest, const Address &a, Target &t) {
  int error = 0;
  t.again_at = now_ + absence;
  t.port = route(a, t.path, error);
  if (error == 0 && !name_path(attachment(*t.port), t.path, static_cast<std::uint32_t>(dest))) {
    t.port->close_path(t.path);
    error = -FI_ENOMEM;
  }
  if (error != 0) {
    t.path = link::PathId::none;
    t.absent = true;
    return t.error = error == -FI_ECONNREFUSED ? 0 : error;
  }
  t.error = 0;
  poll_paths(attachment(*t.port)); // it may be up already
  return 0;
}

void Endpoint::Impl::on_target_event(Attachment &a, const link::PathEvent &e) {
  const auto i = static_cast<std::uint32_t>(e.path);
  const std::uint32_t dest = i < a.by_path.size() ? a.by_path[i] : no_conn;
  Target *t = dest < targets_.size() ? &targets_[dest] : nullptr;
  switch (e.kind) {
  case link::PathEventKind::accepted:
    name_path(a, e.path, no_conn);
    return;
  case link::PathEventKind::up:
    if (t) {
      t->up = true;
      t->absent = false;
    }
    return;
  case link::PathEventKind::failed:
  case link::PathEventKind::peer_gone:
    a.port->close_path(e.path);
    name_path(a, e.path, no_conn);
    if (!t)
      return;
    t->path = link::PathId::none;
    t->up = false;
    t->absent = true;
    t->again_at = now_ + absence;
    return;
  }
}

void Endpoint::Impl::forget_target(fi_addr_t dest) {
  if (dest >= targets_.size())
    return;
  const Target t = std::exchange(targets_[dest], {});
  if (t.path == link::PathId::none)
    return;
  name_path(attachment(*t.port), t.path, no_conn);
  t.port->close_path(t.path);
}

// --- In

void Endpoint::Impl::on_datagram_packet(Attachment &a, const link::RxDatagram &d,
                                        const wire::PacketHeader &h,
                                        std::span<const std::byte> body) {
  if (!config_.datagrams) {
    ++statistics_.malformed;
    return;
  }
  if (h.token != token_of(config_.session.key)) {
    ++statistics_.unknown_token;
    return;
  }
  const Address from = a.port->source(d);
  if (serving_)
    keep_datagram(from, body);
  else
    take_datagram(from, body);
}

void Endpoint::Impl::take_datagram(const Address &from, std::span<const std::byte> body) {
  wire::Frame f;
  if (wire::decode_frame(body, f) != wire::FrameResult::frame ||
      f.type != wire::FrameType::message || (f.message.flags & ~wire::frame_flag::cq_data) != 0) {
    ++statistics_.malformed;
    return;
  }
  read_once();
  const fi_addr_t src = book_.reverse(from);
  std::byte raw[32];
  const std::size_t raw_size = src == FI_ADDR_NOTAVAIL ? to_sockaddr(from, raw) : 0;
  if (!messenger_.on_datagram(f.message, src, {raw, raw_size}))
    ++statistics_.no_receive;
}

// For the next turn. Without room it is as if the datagram had been lost.
void Endpoint::Impl::keep_datagram(const Address &from, std::span<const std::byte> body) {
  if (backlog_full())
    return;
  Backlog::Owner kept = room_in_backlog(sizeof from + body.size());
  if (!kept)
    return;
  std::memcpy(kept->frames, &from, sizeof from);
  std::memcpy(kept->frames + sizeof from, body.data(), body.size());
  backlog_bytes_ += kept->len;
  backlog_.push_back(kept.release());
}

void Endpoint::Impl::take_kept(const Backlog &b) {
  Address from;
  std::memcpy(&from, b.frames, sizeof from);
  take_datagram(from, std::span(b.frames, b.len).subspan(sizeof from));
}

} // namespace dpdkx::engine
