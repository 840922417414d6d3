// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/attachment.h"

#include "dpdkx/base/log.h"
#include "dpdkx/base/room.h"
#include "dpdkx/net/describe.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace dpdkx::daemon {

using link::daemon::RecordHeader;
using link::daemon::RecordKind;
using link::daemon::SessionOfPath;
using link::daemon::WireEvent;
using link::daemon::WireOrigin;

namespace {

// In a row, before others have their turn.
constexpr unsigned records_a_turn = 64;
constexpr std::uint32_t no_path = UINT32_MAX;
constexpr std::uint32_t max_record = link::daemon::max_record_overhead + net::max_mtu;

} // namespace

Attachment::Attachment(const Config &config, link::host::Segment &&segment, link::host::Fd socket,
                       link::host::Fd process, const link::host::Peer &who,
                       const link::daemon::Request &request, std::unique_ptr<link::Port> port,
                       Time now)
    : acknowledger_(config.acknowledge_after), process_(std::move(process)), port_(std::move(port)),
      max_datagram_(port_->traits().max_datagram), since_(now) {
  channel_.attach(std::move(segment), link::host::End::acceptor, request.start, max_record);
  channel_.socket = std::move(socket);
  status_.address = port_->address();
  status_.pid = who.pid;
  status_.uid = who.uid;
  status_.ring_bytes = request.ring_bytes;
}

bool Attachment::turn(Time now) {
  try {
    bool busy = forward_out(records_a_turn);
    busy |= forward_events(now);
    busy |= forward_in(now);
    if (dirty_)
      wake_rank(busy);
    if (acknowledger_.looks(now)) [[unlikely]] {
      acknowledger_.read_up_to(channel_.tx.released(), now);
      if (acknowledger_.due(now))
        acknowledge();
    }
    return busy;
  } catch (const std::bad_alloc &) {
    malformed("more than there is memory for");
    return false;
  }
}

bool Attachment::take_in(Time now) {
  try {
    bool did = forward_events(now);
    did |= forward_in(now);
    if (dirty_)
      wake_rank(false);
    return did;
  } catch (const std::bad_alloc &) {
    malformed("more than there is memory for");
    return true;
  }
}

// A fence waits until the rank's processor has given the lines up that were written. While there is
// traffic the next turn looks again anyway, and the fence is left to the first turn without.
void Attachment::wake_rank(bool looks_again) {
  if (looks_again)
    return channel_.wake_if_asleep();
  dirty_ = false;
  channel_.wake_peer();
}

void Attachment::end() {
  ending_ = true;
  if (broken())
    return;
  // The device takes what it has room for; the rest is as lost as on any wire.
  for (unsigned i = 0; i < 1024 && forward_out(records_a_turn); ++i) {
  }
}

// --- from the rank ---

bool Attachment::forward_out(unsigned budget) {
  if (broken())
    return false;
  bool did = false;
  if (held_ != nullptr) {
    if (!take_record(held_, held_len_)) {
      port_->flush();
      return false;
    }
    held_ = nullptr;
    did = true;
  }
  auto next = link::host::RingConsumer::Next::none;
  const std::byte *data;
  std::uint32_t len;
  unsigned taken = 0;
  for (; taken < budget && held_ == nullptr && !broken() &&
         (next = channel_.rx.next(data, len)) == link::host::RingConsumer::Next::datagram;
       ++taken) {
    if (many_ || taken != 0)
      channel_.rx.fetch_ahead(taken == (many_ ? 0 : 1));
    if (take_record(data, len)) {
      did = true;
    } else {
      held_ = data;
      held_len_ = len;
    }
  }
  if (next == link::host::RingConsumer::Next::corrupt)
    malformed("a ring that no rank would leave so");
  if (!did)
    return false;
  many_ = taken > 1;
  port_->flush();
  if (held_ == nullptr)
    channel_.rx.release();
  return true;
}

// False: it is to be tried again when there is room.
bool Attachment::take_record(const std::byte *data, std::uint32_t len) {
  RecordHeader header;
  if (!link::daemon::take(data, len, header)) {
    malformed("a record without a header");
    return true;
  }
  switch (static_cast<RecordKind>(header.kind)) {
  case RecordKind::data:
    if (Path *path = path_of(header))
      return send(*path, header, data, len);
    return true;
  case RecordKind::open:
    return open(header, data, len);
  case RecordKind::close:
    if (path_of(header))
      close(header.path);
    return true;
  case RecordKind::session:
    if (path_of(header))
      note_session(header.path, data, len);
    return true;
  case RecordKind::reply:
    reply(data, len);
    return true;
  default:
    malformed("a record of a kind that there isn't");
    return true;
  }
}

Attachment::Path *Attachment::path_of(const RecordHeader &header) {
  if (header.path >= paths_.size())
    return nullptr;
  Path &path = paths_[header.path];
  const bool open = path.port_path != link::PathId::none && path.generation == header.generation;
  return open ? &path : nullptr;
}

bool Attachment::send(Path &path, const RecordHeader &header, const std::byte *data,
                      std::uint32_t len) {
  if (len > max_datagram_) {
    malformed("a datagram that is larger than the device takes");
    return true;
  }
  if (!path.up) {
    ++status_.send_refused; // of a path that has been opened anew; lost, as on any wire
    return true;
  }
  link::TxRoom room = port_->reserve(path.port_path, len);
  room.bulk = header.bulk == 1;
  if (room.data == nullptr) {
    ++status_.send_refused;
    return ending_; // who has gone doesn't try again
  }
  std::memcpy(room.data, data, len);
  acknowledger_.sent(header.path, {room.data, len});
  port_->commit(path.port_path, room, len);
  ++status_.to_network.packets;
  status_.to_network.bytes += len;
  return true;
}

bool Attachment::open(const RecordHeader &header, const std::byte *data, std::uint32_t len) {
  WireOrigin peer;
  if (header.path >= max_paths || !link::daemon::take(data, len, peer)) {
    malformed("a path that can't be");
    return true;
  }
  if (ending_)
    return true; // nobody will send there
  if (!untold_.empty())
    return false; // who doesn't read what becomes of its paths opens no more of them
  if (header.path >= paths_.size())
    paths_.resize(header.path + 1);
  if (paths_[header.path].port_path != link::PathId::none)
    close(header.path);
  Path &path = paths_[header.path];
  path = {.port_path = link::PathId::none, .generation = header.generation, .up = false};
  untold_.reserve(1);
  link::PathId id;
  if (const int rc = port_->open_path(link::daemon::origin_of(peer).source, id)) {
    tell(header.path, link::PathEventKind::failed, rc);
    return true;
  }
  const auto index = static_cast<std::uint32_t>(id);
  if (!make_room(by_port_path_, index + 1)) {
    port_->close_path(id);
    tell(header.path, link::PathEventKind::failed, -ENOMEM);
    return true;
  }
  if (index >= by_port_path_.size())
    by_port_path_.resize(index + 1, no_path);
  by_port_path_[index] = header.path;
  path.port_path = id;
  ++open_paths_;
  return true;
}

void Attachment::close(std::uint32_t number) {
  Path &path = paths_[number];
  acknowledger_.session(number, wire::Token::none, wire::Token::none);
  by_port_path_[static_cast<std::uint32_t>(path.port_path)] = no_path;
  port_->close_path(std::exchange(path.port_path, link::PathId::none));
  path.up = false;
  --open_paths_;
}

void Attachment::note_session(std::uint32_t number, const std::byte *data, std::uint32_t len) {
  SessionOfPath session;
  if (!link::daemon::take(data, len, session))
    return malformed("a session without tokens");
  acknowledger_.session(number, wire::Token{session.local}, wire::Token{session.peer});
  port_->set_bulk_port(paths_[number].port_path, session.peer_bulk_port);
  port_->set_joined(paths_[number].port_path, session.peer_joined == 1);
}

void Attachment::reply(const std::byte *data, std::uint32_t len) {
  WireOrigin to;
  if (!link::daemon::take(data, len, to) || len > max_datagram_)
    return malformed("a reply that can't be");
  std::byte copy[net::max_mtu];
  std::memcpy(copy, data, len);
  if (port_->reply_to(link::daemon::origin_of(to), {copy, len})) {
    ++status_.to_network.packets;
    status_.to_network.bytes += len;
  }
}

void Attachment::malformed(const char *what) {
  ++status_.malformed;
  if (fault_ == nullptr)
    fault_ = what;
}

// --- to the rank ---

bool Attachment::forward_in(Time now) {
  bool did = false;
  for (unsigned taken = 0; taken < datagrams_a_turn; taken += burst) {
    const unsigned n = port_->poll(datagrams_, burst);
    for (unsigned k = 0; k < n; ++k)
      dirty_ |= give(datagrams_[k], now);
    if (n != 0) {
      channel_.tx.publish();
      port_->release(datagrams_, n);
    }
    did |= n != 0;
    if (n < burst)
      break;
  }
  return did;
}

bool Attachment::give(const link::RxDatagram &datagram, Time now) {
  const auto port_path = static_cast<std::uint32_t>(datagram.path);
  const std::uint32_t number =
      datagram.path != link::PathId::none && port_path < by_port_path_.size()
          ? by_port_path_[port_path]
          : no_path;
  link::Origin origin;
  RecordHeader header{static_cast<std::uint8_t>(RecordKind::data), 0, 0, number};
  std::uint32_t extra = sizeof(header);
  if (number != no_path) {
    header.generation = paths_[number].generation;
  } else {
    header.kind = static_cast<std::uint8_t>(RecordKind::stranger);
    extra += sizeof(WireOrigin);
    if (!port_->origin(datagram, origin))
      return false;
  }
  std::byte *at = untold_.empty() ? channel_.tx.reserve(extra + datagram.len) : nullptr;
  if (at == nullptr) {
    if (channel_.tx.corrupt())
      malformed("the head of a ring that can't be");
    ++status_.dropped_no_room;
    return false;
  }
  at = link::daemon::put(at, header);
  if (number == no_path)
    at = link::daemon::put(at, link::daemon::wire_origin(origin));
  std::memcpy(at, datagram.data, datagram.len);
  channel_.tx.stage(extra + datagram.len);
  ++status_.to_rank.packets;
  status_.to_rank.bytes += datagram.len;
  if (number != no_path)
    acknowledger_.delivered(number, {at, datagram.len}, channel_.tx.position(), now);
  return true;
}

bool Attachment::forward_events(Time now) {
  if (!untold_.empty())
    send_untold();
  const unsigned n = port_->poll_events(events_, events_at_once, now);
  for (unsigned i = 0; i < n; ++i) {
    const auto port_path = static_cast<std::uint32_t>(events_[i].path);
    const std::uint32_t number =
        port_path < by_port_path_.size() ? by_port_path_[port_path] : no_path;
    if (number == no_path)
      continue;
    tell(number, events_[i].kind, events_[i].error);
    if (events_[i].kind == link::PathEventKind::up)
      paths_[number].up = true;
    else
      close(number);
  }
  return n != 0;
}

void Attachment::tell(std::uint32_t number, link::PathEventKind kind, int error) {
  untold_.push_back(
      {{static_cast<std::uint8_t>(RecordKind::event), 0, paths_[number].generation, number},
       {static_cast<std::uint32_t>(kind), error}});
  send_untold();
}

void Attachment::send_untold() {
  std::size_t sent = 0;
  for (; sent < untold_.size(); ++sent) {
    constexpr std::uint32_t len = sizeof(RecordHeader) + sizeof(WireEvent);
    std::byte *const at = channel_.tx.reserve(len);
    if (at == nullptr)
      break;
    link::daemon::put(link::daemon::put(at, untold_[sent].header), untold_[sent].event);
    channel_.tx.commit(len);
    dirty_ = true;
  }
  untold_.erase(untold_.begin(), untold_.begin() + static_cast<std::ptrdiff_t>(sent));
}

void Attachment::acknowledge() {
  status_.acknowledged +=
      acknowledger_.acknowledge([this](std::uint32_t number, std::span<const std::byte> ack) {
        const Path &path = paths_[number];
        if (!path.up)
          return;
        const auto len = static_cast<std::uint32_t>(ack.size());
        const link::TxRoom room = port_->reserve(path.port_path, len);
        if (room.data == nullptr)
          return; // the sender asks again
        std::memcpy(room.data, ack.data(), len);
        port_->commit(path.port_path, room, len);
      });
  port_->flush();
}

// --- sleep ---

bool Attachment::arm() {
  if (broken() || acknowledger_.pending())
    return false;
  return held_ != nullptr || channel_.sleep();
}

void Attachment::disarm() { channel_.set_sleep(link::host::Sleep::may_sleep); }

RankStatus Attachment::status(Time now) {
  status_.attached = now - since_;
  status_.paths = open_paths_;
  status_.ring_used = static_cast<std::uint32_t>(channel_.tx.position() - channel_.tx.released());
  return status_;
}

} // namespace dpdkx::daemon
