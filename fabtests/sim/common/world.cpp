// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "sim/common/world.h"

#include "sim/common/check.h"
#include "sim/common/payload.h"
#include "sim/common/trace.h"

#include <algorithm>

namespace sim {

using namespace dpdkx;

namespace {

constexpr Duration longest_pause = 1ms;

constexpr auto later = [](const auto &a, const auto &b) { return a.at > b.at; };

std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return Random(a ^ Random(b).next()).next(); }

} // namespace

World::World(std::uint64_t seed, const Setup &s)
    : setup(s), seed_(seed), network_(clock_, mix(seed, 1)), random_(mix(seed, 2)) {
  set_hook(nullptr);
}

void World::set_hook(Hook hook) {
  if (!traced.on)
    return network_.set_hook(std::move(hook));
  network_.set_hook([this, hook = std::move(hook)](const link::sim::Departure &d) {
    const Address a = address_of(traced.a), b = address_of(traced.b);
    if ((d.from == a && d.to == b) || (d.from == b && d.to == a))
      fmt::print("{:12.3f} us {} > {} {}\n",
                 std::chrono::duration<double, std::micro>(since_start()).count(),
                 book_.reverse(d.from), book_.reverse(d.to), describe(d.bytes));
    return hook ? hook(d) : link::sim::Verdict{};
  });
}

World::~World() {
  network_.set_hook(nullptr); // may speak of what is gone
  for (NodeId id = 0; id < slots_.size(); ++id)
    if (slots_[id].node)
      end(id);
}

Address World::address_of(NodeId id) { return Address::v4(0x0a000001 + id, 4000); }

NodeId World::add() { return add(setup.role); }

NodeId World::add(Role role) {
  const auto id = static_cast<NodeId>(slots_.size());
  slots_.emplace_back().address = address_of(id);
  slots_[id].role = role;
  CHECK_EQ(book_.insert(address_of(id)), id);
  start(id);
  return id;
}

NodeId World::add_stranger() {
  const auto id = static_cast<NodeId>(slots_.size());
  slots_.emplace_back().address = address_of(id);
  slots_[id].role = setup.role;
  start(id);
  return id;
}

void World::introduce(NodeId stranger) {
  CHECK_EQ(book_.insert(address_of(stranger)), stranger);
  for (NodeId id = 0; id < slots_.size(); ++id)
    if (alive(id)) {
      node(id).address_added(stranger, address_of(stranger));
      wake(id);
    }
}

void World::add(unsigned n) {
  while (n-- != 0)
    add();
}

void World::start(NodeId id) {
  Slot &slot = slots_[id];
  Setup s = setup;
  s.role = slot.role;
  s.config.seed = mix(seed_, (std::uint64_t{id} << 32 | ++slot.life) + 3) | 1;
  slot.node = std::make_unique<Node>(clock_, network_, id, slot.address, s, book_);
  slot.last_turn = slot.computes_until = {};
  wake(id);
}

void World::end(NodeId id) {
  slots_[id].node.reset();
  slots_[id].wake_at = asleep;
  std::erase_if(open_, [&](const void *op) { return static_cast<const Op *>(op)->node == id; });
}

void World::kill(NodeId id) {
  CHECK(alive(id));
  network_.kill(slots_[id].address); // before the destructor could say goodbye
  end(id);
}

void World::restart(NodeId id) {
  CHECK(!alive(id));
  start(id);
}

bool World::close(NodeId id) {
  const Time until = now() + setup.config.linger;
  while (!node(id).drained() && step(until)) {
  }
  const bool all = node(id).drained();
  node(id).close();
  drain(id);
  end(id);
  return all;
}

void World::compute_until(NodeId id, Time until) {
  slots_[id].computes_until = until;
  network_.at(now() + 100ms, [this, id] { tick(id); });
  network_.at(until, [this, id] { wake(id); });
}

// The service thread's part.
void World::tick(NodeId id) {
  if (!alive(id) || now() >= slots_[id].computes_until)
    return;
  node(id).service();
  network_.at(now() + 100ms, [this, id] { tick(id); });
}

void World::wake(NodeId id) {
  if (alive(id))
    wake_at(id, std::max(now(), slots_[id].last_turn + poll_interval));
}

void World::wake_at(NodeId id, Time at) {
  Slot &slot = slots_[id];
  if (at >= slot.wake_at)
    return;
  slot.wake_at = at;
  wakes_.push_back({at, id});
  std::ranges::push_heap(wakes_, later);
}

Time World::next_time() {
  while (!wakes_.empty() && slots_[wakes_.front().id].wake_at != wakes_.front().at) {
    std::ranges::pop_heap(wakes_, later);
    wakes_.pop_back();
  }
  return std::min(network_.next_event(), wakes_.empty() ? asleep : wakes_.front().at);
}

bool World::step(Time limit) {
  const Time next = next_time();
  if (next > limit) {
    if (limit != never)
      network_.advance_to(limit);
    return false;
  }
  network_.advance_to(next);
  network_.take_ready(ready_);
  for (const NodeId id : ready_)
    wake(id);
  ready_.clear();
  while (next_time() <= now() && !wakes_.empty() && wakes_.front().at <= now()) {
    const NodeId id = wakes_.front().id;
    std::ranges::pop_heap(wakes_, later);
    wakes_.pop_back();
    slots_[id].wake_at = asleep;
    if (alive(id) && now() >= slots_[id].computes_until)
      turn(id);
  }
  return true;
}

void World::turn(NodeId id) {
  Slot &slot = slots_[id];
  ++turns_;
  const unsigned did = node(id).turn();
  note_spinning(id, did);
  slot.last_turn = now();
  drain(id);
  if (after_turn)
    after_turn(id);
  if (!alive(id))
    return;
  Time next = did != 0 ? now() : node(id).deadline();
  // It waits for room, or to ask again: as good as polling all the time, and cheaper.
  slot.pause = did != 0 ? Duration{} : std::min(2 * slot.pause + poll_interval, longest_pause);
  if (did == 0 && !node(id).idle())
    next = std::min(next, now() + slot.pause);
  if (next != never)
    wake_at(id, std::max(next, slot.last_turn + poll_interval));
}

// An engine that asks again and again for turns in which it does nothing is at
// fault: its deadline() doesn't move, or its turn() says that it did something, and
// yet nothing comes or goes.
void World::note_spinning(NodeId id, unsigned did) {
  Slot &slot = slots_[id];
  const bool pointless = did == 0 && node(id).deadline() <= now();
  slot.empty_turns = pointless ? slot.empty_turns + 1 : 0;
  if (slot.empty_turns > 10'000)
    FAIL("node {}: deadline() stays in the past, turn() does nothing\n{}", id, dump());
  const auto s = node(id).endpoint().statistics();
  const std::uint64_t packets = s.rx_packets + s.tx_packets;
  slot.busy_turns = did != 0 && packets == slot.packets ? slot.busy_turns + 1 : 0;
  slot.packets = packets;
  if (slot.busy_turns > 10'000)
    FAIL("node {}: turn() is busy, and nothing comes or goes\n{}", id, dump());
}

void World::drain(NodeId id) {
  Done done;
  for (void *context; alive(id) && node(id).read(done, context);)
    complete(id, context, done);
}

void World::complete(NodeId id, void *context, const Done &done) {
  if (!context && done.err == 0 && on_remote)
    return on_remote(id, done);
  if (!open_.contains(context))
    FAIL("node {}: a completion with context {} that is not open: flags "
         "{:#x}, len {}, err {}\n{}",
         id, context, done.flags, done.len, done.err, dump());
  Op &op = *static_cast<Op *>(context);
  CHECK_EQ(op.node, id);
  op.done.push_back(done);
  if (op.finished())
    open_.erase(&op);
  if (op.on_done)
    op.on_done(op, op.done.back());
}

void World::run_until(const std::function<bool()> &until, Duration limit, std::string_view what) {
  const Time end = now() + limit;
  while (!until()) {
    if (step(end))
      continue;
    if (until())
      return;
    FAIL("not within {} ms: {}\n{}", limit / 1ms, what, dump());
  }
}

void World::run_for(Duration d) {
  const Time end = now() + d;
  while (step(end)) {
  }
}

bool World::run_until_done(std::span<Op *const> ops, Duration limit) {
  const Time end = now() + limit;
  const auto all = [&] { return std::ranges::all_of(ops, [](Op *op) { return op->finished(); }); };
  while (!all())
    if (!step(end))
      return all();
  return true;
}

void World::wait(Op &op, Duration limit) {
  run_until([&] { return op.finished(); }, limit, "completion");
}

} // namespace sim
