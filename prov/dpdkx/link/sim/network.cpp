// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/sim/network.h"

#include "dpdkx/link/sim/core.h"
#include "dpdkx/link/sim/port.h"

#include <algorithm>

namespace dpdkx::link::sim {

namespace {

using Lock = std::unique_lock<std::mutex>;

bool later(const Event &a, const Event &b) {
  return a.at != b.at ? a.at > b.at : a.order > b.order;
}

} // namespace

Nic &Network::Core::nic(const Address &address) {
  std::unique_ptr<Nic> &slot = nics[address];
  if (!slot) {
    slot = std::make_unique<Nic>();
    slot->address = address;
  }
  return *slot;
}

void Network::Core::push(Event e) {
  heap.push_back(std::move(e));
  std::push_heap(heap.begin(), heap.end(), later);
}

Event Network::Core::pop() {
  std::pop_heap(heap.begin(), heap.end(), later);
  Event e = std::move(heap.back());
  heap.pop_back();
  return e;
}

void Network::Core::mark_ready(Nic &nic) {
  if (nic.port && !nic.marked_ready) {
    nic.marked_ready = true;
    ready.push_back(&nic);
  }
}

Network::Network(VirtualClock &clock, std::uint64_t seed)
    : core_(std::make_unique<Core>(clock, seed)) {}

Network::~Network() = default;

std::unique_ptr<Port> Network::attach(const Address &wanted, const Profile &profile,
                                      std::uint32_t tag) {
  Lock lock(core_->mutex);
  Address address = wanted;
  if (address.port == 0)
    for (address.port = 49152; core_->nic(address).port && address.port != 65535;)
      ++address.port;
  Nic &nic = core_->nic(address);
  if (nic.port)
    return nullptr;
  nic.profile = profile;
  nic.tag = tag;
  auto port = std::make_unique<SimPort>(*core_, nic, profile);
  nic.port = port.get();
  return port;
}

void Network::kill(const Address &address) {
  Lock lock(core_->mutex);
  if (SimPort *port = core_->nic(address).port)
    port->detach();
}

void Network::set_faults(const Faults &faults) {
  Lock lock(core_->mutex);
  core_->default_faults = faults;
}

void Network::set_faults(const Address &from, const Address &to, const Faults &faults) {
  Lock lock(core_->mutex);
  PairState &pair = core_->pairs[{from, to}];
  pair.own_faults = true;
  pair.faults = faults;
}

void Network::set_down(const Address &address, bool down) {
  Lock lock(core_->mutex);
  core_->nic(address).down = down;
}

void Network::set_blocked(const Address &a, const Address &b, bool blocked) {
  Lock lock(core_->mutex);
  core_->pairs[{a, b}].blocked = core_->pairs[{b, a}].blocked = blocked;
}

void Network::set_unresolvable(const Address &address, bool unresolvable) {
  Lock lock(core_->mutex);
  core_->nic(address).unresolvable = unresolvable;
}

void Network::set_hook(std::function<Verdict(const Departure &)> hook) {
  Lock lock(core_->mutex);
  core_->hook = std::move(hook);
}

void Network::inject(const Address &from, const Address &to, std::span<const std::byte> bytes,
                     Duration delay) {
  Lock lock(core_->mutex);
  Packet *p = core_->pool.get(static_cast<std::uint32_t>(bytes.size()));
  p->from = from, p->to = to;
  p->len = static_cast<std::uint32_t>(bytes.size());
  p->faults_done = true;
  std::ranges::copy(bytes, p->data);
  ++core_->counters.injected;
  core_->schedule(core_->now() + delay, event::ToSwitch{p});
}

void Network::at(Time when, std::function<void()> what) {
  Lock lock(core_->mutex);
  core_->schedule(when, event::Call{std::make_unique<std::function<void()>>(std::move(what))});
}

Time Network::next_event() const {
  Lock lock(core_->mutex);
  return core_->heap.empty() ? never : core_->heap.front().at;
}

void Network::advance_to(Time t) {
  Lock lock(core_->mutex);
  while (!core_->heap.empty() && core_->heap.front().at <= t) {
    Event e = core_->pop();
    core_->clock.advance_to(e.at);
    core_->run(e, lock);
  }
  core_->clock.advance_to(t);
}

void Network::take_ready(std::vector<std::uint32_t> &tags) {
  Lock lock(core_->mutex);
  for (Nic *nic : core_->ready) {
    nic->marked_ready = false;
    tags.push_back(nic->tag);
  }
  core_->ready.clear();
}

FaultCounters Network::counters() const {
  Lock lock(core_->mutex);
  return core_->counters;
}

} // namespace dpdkx::link::sim
