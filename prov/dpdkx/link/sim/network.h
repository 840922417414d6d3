// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A network in one process, on a virtual clock: ports around one switch, with
// rate, delay, queues, and seeded faults. One seed, one run: the same calls give
// the same datagrams at the same times.
//
// Threads: any call from any thread, but not from a hook. A port outlives its
// endpoint's calls, the network outlives its ports.
#pragma once

#include "dpdkx/link/link.h"
#include "dpdkx/link/sim/profile.h"
#include "dpdkx/link/sim/virtual_clock.h"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace dpdkx::link::sim {

// A datagram that is about to leave its sender, as a test's hook sees it.
struct Departure {
  const Address &from, &to;
  std::span<std::byte> bytes; // may be rewritten
  bool bulk = false;          // to the peer's bulk port
  bool joined = false;        // by a path for joined datagrams, which these never are
};

struct Verdict {
  bool drop = false;
  Duration delay{}; // that much later than it would
};

class Network {
public:
  Network(VirtualClock &, std::uint64_t seed);
  ~Network();
  Network(const Network &) = delete;

  // Binds a port. Port number 0: one is chosen. Null: the address is taken.
  // `tag` is what take_ready() calls it.
  std::unique_ptr<Port> attach(const Address &, const Profile &, std::uint32_t tag = 0);
  // The port's process has ended as by SIGKILL: what it has flushed is under
  // way, nothing more leaves it or reaches it. The Port object stays valid, and
  // dead. The address is free again at once.
  void kill(const Address &);

  void set_faults(const Faults &);                                         // of all pairs
  void set_faults(const Address &from, const Address &to, const Faults &); // of one direction
  void set_down(const Address &, bool down); // its cable is unplugged: all its datagrams vanish
  void set_blocked(const Address &, const Address &, bool blocked); // partition, both directions
  void set_unresolvable(const Address &, bool); // paths opened to it fail: -EHOSTUNREACH

  // Called for each datagram that leaves a port, in order.
  void set_hook(std::function<Verdict(const Departure &)>);
  // Puts a datagram in front of the switch after `delay`, as if `from` had sent
  // it. It is spared from faults. Not for lossless ports.
  void inject(const Address &from, const Address &to, std::span<const std::byte>, Duration delay);
  // Calls `what` when the clock gets to `when`, between datagrams.
  void at(Time when, std::function<void()> what);

  // When something happens next; never: nothing is under way.
  Time next_event() const;
  // Moves the clock to `t`, and all that happens until then happens.
  void advance_to(Time t);
  // Adds the tags of ports for which something has happened since the last call:
  // arrivals, path events, room for a port that was refused it.
  void take_ready(std::vector<std::uint32_t> &tags);

  FaultCounters counters() const;

  struct Core;

private:
  std::unique_ptr<Core> core_;
};

} // namespace dpdkx::link::sim
