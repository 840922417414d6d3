// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Datagrams on networks that lose, double, delay and corrupt: what arrives is what was sent, no
// more often than the network has brought it, and memory for what nobody receives is bounded.
#include "sim/common/case.h"
#include "sim/common/world.h"

#include "sim/common/check.h"
#include "sim/common/payload.h"

#include <algorithm>
#include <map>

namespace {

using namespace sim;

Setup datagrams(bool lossless = false) {
  Setup setup = setup_for(lossless);
  setup.config.datagrams = true;
  setup.cq_size = 8192;
  return setup;
}

// Datagrams between all, numbered; their data tell the number, and so does what they hold.
class Shower {
public:
  explicit Shower(World &world, NodeId nodes) : world_(world), nodes_(nodes), counts_(nodes) {
    world_.add(nodes);
  }

  void receive(NodeId at) {
    if (Op *op = world_.try_receive(at, size_limit(at), {}, [this](Op &o, const Done &d) {
          o.on_done = nullptr;
          --counts_[o.node].waiting;
          take(o, d);
        }))
      ++counts_[op->node].waiting;
  }
  void receive_ahead(std::size_t ahead = 64) {
    for (NodeId id = 0; id < nodes_; ++id)
      while (world_.alive(id) && counts_[id].waiting < ahead)
        receive(id);
  }

  // False: no room, or nobody lives here.
  bool send(NodeId from, NodeId to) {
    if (!world_.alive(from))
      return false;
    const std::size_t size =
        world_.random().below(world_.random().chance(0.5) ? 200 : size_limit(from) + 1);
    const std::uint64_t number = sent_.size() + 1;
    Op *op = world_.try_send(from, to, bytes_of(size, number), {.data = number});
    if (!op)
      return false;
    sent_.push_back({from, to, size, op});
    return true;
  }

  void check(bool lossless) const {
    std::uint64_t arrived = 0, twice = 0;
    for (const Sent &s : sent_) {
      arrived += s.arrived != 0;
      twice += s.arrived > 1 ? s.arrived - 1 : 0;
      if (s.from_lives)
        CHECK_EQ(s.op->done.size(), 1u);
    }
    const auto c = world_.network().counters();
    CHECK(twice <= c.duplicated + c.injected);
    if (lossless)
      CHECK_EQ(twice, 0u);
    CHECK_EQ(c.misuse, 0u);
    note(fmt::format("{} of {} arrived, {} of them once more", arrived, sent_.size(), twice));
  }
  void died(NodeId id) {
    counts_[id].waiting = 0;
    for (Sent &s : sent_)
      if (s.from == id)
        s.from_lives = false;
  }
  std::uint64_t arrived_at(NodeId id) const { return counts_[id].arrived; }
  std::size_t sent() const { return sent_.size(); }

private:
  struct Sent {
    NodeId from, to;
    std::size_t size;
    Op *op;
    unsigned arrived = 0;
    bool from_lives = true;
  };
  struct Counts {
    std::size_t waiting = 0;
    std::uint64_t arrived = 0;
  };

  std::size_t size_limit(NodeId id) { return world_.node(id).endpoint().max_datagram(); }

  void take(const Op &op, const Done &d) {
    CHECK_EQ(d.err, 0);
    CHECK(d.data >= 1 && d.data <= sent_.size());
    Sent &s = sent_[d.data - 1];
    CHECK_EQ(s.to, op.node);
    CHECK_EQ(d.src, s.from);
    CHECK_EQ(d.len, s.size);
    verify(std::span(op.memory).first(d.len), d.data);
    ++s.arrived;
    ++counts_[op.node].arrived;
  }

  World &world_;
  const NodeId nodes_;
  std::vector<Counts> counts_;
  std::vector<Sent> sent_;
};

void shower(std::uint64_t seed, bool lossless, bool deaths) {
  World world(seed, datagrams(lossless));
  if (!lossless)
    world.network().set_faults({.loss = 0.1, .duplicate = 0.1, .reorder = 0.1, .corrupt = 0.1});
  constexpr NodeId n = 5;
  Shower all(world, n);
  auto &random = world.random();
  for (unsigned round = 0; round < 300; ++round) {
    all.receive_ahead();
    for (unsigned i = 0; i < 10; ++i)
      all.send(static_cast<NodeId>(random.below(n)), static_cast<NodeId>(random.below(n)));
    world.run_for(random.up_to(50us));
    const auto victim = static_cast<NodeId>(random.below(n));
    if (!world.alive(victim)) {
      world.restart(victim);
    } else if (deaths && random.chance(0.05)) {
      if (random.chance(0.5))
        world.kill(victim);
      else
        world.close(victim);
      all.died(victim);
    }
  }
  all.receive_ahead();
  world.run_for(1s);
  std::uint64_t arrived = 0;
  for (NodeId id = 0; id < n; ++id)
    arrived += all.arrived_at(id);
  CHECK(arrived > all.sent() / 2);
  if (lossless && !deaths)
    CHECK_EQ(arrived, all.sent());
  all.check(lossless);
}

const Case lossy{"datagrams__arrive_as_they_were_sent", 6,
                 [](std::uint64_t seed) { shower(seed, false, false); }};
const Case lossless{"datagrams__all_arrive_on_a_lossless_link", 3,
                    [](std::uint64_t seed) { shower(seed, true, false); }};
const Case dying{"datagrams__survive_deaths", 6,
                 [](std::uint64_t seed) { shower(seed, seed % 2, true); }};

// What comes while nobody receives is gone: nothing of it is told later.
const Case unwanted{"datagrams__that_nobody_receives_are_gone", 3, [](std::uint64_t seed) {
                      World world(seed, datagrams(seed % 2));
                      Shower all(world, 2);
                      while (all.sent() < 1000) {
                        all.send(0, 1);
                        world.run_for(2us);
                      }
                      world.run_for(100ms);
                      all.receive_ahead();
                      world.run_for(1s);
                      CHECK_EQ(all.arrived_at(1), 0u);
                      const auto s = world.node(1).endpoint().statistics();
                      CHECK_EQ(s.no_receive + world.network().counters().ring_full, 1000u);
                      all.check(seed % 2);
                    }};

// A node that computes keeps so many bytes for its next turn, and no more.
const Case bounded{"datagrams__kept_for_who_computes_are_bounded", 3, [](std::uint64_t seed) {
                     Setup setup = datagrams();
                     setup.config.backlog = 100'000;
                     World world(seed, setup);
                     Shower all(world, 2);
                     all.receive_ahead(4000);
                     world.run_for(1ms);
                     world.compute_until(1, world.now() + 5s);
                     const std::size_t before = all.sent();
                     while (all.sent() < before + 3000) {
                       all.send(0, 1);
                       world.run_for(1ms);
                     }
                     world.run_for(5s);
                     const std::uint64_t arrived = all.arrived_at(1);
                     CHECK(arrived > 50);
                     CHECK(arrived < 2500);
                     all.check(false);
                   }};

} // namespace
