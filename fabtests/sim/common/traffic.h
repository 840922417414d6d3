// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Random messages between all pairs of nodes, checked: each arrives once, with
// its bytes, tag, data and source, and matches in the order in which its sender
// sent it.
#pragma once

#include "sim/common/world.h"

#include <map>

namespace sim {

struct TrafficPlan {
  unsigned messages = 10'000;
  std::size_t largest = 300u << 10;    // bytes; half the sizes uniform, half log-uniform
  std::size_t largest_any = 64u << 10; // of those received with FI_ADDR_UNSPEC
  unsigned window = 16;                // sends that one node has under way
  bool to_self = true;
  bool prompt = false; // receives are posted well ahead, so that the network alone sets the pace
};

class Traffic {
public:
  Traffic(World &, const TrafficPlan & = {});
  // From now until every completion has come; fails on whatever is not right.
  Duration run(Duration limit);
  std::uint64_t bytes() const { return bytes_; }

private:
  // What a receive asks for. Class 0 is untagged.
  struct Criterion {
    NodeId at;
    unsigned message_class;
    fi_addr_t src; // FI_ADDR_UNSPEC: any
    auto operator<=>(const Criterion &) const = default;
  };
  struct Message {
    NodeId from, to;
    unsigned message_class;
    std::size_t size;
    SendHow how;
    bool sent = false, received = false;
  };
  struct Receive {
    Criterion criterion;
    std::size_t size;
    std::uint32_t got = none;
  };
  static constexpr std::uint32_t none = ~0u;
  struct Side {
    std::vector<std::uint32_t> to_send; // messages, in order
    std::size_t next_send = 0;
    unsigned sending = 0;
    // Receives with a source are posted in about the order of the messages, so
    // many ahead; the others over time.
    std::vector<std::uint32_t> directed, any; // of receives_
    std::size_t next_directed = 0, next_any = 0;
    unsigned receiving = 0, ahead = 0, any_per_tick = 0;
  };

  void plan_message(std::uint32_t id, const TrafficPlan &);
  void plan_receives(NodeId, bool prompt);
  bool any_source(NodeId at, unsigned message_class) const;
  void push_sends(NodeId);
  void tick(NodeId);
  bool post(NodeId, std::uint32_t receive, bool counted);
  void received(std::uint32_t receive, const Op &, const Done &);
  void check_order() const;
  std::string unfinished() const;

  World &world_;
  const unsigned window_;
  const std::uint64_t any_mask_;
  std::vector<Message> messages_;
  std::vector<Receive> receives_;
  std::vector<Side> sides_;
  std::map<Criterion, std::vector<std::uint32_t>> posted_; // receives, in order of posting
  std::uint64_t bytes_ = 0, unsent_ = 0, unreceived_ = 0;
};

} // namespace sim
