// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Adds to counters of peers: that each counts once whatever the network does, that one which fails
// changes nothing, and what becomes of them when processes end. (Their order: counters_order.cpp.)
#include "sim/common/case.h"
#include "sim/common/each_link.h"
#include "sim/common/exchange.h"
#include "sim/common/recorder.h"

#include "sim/common/check.h"

#include <algorithm>

namespace {

using namespace sim;

constexpr Faults heavy{.loss = 0.1, .duplicate = 0.1, .reorder = 0.1};

// Random values, whose sums don't come about by chance; with each a 1, so that what stands in the
// last bits is how many they are.
constexpr unsigned count_bits = 20;
std::uint64_t number_of(std::uint64_t sum) { return sum % (1u << count_bits); }
std::uint64_t random_value(Random &random) { return random.next() << count_bits | 1; }

std::vector<Op *> add_often(World &world, NodeId from, NodeId to, std::uint64_t key, unsigned n) {
  std::vector<Op *> ops;
  while (n-- != 0)
    ops.push_back(&world.count(from, to, {.key = key}));
  return ops;
}

// How many of them have ended well; others with one of those errors.
std::uint64_t check_results(std::span<Op *const> ops, std::initializer_list<int> errors) {
  std::uint64_t well = 0;
  for (const Op *op : ops) {
    CHECK_EQ(op->done.size(), 1u);
    well += op->error() == 0;
    if (op->error() != 0 && std::ranges::find(errors, op->error()) == errors.end())
      FAIL("an add ends with err {}", op->error());
  }
  return well;
}

// --- Sums

// Peers that add to one counter of node 0, each with as many adds under way as it may have.
class Crowd {
public:
  Crowd(World &world, NodeId first, NodeId peers, unsigned each, std::uint64_t flags = 0)
      : world_(world), key_(world.node(0).export_counter()), flags_(flags) {
    world.after_turn = [this](NodeId id) { turned(id); };
    for (NodeId id = first; id < first + peers; ++id) {
      Peer &peer = peers_.emplace_back();
      peer.left = each;
      for (unsigned i = 0; i < std::min(window, each); ++i)
        peer.free.push_back(&world.new_op(id, {}, [this](Op &op, const Done &d) { done(op, d); }));
      first_ = first;
      post(id);
    }
  }
  ~Crowd() { world_.after_turn = nullptr; }

  void run(Duration limit) {
    world_.run_until([this] { return completed_ == posted_ && all_posted(); }, limit, "all adds");
    if (untold())
      world_.run_until([this] { return world_.node(0).counter(key_) == sum_; }, limit, "the sum");
    CHECK_EQ(world_.node(0).counter(key_), sum_);
  }
  std::uint64_t completed() const { return completed_; }

private:
  static constexpr unsigned window = 500; // of each
  struct Peer {
    unsigned left; // to post
    std::vector<Op *> free;
  };

  void post(NodeId id) {
    Peer &peer = peers_[id - first_];
    while (peer.left != 0 && !peer.free.empty()) {
      const std::uint64_t value = random_value(world_.random());
      const ssize_t rc =
          world_.post_count(*peer.free.back(), 0, {.key = key_, .value = value, .flags = flags_});
      if (rc == -FI_EAGAIN)
        return;
      CHECK_EQ(rc, 0);
      peer.free.pop_back();
      --peer.left;
      sum_ += value;
      ++posted_;
    }
  }

  void done(Op &op, const Done &d) {
    CHECK_EQ(d.err, 0);
    ++completed_;
    op.done.clear();
    peers_[op.node - first_].free.push_back(&op);
  }

  bool untold() const { return (flags_ & FI_TRANSMIT_COMPLETE) != 0; }

  // What has completed has been applied (or has left), and what has been applied was posted.
  void turned(NodeId id) {
    const std::uint64_t applied = number_of(world_.node(0).counter(key_));
    if ((applied < completed_ && !untold()) || applied > posted_)
      FAIL("{} adds are applied: {} have completed, {} are posted", applied, completed_, posted_);
    if (id >= first_)
      post(id);
  }

  bool all_posted() const {
    return std::ranges::all_of(peers_, [](const Peer &p) { return p.left == 0; });
  }

  World &world_;
  const std::uint64_t key_, flags_;
  NodeId first_ = 0;
  std::vector<Peer> peers_;
  std::uint64_t sum_ = 0, posted_ = 0, completed_ = 0;
};

const Case million{"counters__million_adds_of_8_peers_under_10_percent_loss", 1,
                   [](std::uint64_t seed) {
                     constexpr unsigned all = 1'000'000, peers = 8;
                     static_assert(all < 1u << count_bits);
                     World world(seed);
                     world.add(1 + peers);
                     world.network().set_faults(heavy);
                     Crowd crowd(world, 1, peers, all / peers);
                     crowd.run(60s);
                     world.run_for(1s);
                     CHECK_EQ(number_of(world.node(0).counter(1)), all);
                     const auto c = world.network().counters();
                     CHECK(c.lost != 0 && c.duplicated != 0);
                     note(fmt::format("{} packets lost, {} duplicated, {} ms", c.lost, c.duplicated,
                                      world.since_start() / 1ms));
                   }};

const Case sums{"counters__every_add_counts_once", 3, on_each_link([](World &world) {
                  world.add(2);
                  Crowd crowd(world, 0, 4, 5'000); // node 0 adds to its own counter
                  crowd.run(10s);
                  world.run_for(100ms);
                  CHECK_EQ(number_of(world.node(0).counter(1)), 20'000u);
                })};

const Case untold{"counters__every_add_that_nobody_is_told_of_counts_once", 3,
                  on_each_link([](World &world) {
                    world.add(2);
                    world.network().set_faults(heavy);
                    Crowd crowd(world, 0, 4, 5'000, FI_TRANSMIT_COMPLETE);
                    crowd.run(10s);
                    world.run_for(100ms);
                    CHECK_EQ(number_of(world.node(0).counter(1)), 20'000u);
                  })};

const Case modulo{"counters__adds_are_modulo_2_to_the_64", 1, on_each_link([](World &world) {
                    const std::uint64_t key = world.node(1).export_counter();
                    for (const std::uint64_t value : {std::uint64_t{5}, std::uint64_t{0} - 7})
                      world.wait(world.count(0, 1, {.key = key, .value = value}));
                    CHECK_EQ(world.node(1).counter(key), std::uint64_t{0} - 2);
                  })};

// None is lost, and none counts again when both ends send again what the other may have.
const Case cable{"counters__cable_out_for_3_seconds", 4, [](std::uint64_t seed) {
                   World world(seed);
                   world.add(2);
                   const std::uint64_t key = world.node(1).export_counter();
                   exchange(world, 0, 1, 100);
                   std::vector<Op *> ops = add_often(world, 0, 1, key, 300);
                   world.run_for(world.random().up_to(50us));
                   world.network().set_down(World::address_of(1), true);
                   for (Op *op : add_often(world, 0, 1, key, 300))
                     ops.push_back(op);
                   world.run_for(3s);
                   world.network().set_down(World::address_of(1), false);
                   check_ended(world, ops, 5s);
                   CHECK_EQ(check_results(ops, {}), 600u);
                   CHECK_EQ(world.node(1).counter(key), 600u);
                 }};

// --- Adds that fail

const Case refused{"counters__refused_add_changes_nothing", 3, on_each_link([](World &world) {
                     for (const NodeId from : {0, 1}) { // node 1 asks itself
                       const std::uint64_t good = world.node(1).export_counter();
                       const std::uint64_t readable = world.node(1).export_counter(FI_REMOTE_READ);
                       const std::uint64_t unknown = ~std::uint64_t{0};
                       std::vector<Op *> ops[3];
                       for (unsigned i = 0; i < 100; ++i) {
                         ops[0].push_back(&world.count(from, 1, {.key = good}));
                         ops[1].push_back(&world.count(from, 1, {.key = readable}));
                         ops[2].push_back(&world.count(from, 1, {.key = unknown}));
                       }
                       for (const auto &some : ops)
                         check_ended(world, some, 5s);
                       CHECK_EQ(check_results(ops[0], {}), 100u);
                       CHECK_EQ(check_results(ops[1], {FI_EACCES}), 0u);
                       CHECK_EQ(check_results(ops[2], {FI_ENOKEY}), 0u);
                       CHECK_EQ(world.node(1).counter(good), 100u);
                       CHECK_EQ(world.node(1).counter(readable), 0u);
                     }
                     const auto c = world.node(0).count(FI_WRITE);
                     CHECK_EQ(c.ok, 100u);
                     CHECK_EQ(c.errors, 200u);
                   })};

// Withdrawn at any moment: what has been applied by then has ended well, and nothing else has.
void withdraw(World &world, bool close) {
  world.add(1);
  const std::uint64_t key = world.node(1).export_counter();
  const std::uint64_t other = world.node(1).export_counter();
  exchange(world, 0, 1, 100);
  std::vector<Op *> ops, others;
  for (unsigned i = 0; i < 300; ++i) {
    ops.push_back(&world.count(i % 2 ? 0 : 2, 1, {.key = key}));
    others.push_back(&world.count(0, 1, {.key = other}));
  }
  world.run_for(world.random().up_to(100us));
  const std::uint64_t applied = world.node(1).counter(key);
  if (close)
    world.node(1).close_counter(key);
  else
    world.node(1).revoke_counter(key);
  check_ended(world, ops, 5s);
  check_ended(world, others, 5s);
  CHECK_EQ(check_results(ops, {FI_ENOKEY}), applied);
  CHECK_EQ(check_results(others, {}), 300u);
  CHECK_EQ(world.node(1).counter(other), 300u);
  if (!close)
    CHECK_EQ(world.node(1).counter(key), applied);
  exchange(world, 0, 1, 1000); // the sessions go on
  exchange(world, 2, 1, 1000);
}

const Case revoked{"counters__revoked_under_way", 10,
                   on_each_link([](World &world) { withdraw(world, false); })};
const Case closed{"counters__closed_under_way", 10,
                  on_each_link([](World &world) { withdraw(world, true); })};

// --- Ends of processes

const Case dead_target{
    "counters__target_dies", 6, [](std::uint64_t seed) {
      const bool lossless = seed % 2;
      World world(seed, setup_for(lossless));
      world.add(3);
      const std::uint64_t key = world.node(1).export_counter();
      CHECK_EQ(world.node(2).export_counter(), key);
      exchange(world, 0, 1, 100);
      const auto ops = add_often(world, 0, 1, key, 400);
      world.run_for(world.random().up_to(lossless ? 2us : 60us));
      const std::uint64_t applied = world.node(1).counter(key);
      world.kill(1);
      check_ended(world, ops, error_limit);
      const std::uint64_t well = check_results(ops, {FI_ETIMEDOUT, FI_ECONNRESET});
      if (well > applied)
        FAIL("{} adds have ended well, {} were applied", well, applied);
      const auto others = add_often(world, 0, 2, key, 100);
      check_ended(world, others, 1s);
      CHECK_EQ(check_results(others, {}), 100u);
      note(fmt::format("{} of 400 applied, {} have ended well", applied, well));
    }};

// The sum is what has completed, and at most what was under way besides; it stays.
const Case dead_initiator{"counters__initiator_dies", 6, [](std::uint64_t seed) {
                            World world(seed, setup_for(seed % 2));
                            world.add(2);
                            Recorder recorder(world);
                            const std::uint64_t key = world.node(1).export_counter();
                            exchange(world, 0, 1, 100);
                            const auto ops = add_often(world, 0, 1, key, 400);
                            world.run_for(world.random().up_to(60us));
                            const auto well = static_cast<std::uint64_t>(
                                std::ranges::count_if(ops, [](const Op *op) { return op->ok(); }));
                            world.kill(0);
                            world.run_for(error_limit);
                            const std::uint64_t applied = world.node(1).counter(key);
                            if (applied < well || applied > 400)
                              FAIL("{} adds are applied, {} had completed", applied, well);
                            world.restart(0);
                            if (seed % 2 == 0)
                              recorder.replay(World::address_of(1), 0.9, 20ms);
                            world.run_for(1s);
                            CHECK_EQ(world.node(1).counter(key), applied);
                            const auto again = add_often(world, 0, 1, key, 100);
                            check_ended(world, again, error_limit);
                            CHECK_EQ(check_results(again, {}), 100u);
                            CHECK_EQ(world.node(1).counter(key), applied + 100);
                          }};

// A new life exports under the key of the one before; nothing that was meant for that one counts.
const Case new_life{"counters__new_life_is_not_added_to", 10, [](std::uint64_t seed) {
                      World world(seed);
                      world.add(2);
                      Recorder recorder(world);
                      const std::uint64_t key = world.node(1).export_counter();
                      exchange(world, 0, 1, 100);
                      const auto ops = add_often(world, 0, 1, key, 400);
                      world.run_for(world.random().up_to(60us));
                      world.kill(1);
                      world.restart(1);
                      CHECK_EQ(world.node(1).export_counter(), key);
                      const auto replay = [&] {
                        recorder.replay(World::address_of(1), 0.9, 20ms);
                        recorder.replay(World::address_of(0), 0.9, 20ms);
                        world.run_for(world.random().up_to(30ms));
                      };
                      replay();
                      check_ended(world, ops, error_limit);
                      check_results(ops, {FI_ETIMEDOUT, FI_ECONNRESET});
                      replay();
                      world.run_for(1s);
                      CHECK_EQ(world.node(1).counter(key), 0u);
                      reach(world, 0, 1, 100, 1s);
                      const auto again = add_often(world, 0, 1, key, 100);
                      check_ended(world, again, 1s);
                      CHECK_EQ(check_results(again, {}), 100u);
                      replay();
                      CHECK_EQ(world.node(1).counter(key), 100u);
                    }};

} // namespace
