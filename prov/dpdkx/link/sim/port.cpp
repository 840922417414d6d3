// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/sim/port.h"

#include "dpdkx/link/sim/rx_queues.h"

#include <algorithm>

namespace dpdkx::link::sim {

namespace {
using Lock = std::unique_lock<std::mutex>;

// Any but the port's own would do: a network knows its ports by their addresses.
std::uint16_t next_number(std::uint16_t port) {
  return port == UINT16_MAX ? 1 : static_cast<std::uint16_t>(port + 1);
}
} // namespace

SimPort::SimPort(Network::Core &core, Nic &nic, const Profile &profile)
    : core_(core), nic_(nic), address_(nic.address), traits_{.lossless = profile.lossless,
                                                             .ordered = profile.lossless,
                                                             .checksum = !profile.lossless,
                                                             .can_pull = profile.lossless,
                                                             .max_datagram = profile.max_datagram,
                                                             .tells = profile.lossless,
                                                             .takes_joined = profile.takes_joined},
      bulk_port_(profile.bulk_delay && !profile.lossless ? next_number(nic.address.port) : 0) {}

SimPort::~SimPort() {
  Lock lock(core_.mutex);
  detach();
}

void SimPort::detach() {
  if (!alive_)
    return;
  if (reserved_)
    core_.pool.put(reserved_);
  for (auto &[packet, id] : committed_)
    core_.pool.put(packet);
  reserved_ = nullptr;
  committed_.clear();
  for (std::uint32_t i = 0; i < paths_.size(); ++i)
    if (paths_[i].open)
      remove_path(PathId(i));
  alive_ = false;
  nic_.port = nullptr;
  for (Packet *p : arrived_) {
    give_descriptor_back(*p);
    core_.pool.put(p);
  }
  arrived_.clear();
  polled_ = 0;
}

Address SimPort::peer_address(PathId id) const {
  Lock lock(core_.mutex);
  const auto i = static_cast<std::size_t>(id);
  return i < paths_.size() ? paths_[i].peer : Address{};
}

void SimPort::set_bulk_port(PathId id, std::uint16_t port) {
  Lock lock(core_.mutex);
  if (Path *p = alive_ ? path(id) : nullptr)
    p->bulk_port = port;
}

void SimPort::set_joined(PathId id, bool joined) {
  Lock lock(core_.mutex);
  if (Path *p = alive_ ? path(id) : nullptr)
    p->joined = joined;
}

TxRoom SimPort::reserve(PathId id, std::uint32_t len) {
  Lock lock(core_.mutex);
  if (!alive_)
    return {};
  Path *p = path(id);
  if (!p || reserved_ || len > traits_.max_datagram) {
    ++core_.counters.misuse;
    return {};
  }
  if (!room(p)) {
    ++counters_.tx_refused;
    return {};
  }
  reserved_ = core_.pool.get(traits_.max_datagram);
  reserved_len_ = len;
  return {reserved_->data, len, reserved_};
}

bool SimPort::room(Path *p) {
  if (!traits_.lossless) // what waits for flush() is in the ring as well
    return core_.ring_has_room(nic_) &&
           nic_.leaving_ring.size() + committed_.size() < nic_.profile.tx_ring;
  if (p->held < nic_.profile.tx_ring)
    return true;
  p->refused = true;
  return false;
}

void SimPort::commit(PathId id, const TxRoom &tx, std::uint32_t len) {
  Lock lock(core_.mutex);
  if (!alive_)
    return;
  Path *p = path(id);
  if (!p || !reserved_ || tx.handle != reserved_ || len > reserved_len_) {
    ++core_.counters.misuse;
    return;
  }
  reserved_->len = len;
  reserved_->bulk_port = tx.bulk && !traits_.lossless ? p->bulk_port : 0;
  reserved_->joined = p->joined;
  if (traits_.lossless)
    ++p->held;
  committed_.emplace_back(reserved_, id);
  reserved_ = nullptr;
  ++counters_.tx_datagrams;
  counters_.tx_bytes += len;
}

void SimPort::cancel(PathId id, const TxRoom &tx) {
  Lock lock(core_.mutex);
  if (!alive_)
    return;
  if (!path(id) || !reserved_ || tx.handle != reserved_) {
    ++core_.counters.misuse;
    return;
  }
  core_.pool.put(reserved_);
  reserved_ = nullptr;
}

void SimPort::flush() {
  Lock lock(core_.mutex);
  for (auto &[packet, id] : committed_)
    send(packet, find(id));
  committed_.clear();
}

// It takes no time, and so overtakes all datagrams that could be overtaken.
void SimPort::tell(PathId id, std::uint64_t word) {
  Lock lock(core_.mutex);
  if (!alive_)
    return;
  const Path *p = path(id);
  if (SimPort *const other = p ? behind(p->peer_end) : nullptr) {
    other->find(p->peer_end.id)->told = word;
    core_.mark_ready(other->nic_);
  }
}

std::uint64_t SimPort::told(PathId id) const {
  Lock lock(core_.mutex);
  const auto i = static_cast<std::size_t>(id);
  return alive_ && i < paths_.size() && paths_[i].open ? paths_[i].told : 0;
}

// `p`: its path, if that is still open.
void SimPort::send(Packet *packet, Path *p) {
  if (!p)
    return core_.pool.put(packet);
  packet->from = address_;
  packet->to = p->peer;
  if (traits_.lossless) {
    packet->sender = {&nic_, p->serial, PathId(static_cast<std::uint32_t>(p - paths_.data()))};
    packet->receiver = p->peer_end;
  }
  core_.transmit(nic_, packet);
  p->last_arrival = nic_.cable_free + nic_.profile.delay;
}

void SimPort::reply(const RxDatagram &to, std::span<const std::byte> bytes) {
  Lock lock(core_.mutex);
  if (!alive_)
    return;
  if (polled_ == 0 || bytes.size() > traits_.max_datagram) {
    ++core_.counters.misuse;
    return;
  }
  const auto *received = static_cast<const Packet *>(to.handle);
  if (traits_.lossless) {
    Path *p = find(to.path);
    if (!p || !room(p))
      return;
    ++p->held;
    Packet *packet = core_.pool.get(traits_.max_datagram);
    packet->len = static_cast<std::uint32_t>(bytes.size());
    std::ranges::copy(bytes, packet->data);
    return send(packet, p);
  }
  send_back(received->from, bytes);
}

bool SimPort::send_back(const Address &to, std::span<const std::byte> bytes) {
  if (!core_.ring_has_room(nic_))
    return false;
  Packet *packet = core_.pool.get(traits_.max_datagram);
  packet->from = address_;
  packet->to = to;
  packet->len = static_cast<std::uint32_t>(bytes.size());
  std::ranges::copy(bytes, packet->data);
  core_.transmit(nic_, packet);
  return true;
}

bool SimPort::origin(const RxDatagram &datagram, Origin &out) const {
  out = {source(datagram), {}};
  return !traits_.lossless; // a datagram of a connected path is answered on it
}

bool SimPort::reply_to(const Origin &to, std::span<const std::byte> bytes) {
  Lock lock(core_.mutex);
  if (alive_ && !traits_.lossless && bytes.size() <= traits_.max_datagram)
    return send_back(to.source, bytes);
  ++core_.counters.misuse;
  return false;
}

bool SimPort::has_room_for(Packet &p) {
  RxQueues *const queues = nic_.profile.rx_queues.get();
  if (!queues)
    return arrived_.size() < nic_.profile.rx_ring;
  Address to = p.to;
  if (p.bulk_port != 0)
    to.port = p.bulk_port;
  p.rx_queue = queues->queue_of(p.from, to);
  return queues->take(p.rx_queue);
}

void SimPort::give_descriptor_back(const Packet &p) {
  if (RxQueues *const queues = nic_.profile.rx_queues.get(); queues && !traits_.lossless)
    queues->give_back(p.rx_queue);
}

bool SimPort::deliver(Packet *p) {
  if (traits_.lossless) {
    if (behind(p->receiver) != this)
      return false;
    ++paths_[static_cast<std::size_t>(p->receiver.id)].to_poll;
  }
  arrived_.push_back(p);
  return true;
}

unsigned SimPort::poll(RxDatagram *out, unsigned max) {
  Lock lock(core_.mutex);
  if (!alive_)
    return 0;
  if (polled_ != 0) {
    ++core_.counters.misuse;
    return 0;
  }
  while (polled_ < max && polled_ < arrived_.size()) {
    Packet *p = arrived_[polled_];
    PathId id = PathId::none;
    if (traits_.lossless) {
      const Path *known = behind(p->receiver) == this ? find(p->receiver.id) : nullptr;
      if (known && !known->announced)
        break;
      id = known ? p->receiver.id : PathId::none;
    } else if (const auto it = path_of_.find(p->from); it != path_of_.end()) {
      id = it->second;
    }
    out[polled_++] = {p->data, p->len, id, p};
    ++counters_.rx_datagrams;
    counters_.rx_bytes += p->len;
  }
  return polled_;
}

void SimPort::release(RxDatagram *datagrams, unsigned n) {
  Lock lock(core_.mutex);
  if (!alive_)
    return;
  if (n != polled_) {
    ++core_.counters.misuse;
    return;
  }
  for (unsigned i = 0; i < n; ++i) {
    Packet *p = arrived_.front();
    if (datagrams[i].handle != p)
      ++core_.counters.misuse;
    if (behind(p->receiver) == this)
      --paths_[static_cast<std::size_t>(p->receiver.id)].to_poll;
    give_back(p->sender);
    give_descriptor_back(*p);
    core_.pool.put(p);
    arrived_.pop_front();
  }
  polled_ = 0;
}

Address SimPort::source(const RxDatagram &d) const {
  return static_cast<const Packet *>(d.handle)->from;
}

bool SimPort::arm() {
  Lock lock(core_.mutex);
  return arrived_.empty() && events_.empty();
}

PortCounters SimPort::counters() const {
  Lock lock(core_.mutex);
  return counters_;
}

} // namespace dpdkx::link::sim
