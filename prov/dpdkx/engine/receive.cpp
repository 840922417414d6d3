// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Datagrams in: which session they belong to, whether they count, and what
// they say. Nothing here trusts a byte of them: what is wrong is counted and
// dropped.
#include "dpdkx/engine/impl.h"

#include <cstring>
#include <new>

namespace dpdkx::engine {

bool Endpoint::Impl::checksum_fits(Attachment &a, const link::RxDatagram &d,
                                   const wire::PacketHeader &h) {
  if (h.flags & wire::packet_flag::checksummed)
    return d.intact || wire::verify({d.data, d.len});
  const bool handshake = h.type != wire::PacketType::data && h.type != wire::PacketType::ack &&
                         h.type != wire::PacketType::datagram;
  return !handshake && !(config_.checksum && a.port->traits().checksum);
}

void Endpoint::Impl::on_datagram(Attachment &a, const link::RxDatagram &d) {
  std::span<const std::byte> in{d.data, d.len};
  const auto h = wire::decode_header(in);
  read_once();
  if (!h) {
    ++statistics_.malformed;
    return;
  }
  if (!checksum_fits(a, d, *h)) [[unlikely]] {
    ++statistics_.bad_checksum;
    return;
  }
  if (h->type != wire::PacketType::data && h->type != wire::PacketType::ack) [[unlikely]] {
    read_clock(); // handshakes are timed; before the first there may have been a long pause
    if (h->type != wire::PacketType::welcome && h->type != wire::PacketType::bye) {
      on_handshake(a, d, *h, in);
      return;
    }
  }
  Conn *c = conns_.find(h->token);
  if (!c || c->port != a.port.get()) [[unlikely]] {
    unknown_token(a, d, *h);
    return;
  }
  if (c->doomed)
    return;
  if (h->type == wire::PacketType::welcome) {
    // Where both sides dialled, what comes by the peer's own path counts even if ours ends first.
    if (!c->lossless || take_path(*c, a, d))
      on_welcome(*c, in);
    return;
  }
  if (!c->opened) [[unlikely]] {
    if (!c->session.established())
      return;               // it has overtaken the welcome; it will be sent again
    c->session.heard(now_); // the first packet of a peer that had only confirmed
    after_handshake(*c);
  }
  if (c->opened)
    on_session_packet(*c, *h, in);
}

// Packets that belong to no session, or not yet.
void Endpoint::Impl::on_handshake(Attachment &a, const link::RxDatagram &d,
                                  const wire::PacketHeader &h, std::span<const std::byte> body) {
  if (config_.datagrams && h.type != wire::PacketType::hello &&
      h.type != wire::PacketType::datagram && h.type != wire::PacketType::probe)
    return;
  switch (h.type) {
  case wire::PacketType::datagram:
    on_datagram_packet(a, d, h, body);
    return;
  case wire::PacketType::hello:
    on_hello(a, d, body);
    return;
  case wire::PacketType::challenge:
    on_challenge(h, body);
    return;
  case wire::PacketType::confirm:
    on_confirm(a, d, body);
    return;
  case wire::PacketType::reset:
    on_reset(a, d, body);
    return;
  case wire::PacketType::probe:
    on_probe(a, d, body);
    return;
  case wire::PacketType::data:
  case wire::PacketType::ack:
  case wire::PacketType::welcome:
  case wire::PacketType::bye:
    return;
  }
}

void Endpoint::Impl::on_session_packet(Conn &c, const wire::PacketHeader &h,
                                       std::span<const std::byte> body) {
  c.session.heard(now_);
  if (h.flags & wire::packet_flag::ack_block) {
    wire::AckBlock a;
    if (!wire::decode_ack(body, a)) {
      ++statistics_.malformed;
      return;
    }
    read_once();
    take_ack(c, a, h.flags);
  }
  const bool ack_now = h.flags & wire::packet_flag::ack_now;
  switch (h.type) {
  case wire::PacketType::data: {
    Backlog::Owner kept;
    if (serving_ && !(kept = keep(c, body)))
      return; // as if it had been lost
    const session::Accept accept = c.session.accept(h.pn, h.flags, now_);
    if (accept != session::Accept::fresh) [[unlikely]] {
      ++statistics_.duplicates;
    } else if (kept) {
      backlog_bytes_ += kept->len;
      backlog_.push_back(kept.release());
    } else {
      on_frames(c, body);
    }
    break;
  }
  case wire::PacketType::ack:
    if (ack_now)
      want_ack(c);
    break;
  case wire::PacketType::bye:
    if (c.listens)
      hear(c);
    doom(c, ECONNRESET);
    return;
  default:
    break;
  }
  if (c.lossless)
    return;
  if (c.session.ack_due(now_))
    want_ack(c);
  look_again(c);
}

void Endpoint::Impl::take_ack(Conn &c, const wire::AckBlock &a, std::uint8_t flags) {
  if (!c.lossless) {
    c.session.on_ack(a, flags & wire::packet_flag::ecn_echo, now_, *this);
    resend(c);
  }
  op::Messenger::note(c, a.processed, a.credit_limit);
  if (serving_) {
    if (!c.settle_later) {
      c.settle_later = true;
      settle_later_.add(c);
    }
    return;
  }
  take_position(c);
}

// What operations wait for may have come.
void Endpoint::Impl::take_position(Conn &c) {
  if (!c.traffic)
    return;
  messenger_.settle(c);
  if (c.traffic->to_send())
    want_push(c);
  messenger_.tidy(c);
}

bool Endpoint::Impl::told(const Conn &c, link::PathId path, MessageNumber &processed) const {
  return path != link::PathId::none &&
         read_telling(c.port->told(path), c.session.local_token(), processed) &&
         c.tx_processed < processed;
}

bool Endpoint::Impl::told_something(const Conn &c) const {
  MessageNumber processed;
  return told(c, c.path, processed) || told(c, c.other_path, processed);
}

bool Endpoint::Impl::hear(Conn &c) {
  bool news = false;
  for (const link::PathId path : {c.path, c.other_path})
    if (MessageNumber processed; told(c, path, processed)) {
      op::Messenger::note(c, processed, c.tx_limit);
      news = true;
    }
  if (news)
    take_position(c);
  return news;
}

Backlog::Owner Endpoint::Impl::room_in_backlog(std::size_t len) {
  void *const memory = ::operator new(sizeof(Backlog) + len, std::nothrow);
  if (!memory)
    return nullptr;
  Backlog::Owner kept(new (memory) Backlog{});
  kept->len = static_cast<std::uint32_t>(len);
  return kept;
}

Backlog::Owner Endpoint::Impl::keep(Conn &c, std::span<const std::byte> frames) const {
  if (backlog_full() && !c.port->traits().acknowledges) // else service() has seen to the room
    return nullptr;
  Backlog::Owner kept = room_in_backlog(frames.size());
  if (!kept)
    return nullptr;
  kept->conn = &c;
  std::memcpy(kept->frames, frames.data(), frames.size());
  return kept;
}

void Endpoint::Impl::on_frames(Conn &c, std::span<const std::byte> frames) {
  const bool was_doomed = c.doomed; // its last packets, kept by service()
  wire::Frame f;
  for (;;) {
    const wire::FrameResult result = wire::decode_frame(frames, f);
    read_once();
    if (result == wire::FrameResult::end)
      break;
    if (result == wire::FrameResult::malformed) {
      ++statistics_.malformed;
      break;
    }
    if (!messenger_.on_frame(c, f))
      ++statistics_.malformed;
    if (c.doomed && !was_doomed)
      break;
  }
  messenger_.tidy(c);
}

// What has been acknowledged counts, although its sender may have gone since.
void Endpoint::Impl::run_backlog() {
  while (!backlog_.empty()) {
    const Backlog::Owner b(backlog_.pop_front());
    backlog_bytes_ -= b->len;
    if (config_.datagrams)
      take_kept(*b);
    else if (b->conn)
      on_frames(*b->conn, {b->frames, b->len});
  }
  settle_later_.drain(conns_, [this](Conn &c) {
    const bool due = c.settle_later;
    c.settle_later = false;
    if (!due || !c.traffic)
      return;
    messenger_.settle(c);
    if (c.traffic->to_send())
      want_push(c);
    messenger_.tidy(c);
    look_again(c);
  });
}

} // namespace dpdkx::engine
