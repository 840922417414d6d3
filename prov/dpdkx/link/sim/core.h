// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Inside the simulated network: its events, its cables, and what ports ask of
// it. All of it under Core::mutex.
#pragma once

#include "dpdkx/link/sim/network.h"
#include "dpdkx/link/sim/packet_pool.h"
#include "dpdkx/link/sim/random.h"

#include <deque>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <variant>

namespace dpdkx::link::sim {

class SimPort;

// An address's place at the switch. Stays when its port goes: datagrams are
// still under way to it, and the next port finds the same queues.
struct Nic {
  Address address;
  Profile profile;
  SimPort *port = nullptr; // who is bound there now
  std::uint32_t tag = 0;
  bool down = false, unresolvable = false, marked_ready = false;
  // When its cable, and the switch's end of it, are free again, and when each
  // datagram that waits for them leaves.
  Time cable_free{};
  std::deque<Time> leaving_ring;
  struct Queue {
    Time free{};
    std::deque<Time> leaving;
  };
  Queue at_switch, bulk_at_switch;
};

namespace event {
struct ToSwitch {
  Packet *packet;
};
struct ToPort {
  Packet *packet;
};
struct Wake { // a datagram has left a ring that had been full
  Nic *nic;
};
struct Tell {
  PathEnd end;
  PathEventKind kind;
  int error;
};
struct Call {
  std::unique_ptr<std::function<void()>> what;
};
} // namespace event

struct Event {
  Time at;
  std::uint64_t order; // among those of one time: first scheduled, first run
  std::variant<event::ToSwitch, event::ToPort, event::Wake, event::Tell, event::Call> what;
};

struct Pair {
  Address from, to;
  friend bool operator==(const Pair &, const Pair &) = default;
};
struct PairHash {
  std::size_t operator()(const Pair &p) const noexcept {
    return AddressHash{}(p.from) * 31 + AddressHash{}(p.to);
  }
};
struct PairState {
  bool own_faults = false, blocked = false;
  Faults faults;
  Time last_arrival{}; // at the switch, for jitter that keeps the order
};

struct Network::Core {
  Core(VirtualClock &c, std::uint64_t seed) : clock(c), random(seed) {}

  mutable std::mutex mutex;
  VirtualClock &clock;
  Random random;
  PacketPool pool;
  FaultCounters counters;
  std::function<Verdict(const Departure &)> hook;
  Faults default_faults;
  std::unordered_map<Pair, PairState, PairHash> pairs;
  std::unordered_map<Address, std::unique_ptr<Nic>, AddressHash> nics;
  std::vector<Event> heap;
  std::uint64_t next_order = 0, next_serial = 1;
  std::vector<Nic *> ready;

  Nic &nic(const Address &); // made when first spoken of
  Time now() const { return clock.now(); }
  template <class What> void schedule(Time at, What &&what) {
    push(Event{at, next_order++, std::forward<What>(what)});
  }
  void push(Event);
  Event pop();
  void run(Event &, std::unique_lock<std::mutex> &);
  void mark_ready(Nic &);

  // Whether the sender's ring takes one more now; if not, it is woken when it does.
  bool ring_has_room(Nic &);
  void transmit(Nic &from, Packet *); // takes the packet
  void drop(Packet *, std::uint64_t &counter);

private:
  void at_switch(Packet *);
  void at_port(Packet *);
  bool survives_faults(Packet *); // false: gone, or comes again later
  void corrupt(Packet &);
  PairState &pair(const Pair &p) { return pairs[p]; }
  const Faults &faults_of(const Packet &) const;
  bool cut_off(const Packet &, const Nic &from, const Nic &to) const;
};

// How long `bytes` occupy a cable.
Duration time_on_cable(const Profile &, std::uint32_t bytes);

} // namespace dpdkx::link::sim
