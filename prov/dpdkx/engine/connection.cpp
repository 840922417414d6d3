// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Endpoints with one connection, and those that listen. Who connects speaks
// first with the listener, by a session like any other; then with the endpoint
// that the application accepts with, which calls it from an address of its own.
// What these frames mean, op::Connection says.
#include "dpdkx/engine/impl.h"

#include <cstring>
#include <new>
#include <utility>

namespace dpdkx::engine {

namespace {

std::span<const std::byte> data_of(const wire::ConnectionFrame &f) { return {f.payload, f.len}; }

} // namespace

// --- What the application asks for

int Endpoint::set_connection(ConnectionSink &sink) {
  impl_->connecting_.reset(new (std::nothrow) Impl::Connecting{sink});
  return impl_->connecting_ ? 0 : -FI_ENOMEM;
}

int Endpoint::set_listener(ListenerSink &sink, std::size_t backlog) {
  impl_->listening_.reset(new (std::nothrow) Impl::Listening{sink, op::Backlog(backlog)});
  return impl_->listening_ ? 0 : -FI_ENOMEM;
}

int Endpoint::connect(const Address &listener, std::span<const std::byte> data) {
  Impl &e = *impl_;
  if (!e.connecting_->connection.call(e.gate_.draw()))
    return -FI_EISCONN;
  return e.begin_connection(listener, wire::FrameType::connect, data);
}

int Endpoint::accept(const ListenerSink::Request &r, std::span<const std::byte> data) {
  Impl &e = *impl_;
  if (!e.connecting_->connection.answer(r.id))
    return -FI_EISCONN;
  return e.begin_connection(r.caller, wire::FrameType::accept, data);
}

int Endpoint::Impl::begin_connection(const Address &to, wire::FrameType type,
                                     std::span<const std::byte> data) {
  op::Connection &connection = connecting_->connection;
  Conn *c = by_address_.find(to);
  if (!c || c->doomed)
    c = dial(to);
  if (!c) {
    connection.on_loss();
    return -FI_ENOMEM;
  }
  set_partner(c);
  read_clock();
  connecting_->give_up_at = now_ + config_.connect_timeout;
  tell(*c, type, connection.id(), data);
  look_again(*c);
  finish();
  return 0;
}

int Endpoint::shutdown() {
  Impl &e = *impl_;
  Impl::Connecting &own = *e.connecting_;
  if (!own.partner)
    return -FI_ENOTCONN;
  Conn &c = *own.partner;
  e.read_clock();
  if (own.connection.leave()) {
    e.messenger_.deafen(c);
    e.messenger_.flush_receives(FI_ECANCELED);
    own.give_up_at = e.now_ + e.config_.linger;
    e.tell(c, wire::FrameType::shutdown, own.connection.id(), {});
    e.look_again(c);
  } else if (own.connection.state() == op::Connection::State::leaving) {
    return -FI_ENOTCONN;
  } else {
    e.hang_up(c, ECANCELED);
  }
  e.finish();
  return 0;
}

void Endpoint::reject(op::Backlog::Number number, std::span<const std::byte> data) {
  Impl &e = *impl_;
  const auto request = e.listening_->backlog.take(number);
  if (!request || !request->caller)
    return;
  auto &c = *static_cast<Conn *>(const_cast<void *>(request->caller));
  e.tell(c, wire::FrameType::reject, request->id, data);
  e.look_again(c);
  e.finish();
}

void Endpoint::forget(op::Backlog::Number number) {
  Impl &e = *impl_;
  const auto request = e.listening_->backlog.take(number);
  if (request && request->caller)
    e.look_again(*static_cast<Conn *>(const_cast<void *>(request->caller)));
}

// --- What peers say

void Endpoint::Impl::on_connection(op::Peer &p, const wire::ConnectionFrame &f) {
  Conn &c = static_cast<Conn &>(p);
  if (listening_) {
    on_request(c, f);
    return;
  }
  if (!connecting_) {
    if (f.type == wire::FrameType::connect || f.type == wire::FrameType::accept)
      tell(c, wire::FrameType::reject, f.id, {});
    return;
  }
  using Step = op::Connection::Step;
  Connecting &own = *connecting_;
  switch (own.connection.on_frame(f.type, f.id, own.partner == &c)) {
  case Step::violation:
    violation(c, "a frame of no connection");
    return;
  case Step::refuse:
    tell(c, wire::FrameType::reject, f.id, {});
    return;
  case Step::establish: {
    Conn *const listener = own.partner;
    set_partner(&c);
    c.stranger = false;
    tell(c, wire::FrameType::ready, f.id, {});
    if (listener != &c)
      hang_up(*listener, ECONNRESET); // nothing is under way with it
    own.sink.connected(data_of(f));
    return;
  }
  case Step::confirmed:
    c.stranger = false;
    own.sink.connected({});
    return;
  case Step::refused:
    messenger_.flush_receives(FI_ECANCELED);
    own.sink.refused(ECONNREFUSED, data_of(f));
    hang_up(c, ECONNREFUSED);
    return;
  case Step::hang_up:
    hang_up(c, ESHUTDOWN); // when it is buried, the connection has ended
    return;
  case Step::ended:
  case Step::ignore:
    return;
  }
}

void Endpoint::Impl::on_request(Conn &c, const wire::ConnectionFrame &f) {
  if (f.type == wire::FrameType::accept) {
    tell(c, wire::FrameType::reject, f.id, {});
    return;
  }
  if (f.type != wire::FrameType::connect)
    return; // too late, or in vain
  op::Backlog::Number number;
  switch (listening_->backlog.add(&c, f.id, number)) {
  case op::Backlog::Add::added:
    if (listening_->sink.requested({number, f.id, c.address}, data_of(f)))
      return;
    listening_->backlog.take(number);
    break;
  case op::Backlog::Add::repeated:
    violation(c, "a second request for a connection before the first is answered");
    return;
  case op::Backlog::Add::full:
    log(LogLevel::warn, [&] {
      return "the request of " + to_string(c.address) +
             " for a connection is refused: " + std::to_string(listening_->backlog.size()) +
             " wait for the application already; allowed: FI_DPDKX_LISTEN_BACKLOG";
    });
    break;
  case op::Backlog::Add::no_memory:
    break;
  }
  tell(c, wire::FrameType::reject, f.id, {});
}

// Whoever has been answered hangs up; if that gets lost, it is only silent. By then who has
// accepted has reached the caller, or given up.
Time Endpoint::Impl::done_with_at(const Conn &c) const {
  if (!listening_ || c.lossless || !c.opened || (c.traffic && c.traffic->waits()) ||
      listening_->backlog.holds(&c))
    return never;
  return c.session.heard_at() + config_.connect_timeout + config_.session.peer_timeout;
}

void Endpoint::Impl::tell(Conn &c, wire::FrameType type, std::uint64_t id,
                          std::span<const std::byte> data) {
  if (!c.doomed && !messenger_.send_connection(c, type, id, data))
    out_of_memory(c);
}

// --- The partner

void Endpoint::Impl::set_partner(Conn *c) {
  if (connecting_->partner)
    connecting_->partner->partner = false;
  connecting_->partner = c;
  if (c)
    c->partner = true;
}

int Endpoint::Impl::find_partner(Conn *&c) const {
  if (connecting_->connection.state() != op::Connection::State::up)
    return -FI_ENOTCONN;
  c = connecting_->partner;
  return 0;
}

// Once the connection is ending, what has come can be received, and no more comes.
bool Endpoint::Impl::takes_no_more(const op::ReceiveRequest &r) {
  const auto state = connecting_->connection.state();
  return (state == op::Connection::State::leaving || state == op::Connection::State::over) &&
         !(r.flags & (FI_PEEK | FI_CLAIM)) && !messenger_.receives().waits_for(r);
}

void Endpoint::Impl::hang_up(Conn &c, int error) {
  send_bye(c);
  doom(c, error);
}

void Endpoint::Impl::partner_opened(Conn &c) {
  connecting_->give_up_at = never; // it is there, and may take its time
  if (c.connects)
    return;
  log(LogLevel::warn, [&c] {
    return "peer " + to_string(c.address) + " knows no connections: its dpdkx is an older one";
  });
  doom(c, ECONNREFUSED);
}

// A connection ends a turn late: what its other end has sent before by other connections, to other
// endpoints of the domain, is told first.
bool Endpoint::Impl::lives_on() {
  if (closed_)
    return false;
  if (!connecting_->lost_in)
    connecting_->lost_in = statistics_.turns;
  return *connecting_->lost_in == statistics_.turns;
}

// A session has ended, and what was under way with it.
void Endpoint::Impl::gone(const Conn &c) {
  if (closed_)
    return;
  if (listening_)
    listening_->backlog.lost(&c);
  if (!c.partner)
    return;
  Connecting &own = *connecting_;
  set_partner(nullptr);
  const op::Connection::Step step = own.connection.on_loss();
  if (step == op::Connection::Step::ignore)
    return;
  // Of one that has been ended in order, and of one that never was, receives were posted in vain.
  const bool broken = step == op::Connection::Step::ended && c.error != ESHUTDOWN;
  messenger_.flush_receives(broken ? c.error : FI_ECANCELED);
  if (step == op::Connection::Step::ended)
    own.sink.ended();
  else
    own.sink.refused(c.error, {});
}

} // namespace dpdkx::engine
