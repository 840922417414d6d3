// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A small network on a virtual clock, and endpoints that do with sessions what
// an engine does: real packets, real checksums, numbered payloads that are
// counted on arrival. Everything follows from the seed.
#pragma once

#include "dpdkx/session/session.h"

#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <vector>

namespace net {

using namespace dpdkx;
using Bytes = std::vector<std::byte>;

struct Profile {
  double gbit = 10;
  Duration one_way = std::chrono::microseconds(10);
  std::size_t queue = 64; // packets, at the sender's and at the receiver's port
  double loss = 0, duplicate = 0, reorder = 0, corrupt = 0;
  Duration reorder_by = std::chrono::microseconds(30);
  std::uint32_t mtu = 0xffffffff;     // swallows datagrams beyond it; links don't know
  std::size_t mark_from = 0xffffffff; // queue length from which packets are marked (ECN)
};

class Node;

class Network {
public:
  Network(const Profile &, std::uint64_t seed);

  Time now() const { return now_; }
  void send(std::uint16_t from, std::uint16_t to, Bytes);
  void at(Time, std::function<void()>);
  // Runs until `done`, at most for `limit`. Whether it was done.
  bool run(Duration limit, const std::function<bool()> &done);

  Profile profile;
  std::function<bool(const Bytes &)> drop; // a test's own: true: swallow
  std::map<std::uint16_t, Node *> nodes;
  std::uint64_t delivered = 0, dropped = 0, corrupted = 0;
  std::size_t longest_queue = 0;

private:
  struct Event {
    Time at;
    std::uint64_t order;
    std::function<void()> what;
    bool operator<(const Event &o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  struct PortQueue {
    std::size_t waiting = 0;
    Time free_at{};
  };
  bool chance(double p) { return p > 0 && std::uniform_real_distribution<>(0, 1)(random_) < p; }
  void through(PortQueue &, std::size_t bytes, bool &marked, std::function<void()> then);

  std::mt19937_64 random_;
  Time now_ = Time(std::chrono::seconds(1));
  std::uint64_t order_ = 0;
  std::priority_queue<Event> events_;
  std::map<std::uint16_t, PortQueue> out_, in_;
};

struct Kept : session::TxPacket {
  Bytes frames;
};

// One peer of a node.
struct Peer {
  std::uint16_t port;
  std::unique_ptr<session::Session> session;
  std::uint64_t to_send = 0, next_payload = 0; // payloads still to be sent, numbered from 0
  std::uint64_t acked = 0;
  std::vector<std::uint64_t> received; // times each payload has come in
  std::uint64_t arrived = 0;
  int died_of = 0;
};

class Node final : session::AckSink {
public:
  Node(Network &, std::uint16_t port, const session::Params &, std::uint64_t seed,
       std::uint32_t max_datagram = 1472, bool lossless = false);
  ~Node();

  Peer &peer(std::uint16_t port); // made on first use; the session opens when it sends
  void send(std::uint16_t port, std::uint64_t payloads);
  void receive(std::uint16_t from, const Bytes &, bool marked);
  void turn();
  bool answers =
      true; // false: takes nothing in (its application computes, and there is nobody else)

  session::Gate gate;
  std::uint32_t payload = 1400;
  std::uint64_t malformed = 0, unknown = 0, duplicates = 0, outside = 0;

private:
  void acked(session::TxPacket *) override;
  void on_packet(Peer &, const wire::PacketHeader &, std::span<const std::byte>, bool marked);
  void on_confirm(std::uint16_t from, const wire::Hello &);
  void put(Peer &, wire::PacketHeader, const Bytes *frames);
  void put_body(std::uint16_t to, wire::PacketType, wire::Token, const Bytes &body);
  void emit(Peer &);
  void renew(Peer &);
  void bury(Peer &);
  Peer *by_token(wire::Token);
  void wake_at(Time);

  Network &net_;
  std::uint16_t port_;
  std::uint32_t max_datagram_;
  bool lossless_;
  std::vector<std::unique_ptr<Kept>> packets_;
  std::vector<Kept *> free_;
  std::map<std::uint16_t, Peer> peers_;
  Peer *acking_ = nullptr;
  Time wake_ = never;
  std::uint32_t tokens_ = 0;
};

Address address_of(std::uint16_t port);

} // namespace net
