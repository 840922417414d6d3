// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Collective operations as schedules of deferred work (common/schedule.h), one after the other, on
// networks that lose and repeat, by ranks that come early and late. And what goes wrong where one
// tank serves two allgathers in a row.
#include "common/schedule.h"
#include "sim/common/case.h"
#include "sim/common/check.h"
#include "sim/common/firing.h"
#include "sim/common/payload.h"
#include "sim/common/world.h"

#include <algorithm>
#include <functional>
#include <memory>

namespace {

using namespace sim;
using fabtest::schedule;
using fabtest::step;

constexpr unsigned epochs = 1000;
constexpr std::uint64_t memory_key = 1; // of what each rank exposes first

// A rank: arms the steps of one operation, and when all have ended, those of the next.
class Member {
public:
  struct Plan {
    schedule steps;
    unsigned tanks;  // used in turn
    unsigned epochs; // operations in all
    std::function<void(Member &)> before, after;
  };

  Member(World &world, NodeId id, int blocks, std::size_t block_size)
      : world_(world), id_(id), block_size_(block_size),
        memory_(world.node(id).expose(static_cast<std::size_t>(blocks) * block_size)) {
    for (std::uint64_t &key : tanks_)
      key = world.node(id).export_counter();
  }
  Member(const Member &) = delete;

  NodeId id() const { return id_; }
  unsigned epoch() const { return epoch_; } // that it is in, from 1
  std::span<std::byte> block(std::size_t i) { return memory_.span(i * block_size_, block_size_); }
  bool finished() const { return epoch_ > plan_.epochs; }

  void run(Plan plan) {
    plan_ = std::move(plan);
    come();
  }

private:
  // Late, sometimes by more than an operation takes.
  void come() {
    for (Op *op : ended_)
      world_.forget(*op);
    ended_.clear();
    ++epoch_;
    if (finished())
      return;
    const auto late = 1us * (world_.random().chance(0.3) ? world_.random().below(200) : 0);
    world_.network().at(world_.now() + late, [this] { begin(); });
  }

  void begin() {
    plan_.before(*this);
    under_way_ = std::ranges::count_if(plan_.steps,
                                       [](const step &s) { return s.what != step::kind::raise; });
    Node &node = world_.node(id_);
    const std::uint64_t tank = tanks_[epoch_ % plan_.tanks];
    for (const step &s : plan_.steps)
      CHECK_EQ(node.triggers().queue(
                   {node.cntr(tank), s.level},
                   std::make_unique<Firing>([this, &s, tank] { return fire(s, tank); })),
               0);
    node.triggers().run(false);
    world_.wake(id_);
  }

  int fire(const step &s, std::uint64_t tank) {
    const auto peer = static_cast<fi_addr_t>(s.peer);
    Op *op = nullptr;
    switch (s.what) {
    case step::kind::raise:
      world_.node(id_).cntr(tank).add(s.amount);
      return 0;
    case step::kind::add:
      op = world_.try_count(id_, peer, {.key = tank, .value = s.amount});
      break;
    case step::kind::write: {
      const std::size_t at = static_cast<std::size_t>(s.first_block) * block_size_;
      const auto from = memory_.span(at, static_cast<std::size_t>(s.block_count) * block_size_);
      op = world_.try_write(id_, peer, {from.begin(), from.end()}, {.key = memory_key, .addr = at});
      break;
    }
    }
    if (!op)
      return -FI_EAGAIN;
    op->on_done = [this](Op &o, const Done &d) { ended(o, d); };
    return 0;
  }

  void ended(Op &op, const Done &d) {
    CHECK_EQ(d.err, 0);
    ended_.push_back(&op);
    if (--under_way_ == 0) {
      plan_.after(*this);
      come();
    }
  }

  World &world_;
  const NodeId id_;
  const std::size_t block_size_;
  Exposed &memory_;
  std::uint64_t tanks_[2]{};
  Plan plan_;
  unsigned epoch_ = 0;
  std::ptrdiff_t under_way_ = 0;
  std::vector<Op *> ended_;
};

class Group {
public:
  Group(World &world, NodeId ranks, int blocks, std::size_t block_size) : world_(world) {
    world.add(ranks);
    for (NodeId id = 0; id < ranks; ++id)
      members_.push_back(std::make_unique<Member>(world, id, blocks, block_size));
    world.after_turn = [&world](NodeId id) {
      if (world.alive(id) && world.node(id).triggers().run(true))
        world.wake(id);
    };
  }
  ~Group() { world_.after_turn = nullptr; }

  void run(const std::function<Member::Plan(int rank)> &plan) {
    for (const auto &m : members_)
      m->run(plan(static_cast<int>(m->id())));
  }
  bool finished() const {
    return std::ranges::all_of(members_, [](const auto &m) { return m->finished(); });
  }
  // Nobody has left an operation that somebody has not come to.
  void check_all_have_come(const Member &who) const {
    for (const auto &m : members_)
      if (m->epoch() != who.epoch() && m->epoch() != who.epoch() + 1)
        FAIL("rank {} leaves operation {}, rank {} is in {}", who.id(), who.epoch(), m->id(),
             m->epoch());
  }

private:
  World &world_;
  std::vector<std::unique_ptr<Member>> members_;
};

std::uint64_t number(unsigned epoch, std::size_t block) { return epoch * 64 + block; }

bool holds(Member &m, std::size_t block) {
  const std::span<const std::byte> there = m.block(block);
  return std::ranges::equal(there, bytes_of(there.size(), number(m.epoch(), block)));
}

void fill(Member &m, std::size_t block) {
  std::ranges::copy(bytes_of(m.block(block).size(), number(m.epoch(), block)),
                    m.block(block).begin());
}

const Faults rough{.loss = 0.05, .duplicate = 0.05, .reorder = 0.05, .corrupt = 0.02};

// For 2, 4 and 8 ranks, without faults and with.
Case on_any_network(const char *name, void (*body)(World &, NodeId ranks)) {
  return {name, 1, [body](std::uint64_t seed) {
            for (const NodeId ranks : {2, 4, 8})
              for (const bool lossless : {true, false}) {
                World world(seed, setup_for(lossless));
                if (!lossless)
                  world.network().set_faults(rough);
                body(world, ranks);
                CHECK_EQ(world.network().counters().misuse, 0u);
              }
          }};
}

const Case barriers = on_any_network("schedules__barriers", [](World &world, NodeId ranks) {
  Group group(world, ranks, 1, 8);
  group.run([&](int rank) {
    return Member::Plan{fabtest::barrier(static_cast<int>(ranks), rank), 1, epochs, [](Member &) {},
                        [&](Member &m) { group.check_all_have_come(m); }};
  });
  world.run_until([&] { return group.finished(); }, 100s, "all barriers");
});

const Case allgathers = on_any_network("schedules__allgathers", [](World &world, NodeId ranks) {
  Group group(world, ranks, static_cast<int>(ranks), 100);
  group.run([&](int rank) {
    return Member::Plan{fabtest::allgather(static_cast<int>(ranks), rank), 2, epochs,
                        [](Member &m) { fill(m, m.id()); },
                        [&](Member &m) {
                          for (NodeId i = 0; i < ranks; ++i)
                            CHECK(holds(m, i));
                        }};
  });
  world.run_until([&] { return group.finished(); }, 100s, "all allgathers");
});

void broadcasts(World &world, NodeId ranks, std::size_t blocks, std::size_t block_size,
                const std::function<schedule(int rank)> &steps) {
  Group group(world, ranks, static_cast<int>(blocks), block_size);
  group.run([&](int rank) {
    return Member::Plan{steps(rank), 1, epochs,
                        [&](Member &m) {
                          for (std::size_t i = 0; m.id() == 0 && i < blocks; ++i)
                            fill(m, i);
                        },
                        [&](Member &m) {
                          for (std::size_t i = 0; i < blocks; ++i)
                            CHECK(holds(m, i));
                        }};
  });
  world.run_until([&] { return group.finished(); }, 100s, "all broadcasts");
}

const Case branches = on_any_network("schedules__branches", [](World &world, NodeId ranks) {
  const int n = static_cast<int>(ranks);
  broadcasts(world, ranks, 1, 3000, [n](int rank) { return fabtest::branch(n, rank); });
});

const Case pipelines = on_any_network("schedules__pipelines", [](World &world, NodeId ranks) {
  const int n = static_cast<int>(ranks);
  broadcasts(world, ranks, 3, 500, [n](int rank) { return fabtest::pipeline(n, rank, 3); });
});

// With one tank, the amounts of a rank that has begun the next allgather add up to what another
// waits for in this one: it sends blocks that it has not got. These tests would see that.
const Case one_tank{"schedules__allgathers_on_one_tank_get_mixed_up", 3, [](std::uint64_t seed) {
                      constexpr NodeId ranks = 4;
                      World world(seed, setup_for(false));
                      world.network().set_faults(rough); // so that what one sends comes late
                      Group group(world, ranks, ranks, 100);
                      bool mixed_up = false;
                      group.run([&](int rank) {
                        return Member::Plan{fabtest::allgather(ranks, rank), 1, epochs,
                                            [](Member &m) { fill(m, m.id()); },
                                            [&](Member &m) {
                                              for (NodeId i = 0; i < ranks; ++i)
                                                mixed_up |= !holds(m, i);
                                            }};
                      });
                      world.run_for(2s); // most of them hang then
                      CHECK(mixed_up);
                    }};

} // namespace
