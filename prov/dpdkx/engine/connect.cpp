// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How peers are found, and sessions with them come up.
#include "dpdkx/engine/impl.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace dpdkx::engine {

namespace {
constexpr Duration first_retry = std::chrono::milliseconds(1);
constexpr Duration last_retry = std::chrono::milliseconds(50);
constexpr std::uint64_t resets_per_ms = 16;
} // namespace

int Endpoint::Impl::not_in_book(fi_addr_t addr) {
  log(LogLevel::warn,
      [&] { return "fi_addr " + std::to_string(addr) + " is not in the address vector"; });
  return -FI_EINVAL;
}

int Endpoint::Impl::find_peer(fi_addr_t addr, Conn *&c) {
  if (addr < by_addr_.size() && by_addr_[addr]) [[likely]] {
    c = by_addr_[addr];
    return 0;
  }
  if (connecting_)
    return find_partner(c);
  Address a;
  if (!book_.lookup(addr, a))
    return not_in_book(addr);
  c = by_address_.find(a);
  if (!c)
    c = dial(a);
  if (!c)
    return -FI_ENOMEM;
  set_addr(addr, c);
  if (c->addr == FI_ADDR_NOTAVAIL) {
    c->addr = addr;
    messenger_.source_known(*c);
  }
  c->aliased |= c->addr != addr;
  return 0;
}

namespace {
constexpr std::size_t spare = 8; // an eighth: what an idle peer costs counts
}

bool Endpoint::Impl::set_addr(fi_addr_t addr, Conn *c) {
  if (by_addr_.size() <= addr) {
    if (!make_room(by_addr_, addr + 1, spare))
      return false;
    by_addr_.resize(addr + 1);
  }
  by_addr_[addr] = c;
  return true;
}

Conn *Endpoint::Impl::make_conn(const Address &a, link::Port *port) {
  Conn *c = conns_.make(gate_, a, port, port->traits().lossless);
  if (c && !by_address_.insert(c)) {
    conns_.destroy(*c);
    c = nullptr;
  }
  if (!c)
    log(LogLevel::warn, [&a] { return "no memory for a session with " + to_string(a); });
  else
    c->stranger = !speaks_to_all();
  return c;
}

bool Endpoint::Impl::is_own(const Address &a) const {
  return a.ip == self_.ip || a.is_loopback() || (is_own_address_ && is_own_address_(a));
}

// The link that leads to an address, with a path begun if somebody answers.
link::Port *Endpoint::Impl::route(const Address &a, link::PathId &path, int &error) {
  error = 0;
  if (host_.port) {
    error = host_.port->open_path(a, path);
    if (error != -ECONNREFUSED && error != -EHOSTUNREACH)
      return host_.port.get();
    if (is_own(a)) {
      error = -ECONNREFUSED; // it may answer later, but never on the wire
      return host_.port.get();
    }
    if (!device_.port) {
      log(LogLevel::warn, [&a] {
        return "peer " + to_string(a) +
               " is not on this host, and this endpoint has no device: FI_DPDKX_DEVICE must name "
               "a network interface or PCI device (if it does, fi_getinfo told why it can't be "
               "used)";
      });
      error = -EHOSTUNREACH;
      return host_.port.get();
    }
  }
  error = device_.port->open_path(a, path);
  return device_.port.get();
}

Conn *Endpoint::Impl::dial(const Address &a) {
  read_clock();
  link::PathId path = link::PathId::none;
  int error = 0;
  link::Port *port = route(a, path, error);
  Conn *c = make_conn(a, port);
  if (!c) {
    if (error == 0)
      port->close_path(path);
    return nullptr;
  }
  if (error == 0 && set_path(attachment(*c), path, c))
    c->path = path;
  else if (error == 0)
    port->close_path(path), error = -ENOMEM;
  if (!begin_dialling(*c))
    doom(*c, ENOMEM);
  else if (error == -ECONNREFUSED)
    refused(*c);
  else if (error) {
    c->told = error == -EHOSTUNREACH && !device_.port; // route() has
    doom(*c, -error);
  }
  return c;
}

bool Endpoint::Impl::begin_dialling(Conn &c) {
  try {
    dialling_[&c] = {now_};
  } catch (const std::bad_alloc &) {
    return false;
  }
  c.dialling = true;
  return true;
}

// Nobody answers there yet: again, for a while.
void Endpoint::Impl::refused(Conn &c) {
  Dialling &dialling = dialling_[&c];
  gate_.timers_run(now_);
  if (!dialling.excused && gate_.stood_still(dialling.since)) { // so may who is to start there
    dialling.excused = true;
    dialling.since = gate_.resumed_at();
  }
  const Duration waited = now_ - dialling.since;
  if (waited >= config_.connect_timeout || connecting_) { // who connects can do so again
    doom(c, ECONNREFUSED);
    return;
  }
  dialling.retry_at = now_ + std::clamp<Duration>(waited / 4, first_retry, last_retry);
  timers_.at_latest(c, dialling.retry_at);
}

void Endpoint::Impl::redial(Conn &c) {
  dialling_[&c].retry_at = never;
  const int error = c.port->open_path(c.address, c.path);
  if (error == -ECONNREFUSED)
    refused(c);
  else if (error)
    doom(c, -error);
  else if (!set_path(attachment(c), c.path, &c)) {
    c.port->close_path(std::exchange(c.path, link::PathId::none));
    doom(c, ENOMEM);
  }
}

void Endpoint::Impl::end_dialling(Conn &c) {
  if (c.dialling)
    dialling_.erase(&c);
  c.dialling = false;
}

bool Endpoint::Impl::set_path(Attachment &a, link::PathId path, const Conn *c) {
  return name_path(a, path, c ? ConnTable::index_of(*c) : no_conn);
}

bool Endpoint::Impl::name_path(Attachment &a, link::PathId path, std::uint32_t number) {
  const auto i = static_cast<std::uint32_t>(path);
  if (a.by_path.size() <= i) {
    if (number == no_conn)
      return true;
    if (!make_room(a.by_path, i + 1, spare))
      return false;
    a.by_path.resize(i + 1, no_conn);
  }
  a.by_path[i] = number;
  return true;
}

Conn *Endpoint::Impl::on_path(const Attachment &a, link::PathId path) const {
  const auto i = static_cast<std::uint32_t>(path);
  return i < a.by_path.size() && a.by_path[i] != no_conn ? &conns_.at(a.by_path[i]) : nullptr;
}

void Endpoint::Impl::on_path_event(Attachment &a, const link::PathEvent &e) {
  if (config_.datagrams) {
    on_target_event(a, e);
    return;
  }
  Conn *c = on_path(a, e.path);
  switch (e.kind) {
  case link::PathEventKind::accepted:
    set_path(a, e.path, nullptr); // whose it is, the handshake tells
    return;
  case link::PathEventKind::up:
    if (c)
      path_came_up(*c);
    return;
  case link::PathEventKind::failed:
    a.port->close_path(e.path);
    if (!c)
      return;
    set_path(a, e.path, nullptr);
    c->path = link::PathId::none;
    if (e.error == -ECONNREFUSED && &a == &host_ && c->dialling)
      refused(*c);
    else
      doom(*c, -e.error);
    return;
  case link::PathEventKind::peer_gone:
    on_path_gone(a, e.path, c, e.error ? -e.error : ECONNRESET);
    return;
  }
}

// Everything that came by this path has been seen. Where both sides dialled,
// what the peer sent last may still stand in the other one.
void Endpoint::Impl::on_path_gone(Attachment &a, link::PathId path, Conn *c, int error) {
  if (c && !c->doomed && c->listens)
    hear(*c);
  if (c && !c->doomed && c->other_path == link::PathId::none) {
    doom(*c, error);
    return;
  }
  if (c && c->doomed)
    return; // closed when it is buried
  if (c) {
    if (c->path == path)
      c->path = c->other_path;
    c->other_path = link::PathId::none;
    set_path(a, path, nullptr);
  }
  a.port->close_path(path);
}

void Endpoint::Impl::path_came_up(Conn &c) {
  log(LogLevel::debug, [&c] { return "path to " + to_string(c.address) + " is up"; });
  c.path_up = true;
  end_dialling(c);
  if (c.session.state() == session::State::idle)
    c.session.open(now_);
  send_control(c);
  look_again(c);
}

// --- Handshake packets

void Endpoint::Impl::on_hello(Attachment &a, const link::RxDatagram &d,
                              std::span<const std::byte> body) {
  wire::Hello hello;
  if (!wire::decode(body, hello)) {
    ++statistics_.malformed;
    return;
  }
  wire::Challenge challenge =
      gate_.challenge(hello, a.port->source(d), a.port->traits().max_datagram, now_);
  if (config_.datagrams) // there are no sessions here, in no version
    challenge.version_min = challenge.version_max = wire::no_version;
  std::byte out[wire::packet_header_size + wire::challenge_size];
  wire::PacketHeader h;
  h.type = wire::PacketType::challenge;
  h.flags = wire::packet_flag::checksummed;
  wire::encode(wire::encode(out, h), challenge);
  wire::seal(out);
  a.port->reply(d, out);
}

void Endpoint::Impl::on_challenge(const wire::PacketHeader &, std::span<const std::byte> body) {
  wire::Challenge challenge;
  if (!wire::decode(body, challenge)) {
    ++statistics_.malformed;
    return;
  }
  Conn *c = conns_.find(challenge.peer_token);
  if (!c || c->doomed)
    return;
  c->session.on_challenge(challenge, now_);
  if (!join(*c))
    after_handshake(*c);
}

void Endpoint::Impl::on_confirm(Attachment &a, const link::RxDatagram &d,
                                std::span<const std::byte> body) {
  wire::Hello hello;
  if (!wire::decode(body, hello)) {
    ++statistics_.malformed;
    return;
  }
  if (!gate_.cookie_fits(hello, a.port->source(d), now_) ||
      hello.peer_incarnation != gate_.incarnation())
    return;
  if (gate_.acceptable(hello) != 0) {
    log(LogLevel::warn, [&hello] {
      return "peer " + to_string(hello.address) +
             " is refused: another protocol version or FI_DPDKX_AUTH_KEY";
    });
    return;
  }
  Conn *c = conn_for(hello, a, d);
  if (!c)
    return;
  c->session.on_confirm(hello, now_);
  if (c->session.state() == session::State::dead) { // a new life of that peer
    doom(*c, -c->session.error());
    c = replace(*c, a);
    if (!c || !take_path(*c, a, d))
      return;
    c->session.on_confirm(hello, now_);
  }
  note_peers_link(*c, hello);
  after_handshake(*c);
}

// The connection that a confirm belongs to; a new one for a new peer.
Conn *Endpoint::Impl::conn_for(const wire::Hello &hello, Attachment &a, const link::RxDatagram &d) {
  const bool lossless = a.port->traits().lossless;
  if (!lossless && a.port->source(d) != hello.address)
    return nullptr; // its name is where its packets come from
  // A path of a link with connections has one peer, however it was dialled and
  // whatever it calls itself.
  if (lossless && d.path != link::PathId::none)
    if (Conn *there = on_path(a, d.path); there && !there->doomed)
      return there;
  Conn *c = by_address_.find(hello.address);
  if (!c && lossless)
    c = known_life(hello.incarnation, nullptr); // we call it by another name
  if (c && (c->doomed || c->port != a.port.get())) {
    if (!c->doomed && c->opened)
      return nullptr; // it is known by the other link
    Conn *fresh = replace(*c, a);
    if (!fresh)
      return nullptr;
    if (!c->doomed) { // it was being dialled over another link
      messenger_.hand_over(*c, *fresh);
      doom(*c, ECONNRESET);
    } // else its last life is just over, and what was for that ends with it
    c = fresh;
  }
  if (!c) {
    c = make_conn(hello.address, a.port.get());
    if (!c)
      return nullptr; // it will ask again
    c->addr = book_.reverse(hello.address);
    if (c->addr != FI_ADDR_NOTAVAIL && !(c->addr < by_addr_.size() && by_addr_[c->addr]))
      set_addr(c->addr, c);
  }
  return take_path(*c, a, d) ? c : nullptr;
}

// A local peer that answers, or calls, as that life of an endpoint.
Conn *Endpoint::Impl::known_life(wire::Incarnation life, const Conn *other_than) const {
  Conn *found = nullptr;
  conns_.for_each([&](Conn &c) {
    if (c.lossless && !c.doomed && &c != other_than && life != wire::Incarnation::none &&
        (c.session.peer_incarnation() == life || c.session.met() == life))
      found = &c;
  });
  return found;
}

// A peer on this host may have several names (127.0.0.1). It has one session all the same, or its
// one would take up now with the one of ours and now with the other.
bool Endpoint::Impl::join(Conn &alias) {
  Conn *known = alias.lossless && !alias.opened && !alias.doomed
                    ? known_life(alias.session.met(), &alias)
                    : nullptr;
  if (!known)
    return false;
  messenger_.hand_over(alias, *known);
  std::replace(by_addr_.begin(), by_addr_.end(), &alias, known);
  known->aliased = true;
  if (known->addr == FI_ADDR_NOTAVAIL) {
    known->addr = alias.addr;
    messenger_.source_known(*known);
  }
  alias.addr = FI_ADDR_NOTAVAIL;
  if (alias.partner)
    set_partner(known);
  doom(alias, ECONNRESET); // nothing of it is left to end with that
  return true;
}

// A fresh connection in the place of one that is over.
Conn *Endpoint::Impl::replace(Conn &old, Attachment &a) {
  const fi_addr_t addr = old.addr;
  Conn *c = make_conn(old.address, a.port.get());
  if (!c)
    return nullptr;
  detach(old);
  c->addr = addr;
  if (addr < by_addr_.size())
    by_addr_[addr] = c;
  return c;
}

// Uses the path that a datagram came by, unless the connection has its own.
bool Endpoint::Impl::take_path(Conn &c, Attachment &a, const link::RxDatagram &d) {
  if (d.path != link::PathId::none && d.path != c.path) {
    if (!set_path(a, d.path, &c)) {
      doom(c, ENOMEM);
      return false;
    }
    if (c.path == link::PathId::none) {
      c.path = d.path;
      c.path_up = true;
      end_dialling(c);
    } else {
      c.other_path = d.path;
    }
  }
  if (c.path != link::PathId::none)
    return true;
  int error = a.port->open_path(a.port->source(d), c.path);
  if (error == 0 && !set_path(a, c.path, &c)) {
    a.port->close_path(std::exchange(c.path, link::PathId::none));
    error = -ENOMEM;
  }
  if (error)
    doom(c, -error);
  return error == 0;
}

void Endpoint::Impl::on_welcome(Conn &c, std::span<const std::byte> body) {
  wire::Hello hello;
  if (!wire::decode(body, hello)) {
    ++statistics_.malformed;
    return;
  }
  c.session.on_welcome(hello, now_);
  note_peers_link(c, hello);
  after_handshake(c);
}

// The path keeps that. An old hello's is perhaps nobody's any more.
void Endpoint::Impl::note_peers_link(const Conn &c, const wire::Hello &hello) {
  if (c.session.established() && c.session.same_life(hello) && c.path != link::PathId::none) {
    c.port->set_bulk_port(c.path, hello.bulk_port);
    c.port->set_joined(c.path, (hello.features & wire::feature::joined) != 0);
  }
}

// What a packet carries besides its header and an ack block that rides.
static std::uint16_t room_for_frames(const Conn &c) {
  constexpr std::uint32_t riding = wire::packet_header_size + wire::AckBlock::fixed_size;
  const std::uint32_t reserve = c.lossless ? riding : riding + 4 * 8;
  return static_cast<std::uint16_t>(
      std::min<std::uint32_t>(c.session.max_datagram() - reserve, UINT16_MAX));
}

void Endpoint::Impl::after_handshake(Conn &c) {
  if (c.session.state() == session::State::dead) {
    const int error = -c.session.error();
    c.told = error == EPROTONOSUPPORT || error == EKEYREJECTED;
    if (c.told)
      log(LogLevel::warn, [&c, error] {
        return "peer " + to_string(c.address) +
               (error == EKEYREJECTED ? " has another FI_DPDKX_AUTH_KEY"
                                      : " speaks another protocol version");
      });
    doom(c, error);
    return;
  }
  if (c.path_up)
    send_control(c); // the welcome goes before any data
  if (c.session.proven() && !c.opened && c.path_up) {
    c.opened = true;
    end_inquiry(c);
    lossy_conns_ += !c.lossless;
    c.port->note_session(c.path, static_cast<std::uint64_t>(c.session.local_token()),
                         static_cast<std::uint64_t>(c.session.peer_token()));
    messenger_.opened(c, {.tx_first = c.session.first_mn(),
                          .rx_first = c.session.peer_first_mn(),
                          .tx_credit = c.session.peer_first_credit(),
                          .rx_credit = config_.session.first_credit,
                          .max_frames = room_for_frames(c),
                          .lossless = c.lossless,
                          .can_pull = c.port->traits().can_pull && config_.pull,
                          .rma = c.session.peer_has(wire::feature::rma | wire::feature::atomics),
                          .connects = c.session.peer_has(wire::feature::connections),
                          .counts = c.session.peer_has(wire::feature::counters)});
    if (c.partner)
      partner_opened(c);
    if (c.session.path_limited())
      log(LogLevel::warn, [&c] {
        return "the path to " + to_string(c.address) + " swallows datagrams above " +
               std::to_string(c.session.max_datagram()) +
               " bytes; set FI_DPDKX_MTU to what it carries";
      });
    log(LogLevel::info, [&c] {
      return "session with " + to_string(c.address) + " is up, frames of " +
             std::to_string(c.session.max_datagram()) + " bytes";
    });
  }
  if (c.opened) // the path may have come to carry less
    c.max_frames = std::min(c.max_frames, room_for_frames(c));
  if (c.opened && c.session.ack_due(now_))
    want_ack(c);
  look_again(c);
}

void Endpoint::Impl::on_reset(Attachment &a, const link::RxDatagram &d,
                              std::span<const std::byte> body) {
  wire::Reset reset;
  if (!wire::decode(body, reset)) {
    ++statistics_.malformed;
    return;
  }
  Conn *c = by_address_.find(a.port->source(d));
  if (!c || c->doomed || c->session.peer_token() != reset.token)
    return;
  ++statistics_.resets;
  c->session.on_reset(reset, now_);
  after_handshake(*c);
}

// A packet of a session that is not (or no longer) ours. The sender is told,
// at a bounded rate; it finds out what that means by a handshake.
void Endpoint::Impl::unknown_token(Attachment &a, const link::RxDatagram &d,
                                   const wire::PacketHeader &h) {
  ++statistics_.unknown_token;
  if (h.type != wire::PacketType::data && h.type != wire::PacketType::ack)
    return;
  if (now_ - reset_refill_ >= std::chrono::milliseconds(1)) {
    reset_refill_ = now_;
    reset_budget_ = resets_per_ms;
  }
  if (reset_budget_ == 0)
    return;
  --reset_budget_;
  std::byte out[wire::packet_header_size + wire::reset_size];
  wire::PacketHeader r;
  r.type = wire::PacketType::reset;
  r.flags = wire::packet_flag::checksummed;
  wire::encode(wire::encode(out, r), wire::Reset{h.token, gate_.incarnation()});
  wire::seal(out);
  a.port->reply(d, out);
}

} // namespace dpdkx::engine
