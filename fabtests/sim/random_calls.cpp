// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Random sequences of calls against what fi_msg(3) and fi_tagged(3) say of
// matching. In one kind of run, every call is given the time to take effect,
// and each completion is foretold by a model. In the other, calls, arrivals and
// cancels race, and what came of it is checked afterwards.
#include "sim/common/case.h"
#include "sim/common/matching_model.h"
#include "sim/common/world.h"

#include "sim/common/check.h"
#include "sim/common/payload.h"

#include <algorithm>

namespace {

using namespace sim;

constexpr NodeId nodes = 3;
constexpr Faults rough{.loss = 0.05, .duplicate = 0.05, .reorder = 0.05, .corrupt = 0.05};

std::size_t random_size(Random &random) {
  static constexpr std::size_t below[] = {1, 64, 1'400, 4'000, 20'000, 60'000};
  return random.below(below[random.below(std::size(below))]);
}

// Few tags and masks, so that much of it matches.
std::optional<std::uint64_t> random_tag(Random &random) {
  if (random.chance(0.3))
    return std::nullopt;
  return random.below(4);
}

class Foretold {
public:
  explicit Foretold(std::uint64_t seed)
      : world_(seed, setup_for(seed % 3 == 0)), random_(world_.random()) {
    world_.add(nodes);
    if (seed % 2 == 0)
      world_.network().set_faults(rough);
    for (NodeId id = 0; id < nodes; ++id)
      world_.node(id).endpoint().set_min_multi_recv(multi_room);
  }

  void run(unsigned calls) {
    while (calls-- != 0) {
      step();
      world_.run_for(settle_time);
      compare();
    }
  }

private:
  static constexpr std::size_t multi_room = 60'000;
  static constexpr Duration settle_time = 20ms;

  void step() {
    const auto at = static_cast<NodeId>(random_.below(nodes));
    const std::uint64_t kind = random_.below(20);
    if (kind < 9)
      send(at);
    else if (kind < 15)
      receive(at);
    else if (kind < 16)
      multi_receive(at);
    else if (kind < 18)
      peek(at);
    else if (kind < 19)
      cancel(at);
    else
      finish_claim(at);
  }

  void send(NodeId from) {
    const auto to = static_cast<NodeId>(random_.below(nodes));
    const auto tag = random_tag(random_);
    const std::size_t size = random_size(random_);
    const std::uint64_t number = ++numbers_;
    SendHow how{.tag = tag, .data = number};
    if (random_.chance(0.2))
      how.flags = FI_DELIVERY_COMPLETE;
    world_.send(from, to, bytes_of(size, number), how);
    models_[to].arrive({.number = number, .from = from, .tag = tag, .size = size});
  }

  ReceiveHow random_how() {
    ReceiveHow how{.tag = random_tag(random_)};
    if (how.tag && random_.chance(0.3))
      how.ignore = random_.below(4);
    if (random_.chance(0.5))
      how.src = random_.below(nodes);
    return how;
  }

  void receive(NodeId at) {
    const ReceiveHow how = random_how();
    Op &op = world_.receive(at, random_size(random_), how);
    models_[at].post(op, how);
  }

  void multi_receive(NodeId at) {
    ReceiveHow how = random_how();
    how.flags = FI_MULTI_RECV;
    Op &op = world_.receive(at, 3 * multi_room, how);
    models_[at].post(op, how, multi_room);
  }

  void peek(NodeId at) {
    ReceiveHow how = random_how();
    static constexpr std::uint64_t kinds[] = {0, FI_CLAIM, FI_DISCARD};
    how.flags = FI_PEEK | kinds[random_.below(3)];
    Op &op = world_.receive(at, random_size(random_), how);
    if (models_[at].peek(op, how))
      claims_[at].push_back({&op, how});
  }

  void finish_claim(NodeId at) {
    if (claims_[at].empty())
      return;
    auto [op, how] = claims_[at].back();
    claims_[at].pop_back();
    how.flags = FI_CLAIM | (random_.chance(0.3) ? FI_DISCARD : 0);
    op->done.clear();
    CHECK_EQ(world_.post_receive(*op, how), 0);
    models_[at].take_claimed(*op, how.flags & FI_DISCARD);
  }

  void cancel(NodeId at) {
    Op *op = models_[at].random_posted(random_);
    if (!op)
      return;
    CHECK_EQ(world_.cancel(*op), 0);
    models_[at].cancel(*op);
  }

  void compare() {
    for (NodeId id = 0; id < nodes; ++id) {
      const std::string difference = models_[id].compare();
      if (!difference.empty())
        FAIL("node {}: {}\n{}", id, difference, world_.dump());
    }
  }

  struct Claim {
    Op *op;
    ReceiveHow how;
  };
  World world_;
  Random &random_;
  MatchingModel models_[nodes];
  std::vector<Claim> claims_[nodes];
  std::uint64_t numbers_ = 0;
};

// Sends, receives and cancels at any moment; then rest; then the rules.
class Racing {
public:
  explicit Racing(std::uint64_t seed)
      : world_(seed, setup_for(seed % 3 == 0)), random_(world_.random()) {
    world_.add(nodes);
    if (seed % 2 == 0)
      world_.network().set_faults(rough);
  }

  void run(unsigned calls) {
    while (calls-- != 0) {
      step();
      if (random_.chance(0.5))
        world_.run_for(random_.up_to(40us));
    }
    world_.run_for(1s);
    for (NodeId at = 0; at < nodes; ++at)
      check(at);
  }

private:
  struct Sent {
    NodeId from;
    std::optional<std::uint64_t> tag;
    std::uint64_t number;
    std::size_t receive = none; // index of its receive
  };
  struct Received {
    Op *op;
    ReceiveHow how;
    std::size_t message = none;
  };
  static constexpr std::size_t none = ~std::size_t{0};
  struct Side {
    std::vector<Sent> sent; // to this node, in order of sending; of one sender: in order of arrival
    std::vector<Received> receives; // in order of posting
  };

  void step() {
    const auto at = static_cast<NodeId>(random_.below(nodes));
    Side &side = sides_[at];
    const std::uint64_t kind = random_.below(10);
    if (kind < 5) {
      const auto from = static_cast<NodeId>(random_.below(nodes));
      const Sent sent{from, random_tag(random_), ++numbers_};
      if (world_.try_send(from, at, bytes_of(random_size(random_), sent.number),
                          {.tag = sent.tag, .data = sent.number}))
        side.sent.push_back(sent);
    } else if (kind < 9) {
      ReceiveHow how{.tag = random_tag(random_)};
      if (how.tag && random_.chance(0.3))
        how.ignore = random_.below(4);
      if (random_.chance(0.5))
        how.src = random_.below(nodes);
      if (Op *op = world_.try_receive(at, 60'000, how))
        side.receives.push_back({op, how});
    } else if (!side.receives.empty()) {
      Op &op = *side.receives[random_.below(side.receives.size())].op;
      const bool finished = op.finished();
      const int rc = world_.cancel(op);
      CHECK(rc == 0 || rc == -FI_ENOENT);
      CHECK(!finished || rc == -FI_ENOENT);
    }
  }

  static bool fits(const Received &r, const Sent &s) {
    return MatchingModel::fits(r.how, s.from, s.tag);
  }

  void pair_up(Side &side) {
    for (std::size_t i = 0; i < side.receives.size(); ++i) {
      Received &r = side.receives[i];
      if (!r.op->finished() || r.op->error() == FI_ECANCELED)
        continue;
      CHECK_EQ(r.op->error(), 0);
      const Done &d = r.op->done[0];
      const auto it = std::ranges::find(side.sent, d.data, &Sent::number);
      CHECK(it != side.sent.end());
      CHECK_EQ(it->receive, none); // once
      it->receive = i;
      r.message = static_cast<std::size_t>(it - side.sent.begin());
      CHECK(fits(r, *it));
      CHECK_EQ(d.src, it->from);
      verify(std::span(r.op->memory).first(d.len), it->number);
    }
  }

  void check(NodeId at) {
    Side &side = sides_[at];
    pair_up(side);
    for (std::size_t i = 0; i < side.sent.size(); ++i) {
      const Sent &s = side.sent[i];
      for (const Received &r : side.receives) {
        // Nothing waits for what is there.
        if (s.receive == none && !r.op->finished() && fits(r, s))
          FAIL("at {}: message {} and a receive wait for each other", at, s.number);
        // A later message of the same sender only if the earlier one had an older receive.
        if (r.message == none || r.message <= i || side.sent[r.message].from != s.from ||
            !fits(r, s))
          continue;
        const auto index = static_cast<std::size_t>(&r - side.receives.data());
        if (s.receive == none || s.receive > index)
          FAIL("at {}: message {} was overtaken by {}", at, s.number, side.sent[r.message].number);
      }
    }
  }

  World world_;
  Random &random_;
  Side sides_[nodes];
  std::uint64_t numbers_ = 0;
};

const Case foretold{"random_calls__as_foretold", 60,
                    [](std::uint64_t seed) { Foretold(seed).run(300); }};
const Case racing{"random_calls__racing", 60, [](std::uint64_t seed) { Racing(seed).run(400); }};

} // namespace
