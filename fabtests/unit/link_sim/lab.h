// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Two ports on a simulated network, and shorthands to move datagrams.
#pragma once

#include "dpdkx/link/sim/network.h"
#include "unit/unit.h"

#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace lab {

using namespace dpdkx;
using namespace dpdkx::link;
using namespace dpdkx::link::sim;
using namespace std::chrono_literals;

inline Address address(std::uint32_t host) { return Address::v4(0x0a000000 + host, 4000); }

// No rate, so that arrival times are delays alone; 10 us one way.
inline Profile plain() {
  Profile p;
  p.rate = 0;
  return p;
}

struct Arrival {
  std::string text;
  PathId path;
  Address source;
  Duration at; // since the start
};

struct Lab {
  explicit Lab(const Profile &profile = plain(), std::uint64_t seed = 1)
      : net(clock, seed), a(net.attach(address(1), profile, 1)),
        b(net.attach(address(2), profile, 2)) {}

  VirtualClock clock;
  Network net;
  std::unique_ptr<Port> a, b;

  Duration since_start() const { return clock.now() - VirtualClock::start; }
  void run_for(Duration d) { net.advance_to(clock.now() + d); }

  static PathId open(Port &port, const Address &to) {
    PathId id = PathId::none;
    assert_int_equal(port.open_path(to, id), 0);
    return id;
  }
  // False: no room.
  static bool send(Port &port, PathId path, const std::string &text, bool bulk = false) {
    TxRoom room = port.reserve(path, static_cast<std::uint32_t>(text.size()));
    if (!room.data)
      return false;
    room.bulk = bulk;
    std::memcpy(room.data, text.data(), text.size());
    port.commit(path, room, static_cast<std::uint32_t>(text.size()));
    port.flush();
    return true;
  }
  std::vector<Arrival> take(Port &port) const {
    std::vector<Arrival> result;
    RxDatagram d[8];
    while (const unsigned n = port.poll(d, 8)) {
      for (unsigned i = 0; i < n; ++i)
        result.push_back({std::string(reinterpret_cast<const char *>(d[i].data), d[i].len),
                          d[i].path, port.source(d[i]), since_start()});
      port.release(d, n);
    }
    return result;
  }
  // Everything that arrives until nothing is under way, at the time it arrives.
  std::vector<Arrival> drain(Port &port) {
    std::vector<Arrival> result = take(port);
    while (net.next_event() != never) {
      net.advance_to(net.next_event());
      for (Arrival &arrival : take(port))
        result.push_back(std::move(arrival));
    }
    return result;
  }
  std::vector<PathEvent> events(Port &port) const {
    std::vector<PathEvent> result(16);
    result.resize(port.poll_events(result.data(), 16, clock.now()));
    return result;
  }
};

} // namespace lab
