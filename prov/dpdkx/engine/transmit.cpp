// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Packets out. On a link that loses nothing, frames are written where the peer
// reads them. On others they are kept in a Packet, so that they can be sent
// again, and copied when the packet leaves; small ones share a packet.
#include "dpdkx/engine/impl.h"

#include <algorithm>
#include <cstring>
#include <netinet/in.h>
#include <new>

namespace dpdkx::engine {

namespace {

// Kept free for an ack block in each packet that carries frames: a few words of
// it ride; more go by an ack packet.
constexpr std::size_t riding_ack = wire::AckBlock::fixed_size + 4 * sizeof(std::uint64_t);

Conn &conn_of(op::Peer &p) { return static_cast<Conn &>(p); }
const Conn &conn_of(const op::Peer &p) { return static_cast<const Conn &>(p); }

} // namespace

std::byte *Endpoint::Impl::begin(op::Peer &p, std::uint32_t len, op::Load load) {
  Conn &c = conn_of(p);
  if (!c.opened || c.doomed)
    return nullptr;
  return c.lossless ? begin_in_place(c, len) : begin_kept(c, len, load);
}

std::byte *Endpoint::Impl::begin_in_place(Conn &c, std::uint32_t len) {
  if (open_.conn)
    close_open();
  const bool ack = c.in_ack;
  const std::uint32_t head =
      static_cast<std::uint32_t>(wire::packet_header_size + (ack ? wire::AckBlock::fixed_size : 0));
  const link::TxRoom room = c.port->reserve(c.path, head + len);
  if (!room.data)
    return nullptr;
  open_.room = room;
  open_.head = head;
  return room.data + head;
}

std::byte *Endpoint::Impl::begin_kept(Conn &c, std::uint32_t len, op::Load load) {
  if (open_.conn == &c && open_.used + len <= c.max_frames) {
    open_.packet->bulk &= load == op::Load::bulk;
    return open_.packet->frames + open_.used;
  }
  if (open_.conn)
    close_open();
  if (c.session.room() == 0 || c.doomed)
    return nullptr;
  const link::TxRoom room = c.port->reserve(c.path, c.session.max_datagram());
  if (!room.data)
    return nullptr;
  Packet *packet = take_packet();
  if (!packet) {
    c.port->cancel(c.path, room);
    return nullptr;
  }
  packet->bulk = load == op::Load::bulk;
  open_ = {&c, packet, room, 0, 0};
  return packet->frames;
}

PacketNumber Endpoint::Impl::commit(op::Peer &p, std::uint32_t len, const op::TxOp *source,
                                    std::uint64_t offset, std::uint32_t tail) {
  Conn &c = conn_of(p);
  const PacketNumber pn = c.session.next_pn();
  if (c.lossless) {
    wire::PacketHeader h;
    h.token = c.session.peer_token();
    h.pn = pn;
    std::byte *body = open_.room.data + wire::packet_header_size;
    if (open_.head > wire::packet_header_size)
      put_ack(c, body, wire::AckBlock::fixed_size, h.flags);
    wire::encode(open_.room.data, h);
    c.session.sent(nullptr, len, now_);
    c.port->commit(c.path, open_.room, open_.head + len);
    attachment(c).dirty = true;
    ++statistics_.tx_packets;
    return pn;
  }
  Packet &packet = *open_.packet;
  open_.used += len - tail;
  if (source) {
    packet.source = source;
    packet.source_offset = offset;
    packet.source_len = tail;
    if (offset + tail == source->memory.len)
      await_ack(p);
    packet.frames_len = open_.used;
    close_open();
  }
  return pn;
}

// Sends the packet that is being filled.
void Endpoint::Impl::close_open() {
  if (!open_.conn)
    return;
  Conn &c = *open_.conn;
  Packet *packet = open_.packet;
  link::TxRoom room = open_.room;
  packet->frames_len = open_.used;
  open_ = {};
  if (packet->frames_len == 0) {
    c.port->cancel(c.path, room);
    give_packet(packet);
    return;
  }
  packet->pn = c.session.next_pn();
  packet->flags |= c.session.ask_for_ack();
  const std::size_t len = wire::packet_header_size + packet->frames_len + packet->source_len;
  if (!c.session.sent(packet, static_cast<std::uint32_t>(len), now_)) [[unlikely]] {
    c.port->cancel(c.path, room);
    give_packet(packet);
    doom(c, ENOMEM);
    return;
  }
  room.bulk = packet->bulk;
  transmit(c, *packet, room);
  look_again(c);
}

// Puts a kept packet into a datagram.
void Endpoint::Impl::transmit(Conn &c, Packet &packet, link::TxRoom room) {
  wire::PacketHeader h;
  h.token = c.session.peer_token();
  h.pn = packet.pn;
  h.flags = packet.flags;
  std::byte *out = room.data + wire::packet_header_size;
  // Full packets are to be of one size where they are joined.
  const bool full = packet.frames_len + packet.source_len == c.max_frames;
  if ((c.in_ack || c.session.ack_wanted()) && !(full && config_.session.takes_joined))
    out = put_ack(c, out, riding_ack, h.flags);
  std::memcpy(out, packet.frames, packet.frames_len);
  out += packet.frames_len;
  if (packet.source)
    out += packet.source->memory.copy_out(packet.source_offset, out, packet.source_len);
  const std::size_t len = static_cast<std::size_t>(out - room.data);
  send_off(c, room, h, len, sums(c));
  ++statistics_.tx_packets;
}

std::byte *Endpoint::Impl::put_ack(Conn &c, std::byte *out, std::size_t room, std::uint8_t &flags) {
  wire::AckBlock a;
  c.session.fill(a, now_);
  const std::size_t words = (room - wire::AckBlock::fixed_size) / 8;
  const bool cut = a.sack_words > words; // a whole one is to follow
  if (cut)
    a.sack_words = static_cast<std::uint8_t>(words);
  a.processed = c.processed();
  a.credit_limit = c.rx_told = c.rx_limit();
  if (c.session.ecn_echo())
    flags |= wire::packet_flag::ecn_echo;
  if (!cut) {
    c.session.ack_sent(now_);
    c.in_ack = false;
  }
  flags |= wire::packet_flag::ack_block;
  return wire::encode(out, a);
}

// Finishes a datagram of `len` bytes: header, checksum, and off to the link.
void Endpoint::Impl::send_off(Conn &c, const link::TxRoom &room, wire::PacketHeader &h,
                              std::size_t len, bool checksum) {
  if (checksum)
    h.flags |= wire::packet_flag::checksummed;
  wire::encode(room.data, h);
  if (checksum)
    wire::seal({room.data, len});
  c.port->commit(c.path, room, static_cast<std::uint32_t>(len));
  attachment(c).dirty = true;
}

// A packet of nothing but an ack block. False: no room now.
bool Endpoint::Impl::send_block(Conn &c, wire::PacketHeader &h, bool checksum) {
  constexpr std::uint32_t most =
      wire::packet_header_size + wire::AckBlock::fixed_size + 8 * wire::AckBlock::max_sack_words;
  close_open();
  const link::TxRoom room = c.port->reserve(c.path, most);
  if (!room.data)
    return false;
  h.token = c.session.peer_token();
  const std::byte *end =
      put_ack(c, room.data + wire::packet_header_size, most - wire::packet_header_size, h.flags);
  send_off(c, room, h, static_cast<std::size_t>(end - room.data), checksum);
  return true;
}

void Endpoint::Impl::send_ack(Conn &c) {
  if (!c.opened)
    return;
  wire::PacketHeader h;
  h.type = wire::PacketType::ack;
  if (c.probe)
    h.flags |= wire::packet_flag::ack_now;
  if (send_block(c, h, sums(c))) // else it stays due
    c.probe = false;
}

// To the peer's own port, whatever they carry: if its bulk port can't be reached, data get there
// all the same.
void Endpoint::Impl::resend(Conn &c) {
  while (session::TxPacket *lost = c.session.next_resend(now_)) {
    close_open();
    const link::TxRoom room = c.port->reserve(c.path, c.session.max_datagram());
    if (!room.data)
      break;
    auto &packet = *static_cast<Packet *>(lost);
    packet.flags |= wire::packet_flag::ack_now;
    transmit(c, packet, room);
    c.session.resent(lost, now_);
    ++statistics_.resent;
  }
}

// Handshake packets that the session wants sent now.
void Endpoint::Impl::send_control(Conn &c) {
  while (const auto control = c.session.next_control(now_)) {
    close_open();
    const std::size_t len = wire::packet_header_size + wire::hello_size + control->hello.padding;
    const link::TxRoom room = c.port->reserve(c.path, static_cast<std::uint32_t>(len));
    if (!room.data)
      break; // as if it had been lost: its timer sends it again
    wire::PacketHeader h;
    h.type = control->type;
    h.token = control->token;
    const std::byte *end = wire::encode(room.data + wire::packet_header_size, control->hello);
    send_off(c, room, h, static_cast<std::size_t>(end - room.data), true);
  }
}

void Endpoint::Impl::send_bye(Conn &c) {
  if (!c.opened || !c.path_up)
    return;
  wire::PacketHeader h;
  h.type = wire::PacketType::bye;
  send_block(c, h, true);
}

Packet *Endpoint::Impl::take_packet() {
  Packet *packet = static_cast<Packet *>(free_packets_);
  if (packet) {
    free_packets_ = packet->next;
    return new (packet) Packet{};
  }
  void *memory = ::operator new(sizeof(Packet) + packet_room_, std::nothrow);
  return memory ? new (memory) Packet{} : nullptr;
}

void Endpoint::Impl::give_packet(Packet *packet) {
  packet->next = free_packets_;
  free_packets_ = packet;
}

void Endpoint::Impl::acked(session::TxPacket *packet) {
  give_packet(static_cast<Packet *>(packet));
}

// --- What the operation layer asks for

void Endpoint::Impl::await_ack(op::Peer &p) {
  if (open_.conn == &p)
    open_.packet->flags |= wire::packet_flag::ack_soon;
}

void Endpoint::Impl::want_push(op::Peer &p) {
  Conn &c = conn_of(p);
  if (c.in_push || c.doomed)
    return;
  c.in_push = true;
  pushes_.add(c);
}

void Endpoint::Impl::want_ack(op::Peer &p) {
  Conn &c = conn_of(p);
  if (c.in_ack || c.doomed)
    return;
  c.in_ack = true;
  list_ack(c);
}

void Endpoint::Impl::list_ack(Conn &c) {
  if (c.ack_listed)
    return;
  c.ack_listed = true;
  acks_.add(c);
}

void Endpoint::Impl::want_ack_soon(op::Peer &p) {
  Conn &c = conn_of(p);
  if (c.lossless || !c.session.want_ack_soon(now_))
    want_ack(p);
  else
    look_again(c);
}

void Endpoint::Impl::want_told(op::Peer &p) {
  Conn &c = conn_of(p);
  if (c.in_order || !c.port->traits().tells) {
    want_ack(p);
    return;
  }
  if (c.in_tell || c.doomed)
    return;
  c.in_tell = true;
  tellings_.add(c);
}

void Endpoint::Impl::tell_in_order(op::Peer &p) {
  Conn &c = conn_of(p);
  c.in_order = true;
  if (!c.in_tell)
    return;
  c.in_tell = false;
  want_ack(c);
}

void Endpoint::Impl::await_told(op::Peer &p) {
  Conn &c = conn_of(p);
  if (c.listens || !c.port->traits().tells)
    return;
  c.listens = true;
  listeners_.add(c);
}

void Endpoint::Impl::want_probe(op::Peer &p) {
  constexpr Duration shortest = std::chrono::milliseconds(1),
                     longest = std::chrono::milliseconds(64);
  Conn &c = conn_of(p);
  op::Traffic &t = *p.traffic;
  const bool again = t.probed_at != Time{} && t.probed_above == p.tx_processed;
  if (again && now_ < t.probed_at + t.probe_pause)
    return; // the answer is still to come
  t.probe_pause = again ? std::min(2 * t.probe_pause, longest) : shortest;
  t.probed_at = now_;
  t.probed_above = p.tx_processed;
  c.probe = true;
  want_ack(p);
}

PacketNumber Endpoint::Impl::acked(const op::Peer &p) const { return conn_of(p).session.acked(); }

// Behind the commit, the clock is read while the peer reads what was sent.
bool Endpoint::Impl::lives(op::Peer &p) {
  const Conn &c = conn_of(p);
  read_clock();
  if (c.port->lives(c.path, now_)) [[likely]]
    return true;
  end_seen_ = true;
  return false;
}

void Endpoint::Impl::violation(op::Peer &p, const char *what) {
  Conn &c = conn_of(p);
  c.told = true;
  log(LogLevel::warn,
      [&] { return "peer " + to_string(c.address) + " breaks the protocol: " + what; });
  doom(c, EPROTO);
}

void Endpoint::Impl::out_of_memory(op::Peer &p) {
  Conn &c = conn_of(p);
  c.told = true;
  log(LogLevel::warn, [&] {
    return "no memory for what peer " + to_string(c.address) + " has sent: its session ends";
  });
  doom(c, ENOMEM);
}

int Endpoint::Impl::pull(op::Peer &p, std::span<const iovec> local, std::span<const iovec> remote) {
  Conn &c = conn_of(p);
  return c.port->pull(c.path, local, remote);
}

std::size_t Endpoint::Impl::raw_address(const op::Peer &p, std::byte (&out)[32]) const {
  return to_sockaddr(conn_of(p).address, out);
}

std::size_t to_sockaddr(const Address &a, std::byte (&out)[32]) {
  if (a.is_v4()) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(a.port);
    in.sin_addr.s_addr = htonl(a.v4_host_order());
    std::memcpy(out, &in, sizeof(in));
    return sizeof(in);
  }
  sockaddr_in6 in6{};
  in6.sin6_family = AF_INET6;
  in6.sin6_port = htons(a.port);
  std::memcpy(&in6.sin6_addr, a.ip.data(), a.ip.size());
  std::memcpy(out, &in6, sizeof(in6));
  return sizeof(in6);
}

} // namespace dpdkx::engine
