// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Hosts on a simulated network, each with a check that may ask and answers.
#pragma once

#include "dpdkx/check/run.h"
#include "dpdkx/link/sim/network.h"

#include <chrono>
#include <cstring>
#include <vector>

#include "unit/unit.h"

namespace lab {

using namespace dpdkx;
using namespace dpdkx::check;
using namespace std::chrono_literals;
using link::sim::Departure;
using link::sim::Faults;
using link::sim::Network;
using link::sim::Profile;
using link::sim::VirtualClock;

inline constexpr std::uint16_t asking = 5000, unasked = 5001;

inline Address address(std::uint32_t host, std::uint16_t port) {
  return Address::v4(0x0a000000 + host, port);
}

inline Profile jumbo(std::uint32_t max_datagram = 8972) {
  Profile p;
  p.max_datagram = max_datagram;
  return p;
}

// Rewrites a probe on its way and seals it again; false: it is none.
template <class F> bool rewrite(const Departure &d, F &&change) {
  std::span<const std::byte> in = d.bytes;
  const auto header = wire::decode_header(in);
  wire::Probe probe;
  if (!header || header->type != wire::PacketType::probe || !wire::decode(in, probe))
    return false;
  change(probe);
  wire::encode(d.bytes.data() + wire::packet_header_size, probe);
  wire::seal(d.bytes);
  return true;
}

class Lab {
public:
  Run &start(std::uint32_t host, const Profile &profile = jumbo(), wire::KeyDigest key = {}) {
    Run::Ports ports;
    ports.asks = net.attach(address(host, asking), profile);
    ports.unasked = net.attach(address(host, unasked), profile);
    ports.answers = net.attach(address(host, default_port), profile);
    runs.push_back(std::make_unique<Run>(std::move(ports), key, 1000 + host));
    return *runs.back();
  }

  // One direction between two hosts, whatever the ports.
  void hinder(std::uint32_t from, std::uint32_t to, const Faults &faults) {
    for (const std::uint16_t f : {asking, unasked, default_port})
      for (const std::uint16_t t : {asking, unasked, default_port})
        net.set_faults(address(from, f), address(to, t), faults);
  }
  void turn() {
    for (const auto &run : runs)
      run->turn(clock.now());
  }
  // Until that one is done with all it asks; false: not within the limit.
  bool finish(Run &run, Duration limit = 30s) {
    const Time until = clock.now() + limit;
    while (!run.done() && clock.now() < until) {
      turn();
      if (run.done())
        break;
      Time next = std::min(net.next_event(), until);
      for (const auto &r : runs)
        next = std::min(next, r->due());
      net.advance_to(std::max(next, clock.now() + 1us));
    }
    return run.done();
  }
  Result check(Run &run, std::uint32_t host) {
    const std::size_t i = run.add(address(host, default_port));
    assert_true(finish(run));
    return run.result(i);
  }

  VirtualClock clock;
  Network net{clock, 1};
  std::vector<std::unique_ptr<Run>> runs;
};

} // namespace lab
