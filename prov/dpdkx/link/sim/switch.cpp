// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The way of a datagram: ring, cable, switch with its faults and queue, cable,
// port.
#include "dpdkx/link/sim/core.h"
#include "dpdkx/link/sim/port.h"

#include <algorithm>

namespace dpdkx::link::sim {

namespace {

void forget_past(std::deque<Time> &leaving, Time now) {
  while (!leaving.empty() && leaving.front() <= now)
    leaving.pop_front();
}

} // namespace

Duration time_on_cable(const Profile &profile, std::uint32_t bytes) {
  if (profile.rate == 0)
    return {};
  return Duration(static_cast<Duration::rep>((std::uint64_t{bytes} + profile.overhead) *
                                             8'000'000'000 / profile.rate));
}

bool Network::Core::ring_has_room(Nic &nic) {
  forget_past(nic.leaving_ring, now());
  if (nic.leaving_ring.size() < nic.profile.tx_ring)
    return true;
  schedule(nic.leaving_ring.front(), event::Wake{&nic});
  return false;
}

void Network::Core::transmit(Nic &from, Packet *p) {
  ++counters.sent;
  counters.bulk += p->bulk_port != 0;
  Duration extra{};
  if (hook) {
    const Verdict verdict = hook({p->from, p->to, {p->data, p->len}, p->bulk_port != 0, p->joined});
    if (verdict.drop)
      return drop(p, counters.hook_dropped);
    extra = verdict.delay;
  }
  from.cable_free = std::max(from.cable_free, now()) + time_on_cable(from.profile, p->len);
  if (from.profile.lossless)
    return schedule(from.cable_free + from.profile.delay + extra, event::ToPort{p});
  from.leaving_ring.push_back(from.cable_free);
  schedule(from.cable_free + from.profile.delay / 2 + extra, event::ToSwitch{p});
}

void Network::Core::at_switch(Packet *p) {
  const Nic &from = nic(p->from);
  Nic &to = nic(p->to);
  if (cut_off(*p, from, to))
    return drop(p, counters.cut_off);
  if (!p->faults_done && !survives_faults(p))
    return;
  Nic::Queue &queue = p->bulk_port != 0 ? to.bulk_at_switch : to.at_switch;
  forget_past(queue.leaving, now());
  if (queue.leaving.size() >= to.profile.queue)
    return drop(p, counters.queue_full);
  queue.free = std::max(queue.free, now()) + time_on_cable(to.profile, p->len);
  queue.leaving.push_back(queue.free);
  const Duration extra =
      p->bulk_port != 0 ? to.profile.bulk_delay.value_or(Duration{}) : Duration{};
  schedule(queue.free + to.profile.delay / 2 + extra, event::ToPort{p});
}

bool Network::Core::survives_faults(Packet *p) {
  p->faults_done = true;
  const Faults &faults = faults_of(*p);
  if (faults.black_hole != 0 && p->len > faults.black_hole) {
    drop(p, counters.black_holed);
    return false;
  }
  if (random.chance(faults.loss)) {
    drop(p, counters.lost);
    return false;
  }
  if (random.chance(faults.duplicate)) {
    Packet *copy = pool.get(p->capacity);
    copy->from = p->from, copy->to = p->to, copy->len = p->len, copy->faults_done = true;
    copy->bulk_port = p->bulk_port;
    std::copy_n(p->data, p->len, copy->data);
    schedule(now() + random.up_to(faults.reorder_delay), event::ToSwitch{copy});
    ++counters.duplicated;
  }
  if (random.chance(faults.corrupt))
    corrupt(*p);
  if (random.chance(faults.reorder)) {
    schedule(now() + random.up_to(faults.reorder_delay), event::ToSwitch{p});
    ++counters.reordered;
    return false;
  }
  if (faults.jitter > Duration{}) {
    Time &last = pair({p->from, p->to}).last_arrival;
    last = std::max(last, now() + random.up_to(faults.jitter));
    schedule(last, event::ToSwitch{p});
    ++counters.jittered;
    return false;
  }
  return true;
}

void Network::Core::corrupt(Packet &p) {
  if (p.len == 0)
    return;
  for (auto flips = random.between(1, 3); flips != 0; --flips)
    p.data[random.below(p.len)] ^= std::byte(1u << random.below(8));
  ++counters.corrupted;
}

void Network::Core::at_port(Packet *p) {
  Nic &to = nic(p->to);
  if (to.down && !to.profile.lossless)
    return drop(p, counters.cut_off);
  if (to.port == nullptr || (p->bulk_port != 0 && p->bulk_port != to.port->bulk_port()))
    return drop(p, counters.no_receiver);
  if (!to.profile.lossless && !to.port->has_room_for(*p))
    return drop(p, counters.ring_full);
  if (!to.port->deliver(p))
    return drop(p, counters.no_receiver);
  ++counters.delivered;
  mark_ready(to);
}

void Network::Core::drop(Packet *p, std::uint64_t &counter) {
  ++counter;
  SimPort::give_back(p->sender);
  pool.put(p);
}

bool Network::Core::cut_off(const Packet &p, const Nic &from, const Nic &to) const {
  if (from.down || to.down)
    return true;
  if (pairs.empty())
    return false;
  const auto it = pairs.find({p.from, p.to});
  return it != pairs.end() && it->second.blocked;
}

const Faults &Network::Core::faults_of(const Packet &p) const {
  if (pairs.empty())
    return default_faults;
  const auto it = pairs.find({p.from, p.to});
  return it != pairs.end() && it->second.own_faults ? it->second.faults : default_faults;
}

void Network::Core::run(Event &e, std::unique_lock<std::mutex> &lock) {
  if (auto *to_switch = std::get_if<event::ToSwitch>(&e.what)) {
    at_switch(to_switch->packet);
  } else if (auto *to_port = std::get_if<event::ToPort>(&e.what)) {
    at_port(to_port->packet);
  } else if (auto *wake = std::get_if<event::Wake>(&e.what)) {
    mark_ready(*wake->nic);
  } else if (auto *tell = std::get_if<event::Tell>(&e.what)) {
    if (SimPort *port = SimPort::behind(tell->end)) {
      port->tell({tell->kind, tell->end.id, tell->error});
      mark_ready(*tell->end.nic);
    }
  } else {
    lock.unlock();
    (*std::get<event::Call>(e.what).what)();
    lock.lock();
  }
}

} // namespace dpdkx::link::sim
