// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/daemon/port.h"

#include "dpdkx/base/log.h"
#include "dpdkx/base/room.h"

#include <algorithm>

namespace dpdkx::link::daemon {

// --- paths ---

int DaemonPort::open_path(const Address &peer, PathId &id) {
  if (inherited())
    return -ECHILD;
  if (peer.port == 0 || peer.is_any())
    return -EINVAL;
  if (peer.is_v4() != address_.is_v4()) {
    log(LogLevel::warn, [&] {
      return "peer " + to_string(peer) + " is of another IP version than " + to_string(address_) +
             ", the address of " + info_.link_name + "; allowed: peers of the endpoint's own";
    });
    return -EHOSTUNREACH;
  }
  if (unused_paths_.empty()) {
    const std::size_t n = paths_.size() + 1;
    if (!make_room(paths_, n) || !make_room(unused_paths_, n) || !make_room(events_, 2 * n) ||
        !make_room(to_reopen_, n))
      return -ENOMEM;
    paths_.emplace_back();
    unused_paths_.push_back(static_cast<std::uint32_t>(n - 1));
  }
  id = PathId{unused_paths_.back()};
  Path &opened = path(id);
  opened.peer = peer;
  opened.state = Path::State::opening;
  opened.session = {};
  try {
    notify(RecordKind::open, id);
  } catch (const std::bad_alloc &) {
    opened.state = Path::State::closed;
    return -ENOMEM;
  }
  unused_paths_.pop_back();
  return 0;
}

void DaemonPort::close_path(PathId id) {
  if (inherited())
    return;
  std::erase_if(events_, [id](const PathEvent &event) { return event.path == id; });
  std::erase(to_reopen_, id);
  Path &closed = path(id);
  closed.state = Path::State::closed;
  try {
    notify(RecordKind::close, id);
  } catch (const std::bad_alloc &) {
    // Then it learns of it when the number is opened again.
  }
  ++closed.generation;
  unused_paths_.push_back(static_cast<std::uint32_t>(id));
}

void DaemonPort::note_session(PathId id, std::uint64_t local, std::uint64_t peer) {
  if (inherited())
    return;
  path(id).session.local = local;
  path(id).session.peer = peer;
  tell_session(id);
}

void DaemonPort::set_bulk_port(PathId id, std::uint16_t port) {
  if (inherited() || path(id).session.peer_bulk_port == port)
    return;
  path(id).session.peer_bulk_port = port;
  if (path(id).session.local != 0)
    tell_session(id);
}

void DaemonPort::set_joined(PathId id, bool joined) {
  if (inherited() || path(id).session.peer_joined == std::uint8_t{joined})
    return;
  path(id).session.peer_joined = joined;
  if (path(id).session.local != 0)
    tell_session(id);
}

void DaemonPort::tell_session(PathId id) {
  try {
    notify(RecordKind::session, id);
  } catch (const std::bad_alloc &) {
    // It won't acknowledge for this session, nor use a bulk port or join: it needn't.
  }
}

// While there is no daemon, nothing: the next one is told of all that is open.
void DaemonPort::notify(RecordKind kind, PathId id) {
  if (state_ != State::attached)
    return;
  const Notice notice{kind, id, path(id).generation};
  if (!notices_.empty() || !send_notice(notice))
    notices_.push_back(notice);
}

bool DaemonPort::send_notices() {
  while (!notices_.empty()) {
    if (!send_notice(notices_.front()))
      return false;
    notices_.pop_front();
  }
  return true;
}

bool DaemonPort::send_notice(const Notice &notice) {
  const Path &about = path(notice.path);
  const bool stale = about.generation != notice.generation || about.state == Path::State::closed;
  if (stale && notice.kind != RecordKind::close)
    return true;
  const std::uint32_t body = notice.kind == RecordKind::open      ? sizeof(WireOrigin)
                             : notice.kind == RecordKind::session ? sizeof(SessionOfPath)
                                                                  : 0;
  std::byte *const at = begin_record(notice.kind, notice.path, notice.generation, body);
  if (at == nullptr)
    return false;
  if (notice.kind == RecordKind::open)
    put(at, wire_origin({about.peer, {}}));
  else if (notice.kind == RecordKind::session)
    put(at, about.session);
  end_record(body);
  channel_.tx.publish();
  return true;
}

// --- out ---

std::byte *DaemonPort::begin_record(RecordKind kind, PathId id, std::uint16_t generation,
                                    std::uint32_t body) {
  std::byte *const at =
      channel_.tx.reserve(static_cast<std::uint32_t>(sizeof(RecordHeader)) + body);
  if (at == nullptr) [[unlikely]] {
    channel_.tx.publish(); // who sends until there is no room need not flush to get some
    if (channel_.tx.corrupt())
      lose("it has written over the head of a ring");
    return nullptr;
  }
  return put(at, RecordHeader{static_cast<std::uint8_t>(kind), 0, generation,
                              static_cast<std::uint32_t>(id)});
}

void DaemonPort::end_record(std::uint32_t body) {
  channel_.tx.stage(static_cast<std::uint32_t>(sizeof(RecordHeader)) + body);
  dirty_ = true;
}

TxRoom DaemonPort::reserve(PathId id, std::uint32_t len) {
  if (inherited()) [[unlikely]]
    return {};
  const Path &to = path(id);
  std::byte *data = nullptr;
  if (state_ == State::attached && to.state == Path::State::up && len <= traits_.max_datagram &&
      (notices_.empty() || send_notices())) [[likely]]
    data = begin_record(RecordKind::data, id, to.generation, len);
  if (data == nullptr) {
    ++counters_.tx_refused;
    return {};
  }
  return {data, len, nullptr};
}

void DaemonPort::commit(PathId, const TxRoom &room, std::uint32_t len) {
  if (room.bulk)
    room.data[-static_cast<std::ptrdiff_t>(sizeof(RecordHeader)) +
              static_cast<std::ptrdiff_t>(offsetof(RecordHeader, bulk))] = std::byte{1};
  end_record(len);
  ++counters_.tx_datagrams;
  counters_.tx_bytes += len;
}

void DaemonPort::flush() {
  if (inherited() || state_ != State::attached) [[unlikely]]
    return;
  if (!notices_.empty())
    send_notices();
  if (std::exchange(dirty_, false)) {
    channel_.tx.publish();
    channel_.wake_peer();
  }
}

void DaemonPort::reply(const RxDatagram &to, std::span<const std::byte> bytes) {
  if (to.path == PathId::none) {
    reply_to(origin_in(to), bytes);
    return;
  }
  const auto len = static_cast<std::uint32_t>(bytes.size());
  const TxRoom room = reserve(to.path, len);
  if (room.data == nullptr)
    return;
  std::ranges::copy(bytes, room.data);
  commit(to.path, room, len);
  flush();
}

bool DaemonPort::reply_to(const Origin &to, std::span<const std::byte> bytes) {
  if (inherited() || state_ != State::attached || bytes.size() > traits_.max_datagram)
    return false;
  const auto body = static_cast<std::uint32_t>(sizeof(WireOrigin) + bytes.size());
  std::byte *at = begin_record(RecordKind::reply, PathId::none, 0, body);
  if (at == nullptr)
    return false;
  at = put(at, wire_origin(to));
  std::ranges::copy(bytes, at);
  end_record(body);
  flush();
  return true;
}

// --- in ---

unsigned DaemonPort::poll(RxDatagram *out, unsigned max) {
  if (inherited()) [[unlikely]]
    return 0;
  if (!notices_.empty() && state_ == State::attached)
    flush();
  unsigned n = 0;
  const std::byte *data;
  std::uint32_t len;
  auto next = host::RingConsumer::Next::none;
  while (n < max && channel_.own_sleep != nullptr &&
         (next = channel_.rx.next(data, len)) == host::RingConsumer::Next::datagram) {
    unreleased_ = true;
    n += take_record(data, len, out[n]);
  }
  if (n == 0 && unreleased_)
    release(nullptr, 0);
  if (next == host::RingConsumer::Next::corrupt) [[unlikely]]
    distrust("it has written over a ring");
  return n;
}

bool DaemonPort::take_record(const std::byte *data, std::uint32_t len, RxDatagram &out) {
  const std::byte *const record = data;
  RecordHeader header;
  if (!take(data, len, header)) {
    malformed("it has written a record without a header");
    return false;
  }
  const PathId id{header.path};
  const bool known = header.path < paths_.size() && path(id).state != Path::State::closed &&
                     path(id).generation == header.generation;
  switch (static_cast<RecordKind>(header.kind)) {
  case RecordKind::data:
    if (!known) { // closed meanwhile
      ++counters_.rx_dropped;
      return false;
    }
    out = {data, len, id, const_cast<std::byte *>(record)};
    ++counters_.rx_datagrams;
    counters_.rx_bytes += len;
    return true;
  case RecordKind::stranger:
    if (len < sizeof(WireOrigin)) {
      malformed("it has written a datagram without its origin");
      return false;
    }
    out = {data + sizeof(WireOrigin), len - static_cast<std::uint32_t>(sizeof(WireOrigin)),
           PathId::none, const_cast<std::byte *>(record)};
    ++counters_.rx_datagrams;
    counters_.rx_bytes += out.len;
    return true;
  case RecordKind::event:
    if (known)
      take_event(header, data, len);
    return false;
  default:
    malformed("it has written a record of a kind that there isn't");
    return false;
  }
}

void DaemonPort::malformed(const char *why) {
  ++counters_.rx_dropped;
  distrust(why);
}

void DaemonPort::take_event(const RecordHeader &header, const std::byte *data, std::uint32_t len) {
  WireEvent event;
  if (!take(data, len, event))
    return malformed("it has written an event that isn't whole");
  const PathId id{header.path};
  Path &of = path(id);
  switch (static_cast<PathEventKind>(event.kind)) {
  case PathEventKind::up:
    if (of.state == Path::State::opening) { // else it is up again, or has been given up
      events_.push_back({PathEventKind::up, id});
      of.state = Path::State::up;
    }
    return;
  case PathEventKind::failed:
    if (of.state == Path::State::opening)
      fail(id, is_error(event.error) ? event.error : -EHOSTUNREACH);
    else if (of.state == Path::State::up && std::ranges::find(to_reopen_, id) == to_reopen_.end())
      to_reopen_.push_back(id); // whether its peer is gone, the session finds out
    return;
  default:
    return malformed("it has written an event of a kind that there isn't");
  }
}

void DaemonPort::fail(PathId id, int error) {
  path(id).state = Path::State::failed;
  events_.push_back({PathEventKind::failed, id, error});
}

void DaemonPort::release(RxDatagram *, unsigned) {
  if (!std::exchange(unreleased_, false) || inherited())
    return;
  channel_.rx.release();
}

// `record` lies in memory that the daemon can write.
Origin DaemonPort::origin_in(const RxDatagram &datagram) {
  WireOrigin wire;
  std::memcpy(&wire, static_cast<const std::byte *>(datagram.handle) + sizeof(RecordHeader),
              sizeof(wire));
  return origin_of(wire);
}

Address DaemonPort::source(const RxDatagram &datagram) const {
  return datagram.path != PathId::none ? path(datagram.path).peer : origin_in(datagram).source;
}

bool DaemonPort::origin(const RxDatagram &datagram, Origin &out) const {
  if (datagram.path != PathId::none)
    return false; // it has a path
  out = origin_in(datagram);
  return true;
}

} // namespace dpdkx::link::daemon
