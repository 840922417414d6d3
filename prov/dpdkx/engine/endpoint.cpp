// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/engine/impl.h"

#include <algorithm>
#include <utility>

namespace dpdkx::engine {

namespace {

op::Limits limits_of(const Config &c) {
  return {.tx_size = c.tx_size,
          .rx_size = c.rx_size,
          .rendezvous_host = c.rendezvous_host,
          .rendezvous_device = c.rendezvous_device,
          .unexpected_pool = c.unexpected_pool,
          .unexpected_peer = c.unexpected_peer,
          .pull = c.pull};
}

Config with_links(Config c, const Links &links) {
  c.session.bulk_port = links.device ? links.device->bulk_port() : 0;
  c.session.takes_joined = links.device && links.device->traits().takes_joined;
  if (c.session.takes_joined) { // by frames of many packets: one of them is no queue
    c.session.target_delay *= 2;
    c.session.packets_an_ack *= 2;
  }
  return c;
}

} // namespace

Endpoint::Impl::Impl(const Config &config, const Clock &clock, const Address &self, Links links,
                     const AddressBook &book, const op::Completers &completers)
    : responder_({.key = wire::probe_key(config.session.key), .seed = config.seed}),
      config_(with_links(config, links)), clock_(clock), self_(self),
      is_own_address_(links.is_own_address), book_(book),
      gate_(config_.seed ? session::Gate(config_.session, self, config_.seed)
                         : session::Gate(config_.session, self)),
      messenger_(limits_of(config), completers, *this) {
  host_.port = std::move(links.host);
  device_.port = std::move(links.device);
  if (device_.port)
    packet_room_ = device_.port->traits().max_datagram;
  now_ = clock_.now();
}

Endpoint::Impl::~Impl() {
  close();
  while (session::TxPacket *p = free_packets_) {
    free_packets_ = p->next;
    ::operator delete(static_cast<Packet *>(p));
  }
  while (Backlog *b = backlog_.pop_front())
    Backlog::Free{}(b);
}

Endpoint::Endpoint(const Config &config, const Clock &clock, const Address &self, Links links,
                   const AddressBook &book, const op::Completers &completers)
    : impl_(std::make_unique<Impl>(config, clock, self, std::move(links), book, completers)) {}
Endpoint::~Endpoint() = default;

BurstLock &Endpoint::mutex() { return *impl_->mutex_; }

void Endpoint::share(op::Receives &receives, BurstLock &lock) {
  impl_->messenger_.share(receives);
  impl_->mutex_ = &lock;
}

// A call of the application for a peer, and what it has to send.
template <class Request, class Call> ssize_t Endpoint::Impl::post(const Request &r, Call &&call) {
  Impl &e = *this;
  Conn *c = nullptr;
  if (const int rc = e.find_peer(r.dest, c)) [[unlikely]]
    return rc;
  if (!c->lossless)
    e.read_clock();
  const ssize_t rc = call(*c);
  if (!c->lossless)
    e.look_again(*c);
  if (!(r.flags & FI_MORE) || rc != 0) {
    e.close_open();
    e.attachment(*c).flush();
  }
  if (e.end_seen_) [[unlikely]]
    e.look_for_ends();
  return rc;
}

ssize_t Endpoint::send(const op::SendRequest &r) {
  return impl_->post(r, [&](Conn &c) { return impl_->messenger_.send(c, r); });
}
ssize_t Endpoint::rma(const op::RmaRequest &r) {
  return impl_->post(r, [&](Conn &c) { return impl_->messenger_.rma(c, r); });
}
ssize_t Endpoint::atomic(const op::AtomicRequest &r) {
  return impl_->post(r, [&](Conn &c) { return impl_->messenger_.atomic(c, r); });
}
ssize_t Endpoint::count(const op::CounterRequest &r) {
  return impl_->post(r, [&](Conn &c) { return impl_->messenger_.count(c, r); });
}

ssize_t Endpoint::receive(const op::ReceiveRequest &r) {
  if (impl_->connecting_ && impl_->takes_no_more(r)) [[unlikely]]
    return -FI_ENOTCONN;
  const ssize_t rc = impl_->messenger_.receive(r);
  receive_posted();
  return rc;
}

void Endpoint::receive_posted() {
  if (impl_->host_.dirty || impl_->open_.conn || impl_->device_.dirty || !impl_->tellings_.empty())
    impl_->finish();
}

int Endpoint::cancel(const void *context) { return impl_->messenger_.cancel(context); }
unsigned Endpoint::turn() { return impl_->turn(); }
void Endpoint::service() { impl_->service(); }

void Endpoint::address_added(fi_addr_t addr, const Address &a) {
  Conn *c = impl_->by_address_.find(a);
  if (!c || c->addr != FI_ADDR_NOTAVAIL)
    return;
  c->addr = addr;
  impl_->set_addr(addr, c);
  impl_->messenger_.source_known(*c);
}

void Endpoint::address_removed(fi_addr_t addr) {
  impl_->forget_target(addr);
  if (addr >= impl_->by_addr_.size() || !impl_->by_addr_[addr])
    return;
  auto &by_addr = impl_->by_addr_;
  Conn &c = *std::exchange(by_addr[addr], nullptr);
  if (c.addr != addr)
    return; // it keeps the name that it goes by
  const auto other = c.aliased ? std::find(by_addr.begin(), by_addr.end(), &c) : by_addr.end();
  c.addr =
      other == by_addr.end() ? FI_ADDR_NOTAVAIL : static_cast<fi_addr_t>(other - by_addr.begin());
  impl_->messenger_.source_known(c);
}

bool Endpoint::drained() { return delivered() && !impl_->messenger_.ends_connections(); }

bool Endpoint::delivered() {
  Impl &e = *impl_;
  if (e.messenger_.promised() != 0 || e.messenger_.stepping())
    return false;
  bool idle = true;
  e.conns_.for_each([&idle](const Conn &c) {
    idle &= c.doomed ||
            ((c.lossless || !c.session.in_flight()) && (!c.traffic || c.traffic->control.empty()));
  });
  return idle;
}

std::size_t Endpoint::promised() { return impl_->messenger_.promised(); }

void Endpoint::close() { impl_->close(); }

void Endpoint::set_min_multi_recv(std::size_t bytes) {
  impl_->messenger_.receives().min_multi_recv = bytes;
}
std::size_t Endpoint::min_multi_recv() const { return impl_->messenger_.receives().min_multi_recv; }

int Endpoint::host_wait_fd() { return impl_->host_.port ? impl_->host_.port->wait_fd() : -1; }
int Endpoint::device_wait_fd() { return impl_->device_.port ? impl_->device_.port->wait_fd() : -1; }

bool Endpoint::has_device() const { return impl_->device_.port != nullptr; }

bool Endpoint::arm() {
  Impl &e = *impl_;
  bool quiet = !e.can_send() && e.backlog_.empty() && !e.messenger_.stepping() && e.doomed_.empty();
  if (e.host_.port)
    quiet &= e.host_.port->arm();
  if (e.device_.port && e.device_.port->wait_fd() >= 0)
    quiet &= e.device_.port->arm();
  // Behind the fence that arm() makes.
  quiet &= !e.listeners_.any(e.conns_, [&](const Conn &c) { return e.told_something(c); });
  return quiet;
}

void Endpoint::disarm() {
  if (impl_->host_.port)
    impl_->host_.port->disarm();
  if (impl_->device_.port && impl_->device_.port->wait_fd() >= 0)
    impl_->device_.port->disarm();
}

Time Endpoint::deadline() const { return impl_->timers_.next(); }
Time Endpoint::last_turn() const { return impl_->last_turn_; }
const Address &Endpoint::self() const { return impl_->self_; }

Statistics Endpoint::statistics() const {
  Statistics s = impl_->statistics_;
  const op::MessengerCounters &m = impl_->messenger_.counters();
  s.messages_sent = m.sent;
  s.messages_received = m.received;
  s.unexpected = m.unexpected;
  s.rendezvous = m.rendezvous;
  return s;
}

} // namespace dpdkx::engine
