// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Endpoints on two simulated networks, a lossless one for each host and one
// that loses, on one virtual clock. The world sees every datagram of the latter.
#pragma once

#include "dpdkx/engine/endpoint.h"
#include "dpdkx/link/sim/network.h"
#include "dpdkx/wire/handshake.h"
#include "unit/op/calls.h"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "unit/unit.h" // last: cmocka defines fail

namespace lab {

using namespace dpdkx;
using namespace std::chrono_literals;
using link::sim::Departure;
using link::sim::Network;
using link::sim::Profile;
using link::sim::Verdict;
using link::sim::VirtualClock;
using wire::PacketType;

inline Address address(std::uint32_t host, std::uint16_t port = 4000) {
  return Address::v4(0x0a000000 + host, port);
}

// Options::is_own_address where every address is this host's.
inline bool all_own(const Address &) { return true; }

// What an AV is to an engine.
class Book final : public engine::AddressBook {
public:
  fi_addr_t add(const Address &a) {
    entries_.push_back(a);
    return entries_.size() - 1;
  }
  void remove(fi_addr_t i) { entries_[i].reset(); }
  void replace(fi_addr_t i, const Address &a) { entries_[i] = a; }

  bool lookup(fi_addr_t i, Address &out) const override {
    if (i >= entries_.size() || !entries_[i])
      return false;
    out = *entries_[i];
    return true;
  }
  fi_addr_t reverse(const Address &a) const override {
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (entries_[i] == a)
        return i;
    return FI_ADDR_NOTAVAIL;
  }

private:
  std::vector<std::optional<Address>> entries_;
};

enum class On { device, host, both };

struct Options {
  engine::Config config;
  Profile device, host = Profile::host();
  QueueOptions queues{};
  bool (*is_own_address)(const Address &) = nullptr;
  // Wraps a port, for tests that stand in between.
  std::function<std::unique_ptr<link::Port>(std::unique_ptr<link::Port>)> wrap_host, wrap_device;

  Options() { config.seed = 1; }
};

class World;

// One life of one endpoint.
class Node {
public:
  Node(World &, const Address &, On, const Options &);
  ~Node(); // as by exit() without close

  Call &send(fi_addr_t to, Bytes, const SendHow & = {});
  Call &receive(std::size_t size, const ReceiveHow & = {});
  ssize_t try_send(Call &, fi_addr_t to, const SendHow & = {});
  ssize_t try_receive(Call &, const ReceiveHow & = {});
  unsigned turn();
  void service();
  bool quiet(); // nothing to do before something arrives, or a timer is due
  engine::Statistics statistics() { return endpoint->statistics(); }

  const Address address;
  Queues queues;
  std::deque<Call> calls;
  std::unique_ptr<engine::Endpoint> endpoint;
  bool computes = false; // calls nothing
};

// A datagram that has left a port of the device's network.
struct Seen {
  Address from, to;
  PacketType type;
  std::uint8_t flags;
  Bytes bytes;
  Time at;
};

class World {
public:
  explicit World(Options = {}, std::uint64_t seed = 1);
  ~World();

  // Each node's number is also its fi_addr_t.
  Node &start(On = On::device);
  Node &node(unsigned i) { return *nodes_[i]; }
  void kill(unsigned i);                          // as by SIGKILL
  Node &restart(unsigned i, On = On::device);     // a new life at the same address
  void close(unsigned i);                         // in order, whether or not all has arrived
  void replay(const Seen &, Duration delay = {}); // once more, unchanged

  Time now() const { return clock.now(); }
  bool run_until(const std::function<bool()> &, Duration limit = 60s); // false: not within it
  void run_for(Duration d) {
    run_until([] { return false; }, d);
  }
  // A message that arrives, and says so at both ends.
  void exchange(unsigned from, unsigned to, std::size_t size = 100);
  bool finish(std::initializer_list<const Call *>, Duration limit = 60s);

  std::size_t count(PacketType) const; // of the datagrams seen
  Options options;                     // of nodes that are started from now on
  VirtualClock clock;
  Network device, host;
  Book book;
  std::vector<Seen> seen;
  bool records = true; // keeps what is seen
  // Asked about each datagram of the device's network; may rewrite it.
  std::function<Verdict(const Departure &, PacketType)> hook;

private:
  void step(Time limit);

  std::vector<std::unique_ptr<Node>> nodes_;
};

// Where the frames of a data packet begin.
std::span<std::byte> frames_of(std::span<std::byte> datagram);

// Lines that the engine logs while it lives.
class Log {
public:
  Log();
  ~Log();
  bool has(const std::string &part) const;
};

// Rewrites a handshake packet of that type and seals it again.
template <class Body, class F> void rewrite(const Departure &d, F &&change) {
  Body body;
  std::span<const std::byte> in = d.bytes;
  const auto h = wire::decode_header(in);
  assert_true(h && wire::decode(in, body));
  change(body);
  wire::encode(d.bytes.data() + wire::packet_header_size, body);
  wire::seal(d.bytes);
}

} // namespace lab
