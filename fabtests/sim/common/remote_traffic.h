// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Random writes, reads and atomics between all pairs of nodes, checked: what is written stands
// there whole when the write is over and for good, what is read is what stands there, and each
// atomic takes place once.
#pragma once

#include "sim/common/world.h"

#include <array>
#include <map>
#include <set>

namespace sim {

struct RemotePlan {
  unsigned operations = 8'000;
  std::size_t largest = 80u << 10; // bytes; half the sizes uniform, half log-uniform
  unsigned window = 16;            // operations that one node has under way
};

class RemoteTraffic {
public:
  RemoteTraffic(World &, const RemotePlan & = {});
  void start(); // and whoever runs the world runs it
  // Until every completion has come, and what peers are told; fails on whatever is not right.
  Duration run(Duration limit);
  std::uint64_t bytes() const { return bytes_; }

private:
  enum class Kind : std::uint8_t { write, inject, read, sum, ticket, swap };
  static constexpr unsigned slots = 3;    // that a node has at each other for writes
  static constexpr unsigned elements = 8; // of each kind of atomic
  static constexpr std::size_t injected = 128;
  struct Slot {
    std::uint64_t number = 0; // of the last write; 0: none
    std::size_t size = 0, at = 0;
    bool busy = false;
  };
  struct Side {
    Exposed *memory = nullptr;
    unsigned left = 0, under_way = 0; // operations that it has yet to post; that it has posted
    std::map<NodeId, std::array<Slot, slots>> written;   // where it writes at others
    std::map<NodeId, Slot> injected;                     // the same, without a completion
    std::map<std::uint64_t, Slot> to_tell;               // by number, writes that it is to be told
    std::set<std::uint64_t> told;                        // ... and has been
    std::array<std::uint64_t, elements> sums{}, swaps{}; // what becomes of its own elements
    std::array<std::vector<std::uint64_t>, elements> tickets; // that others have drawn here
    std::uint64_t initiated[2] = {}, suffered[2] = {};        // reads, writes
  };

  // Where things are in a node's memory.
  static constexpr std::size_t word = sizeof(std::uint64_t);
  std::size_t slot_at(NodeId writer, unsigned slot) const {
    return (std::size_t{writer} * slots + slot) * largest_;
  }
  std::size_t injected_at(NodeId writer) const {
    return slot_at(static_cast<NodeId>(sides_.size()), 0) + writer * injected;
  }
  std::size_t element_at(Kind, unsigned element) const;
  std::size_t constant_at() const;
  std::size_t size() const { return constant_at() + largest_; }

  std::size_t random_size();
  void tick(NodeId);
  bool post(NodeId from);
  bool post_write(NodeId from, NodeId to);
  bool post_inject(NodeId from, NodeId to);
  bool post_read(NodeId from, NodeId to);
  bool post_atomic(NodeId from, NodeId to, Kind);
  bool accepted(NodeId from, NodeId to, bool reads, const Op *);
  RemoteHow how_at(NodeId at, std::size_t addr);
  void done(NodeId from, Op &, const Done &, std::uint64_t flags);
  void wrote(NodeId to, Slot &);
  void told(NodeId at, const Done &);
  void drew(NodeId to, Kind, unsigned element, std::span<const std::byte> result,
            std::uint64_t expected);
  void verify_slot(NodeId at, const Slot &) const;
  void check_memory() const;
  void check_counters();
  bool finished() const;
  std::string unfinished() const;

  World &world_;
  const std::size_t largest_;
  const unsigned window_;
  std::vector<Side> sides_;
  std::uint64_t numbers_ = 0, bytes_ = 0;
};

} // namespace sim
