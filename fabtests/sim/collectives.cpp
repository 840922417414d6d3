// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// All collectives that come with the compiler, as it lowers them, on networks that lose and repeat,
// by ranks that come early and late.
#include "collc/lang/builtin.h"
#include "collc/lower/landing.h"
#include "collc/lower/lower.h"
#include "collc/run/data.h"
#include "sim/common/case.h"
#include "sim/common/check.h"
#include "sim/common/firing.h"
#include "sim/common/world.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

namespace {

using namespace sim;

constexpr unsigned epochs = 100;

// Of each path, used in turn. All ranks export as many, in one order, so that their keys are the
// same everywhere; so are those of buffers.
class Tanks {
public:
  Tanks(Node &node, std::int64_t paths, unsigned turns) : turns_(turns) {
    for (std::int64_t i = 0; i < turns * paths; ++i)
      keys_.push_back(node.export_counter());
  }
  std::uint64_t key(const collc::counter_id &id, unsigned epoch) const {
    CHECK(id.what == collc::counter_id::role::tank);
    return keys_.at(static_cast<std::size_t>(turns_ * id.path) + epoch % turns_);
  }

private:
  unsigned turns_;
  std::vector<std::uint64_t> keys_;
};

class Member {
public:
  Member(World &world, NodeId id, const collc::rank_program &program, collc::rank_schedule schedule,
         std::int64_t paths, const collc::run::shape &shape, const collc::lowering &how)
      : world_(world), id_(id), start_copies_(program.start), finish_copies_(program.finish),
        schedule_(std::move(schedule)), tanks_(world.node(id), paths, how.tanks), data_(shape, id),
        broadcasts_(shape.what == collc::collective::broadcast), ahead_(how.ahead),
        turns_(how.landing ? how.tanks : 1) {
    for (unsigned turn = 0; turn < turns_; ++turn)
      for (const std::uint64_t size : program.sizes)
        buffers_.push_back(&world.node(id).expose(std::max<std::size_t>(size, 1)));
  }
  Member(const Member &) = delete;

  unsigned epoch() const { return epoch_; } // from 1
  bool finished() const { return epoch_ > epochs; }

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

  std::function<void(const Member &)> left; // an epoch

private:
  static constexpr std::size_t input = 0, output = 1, broadcast = 2;

  // The caller's buffers are the first ones; scratch is used in turn, if that is asked for.
  std::size_t number(int buffer) const {
    const std::size_t turn = buffer < collc::first_scratch ? 0 : epoch_ % turns_;
    return turn * (buffers_.size() / turns_) + static_cast<std::size_t>(buffer);
  }
  std::span<std::byte> span(const collc::range &r) {
    return buffers_.at(number(r.buffer))->span().subspan(r.offset, r.length);
  }
  void copy(const std::vector<collc::piece> &pieces) {
    for (const collc::piece &p : pieces)
      std::ranges::copy(span(p.from), span(p.to()).begin());
  }
  util_ext::Cntr &tank(const collc::counter_id &id) {
    return world_.node(id_).cntr(tanks_.key(id, epoch_));
  }
  // What the rank gives, and what it gets.
  template <class Buffer> std::span<std::byte> own(std::size_t buffer, const Buffer &like) {
    return buffers_.at(buffer)->span().first(like.size());
  }

  void begin() {
    data_.fill(epoch_);
    std::ranges::copy(data_.in(), own(input, data_.in()).begin());
    const std::size_t into = broadcasts_ ? broadcast : output;
    if (!data_.out().empty())
      std::ranges::copy(data_.out(), own(into, data_.out()).begin());
    copy(start_copies_);
    for (const collc::tank &t : schedule_.tanks)
      if (const std::uint64_t start = t.start + (epoch_ <= ahead_ ? t.told : 0); start != 0)
        tank(t.id).add(start);
    under_way_ = std::ranges::count_if(schedule_.works, [](const collc::work &w) {
      return w.what != collc::operation::local_add;
    });
    Node &node = world_.node(id_);
    for (const collc::work &w : schedule_.works)
      CHECK_EQ(node.triggers().queue({tank(w.trigger), w.threshold},
                                     std::make_unique<Firing>([this, &w] { return fire(w); })),
               0);
    node.triggers().run(false);
    world_.wake(id_);
    working_ = true;
  }

  int fire(const collc::work &w) {
    const auto peer = static_cast<fi_addr_t>(w.peer);
    const RemoteHow there{.key = number(w.moved.to_buffer) + 1, .addr = w.moved.to_offset};
    Op *op = nullptr;
    switch (w.what) {
    case collc::operation::local_add:
      tank(w.target).add(w.value);
      return 0;
    case collc::operation::remote_add:
      op = world_.try_count(id_, peer,
                            {.key = tanks_.key(w.target, epoch_ + w.ahead), .value = w.value});
      break;
    case collc::operation::write: {
      const auto from = span(w.moved.from);
      op = world_.try_write(id_, peer, {from.begin(), from.end()}, there);
      break;
    }
    case collc::operation::atomic: {
      const auto from = span(w.moved.from);
      op = world_.try_atomic(id_, peer, {from.begin(), from.end()},
                             {.op = FI_SUM, .datatype = FI_INT64, .at = there});
      break;
    }
    }
    if (!op)
      return -FI_EAGAIN;
    op->on_done = [this](Op &o, const Done &d) {
      CHECK_EQ(d.err, 0);
      ended_.push_back(&o);
      --under_way_;
    };
    return 0;
  }

public:
  // After a turn of the node: the epoch is over when all works are, and all has come.
  void look() {
    if (!working_ || under_way_ != 0)
      return;
    for (const collc::tank &t : schedule_.tanks)
      if (!emptied(t) && tank(t.id).value() < t.full)
        return;
    for (const collc::tank &t : schedule_.tanks)
      if (!emptied(t))
        tank(t.id).add(0 - t.full);
    working_ = false;
    copy(finish_copies_);
    if (!data_.out().empty())
      std::ranges::copy(own(broadcasts_ ? broadcast : output, data_.out()), data_.out().begin());
    CHECK(data_.right(epoch_));
    left(*this);
    come();
  }

private:
  bool emptied(const collc::tank &t) const {
    return std::ranges::any_of(schedule_.works, [&](const collc::work &w) {
      return w.why == collc::role::finish && w.target == t.id;
    });
  }

  World &world_;
  const NodeId id_;
  const std::vector<collc::piece> start_copies_, finish_copies_;
  const collc::rank_schedule schedule_;
  const Tanks tanks_;
  collc::run::data data_;
  const bool broadcasts_;
  const unsigned ahead_, turns_;
  std::vector<Exposed *> buffers_;
  unsigned epoch_ = 0;
  std::ptrdiff_t under_way_ = 0;
  bool working_ = false;
  std::vector<Op *> ended_;
};

bool rooted(collc::collective c) {
  using enum collc::collective;
  return c == broadcast || c == gather || c == scatter || c == reduce;
}

// A world with a collective's ranks.
class Collective {
public:
  Collective(World &world, const collc::algorithm &a, NodeId ranks, bool lands) {
    collc::request q;
    q.ranks = ranks;
    q.root = rooted(a.what) ? ranks - 1 : 0;
    q.bytes = a.what == collc::collective::barrier ? 0 : 24;
    collc::lowering how;
    how.counted_writes = false; // writes, and additions after them
    how.combining = collc::find_atomic("sum", "int64");
    if (lands)
      collc::let_land(how, a.what);
    collc::compiler c(a, q, how);
    world.add(ranks);
    std::int64_t paths = 1;
    for (NodeId r = 0; r < ranks; ++r)
      for (const auto &p : c.program(r).paths)
        paths = std::max(paths, p.number + 1);
    const collc::run::shape shape{a.what, ranks, q.root, static_cast<std::uint64_t>(q.bytes)};
    for (NodeId r = 0; r < ranks; ++r) {
      members_.push_back(
          std::make_unique<Member>(world, r, c.program(r), c.schedule(r), paths, shape, how));
      members_.back()->left = [this, what = a.what](const Member &who) {
        if (what == collc::collective::barrier)
          check_all_have_come(who);
      };
    }
    world.after_turn = [this, &world](NodeId id) {
      if (!world.alive(id))
        return;
      if (world.node(id).triggers().run(true))
        world.wake(id);
      members_[id]->look();
    };
    for (const auto &m : members_)
      m->come();
    world.run_until([this] { return finished(); }, 100s, a.file.c_str());
    world.after_turn = nullptr;
    CHECK_EQ(world.network().counters().misuse, 0u);
  }

private:
  bool finished() const {
    return std::ranges::all_of(members_, [](const auto &m) { return m->finished(); });
  }
  void check_all_have_come(const Member &who) const {
    for (const auto &m : members_)
      CHECK(m->epoch() >= who.epoch());
  }

  std::vector<std::unique_ptr<Member>> members_;
};

// What is combined where it comes doesn't land, nor what comes twice; barriers have no data.
bool can_land(const collc::algorithm &a, NodeId ranks) {
  return a.what != collc::collective::barrier && a.what != collc::collective::reduce &&
         !(a.file == "allgather:butterfly" && ranks == 3);
}

void run_all(std::uint64_t seed, bool lossless) {
  for (const collc::builtin &b : collc::builtins())
    for (const NodeId ranks : {2, 3, 4, 8})
      for (const bool lands : {false, true}) {
        const collc::algorithm a = collc::load(std::string(b.name));
        if ((b.name == "alltoall:butterfly" && ranks == 3) || // for powers of two
            (lands && !can_land(a, ranks)))
          continue;
        World world(seed, setup_for(lossless));
        if (!lossless)
          world.network().set_faults(
              {.loss = 0.05, .duplicate = 0.05, .reorder = 0.05, .corrupt = 0.02});
        const Collective run(world, a, ranks, lands);
      }
}

const Case on_a_good_network{"collectives__on_a_good_network", 2,
                             [](std::uint64_t seed) { run_all(seed, true); }};
const Case on_a_rough_network{"collectives__on_a_rough_network", 10,
                              [](std::uint64_t seed) { run_all(seed, false); }};

} // namespace
