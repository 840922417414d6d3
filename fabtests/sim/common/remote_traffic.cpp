// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "sim/common/remote_traffic.h"

#include "sim/common/check.h"
#include "sim/common/payload.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sim {

namespace {

constexpr std::uint64_t constant = 0xc0ffee; // the number of the bytes that are there to be read

std::vector<std::byte> bytes_of_word(std::uint64_t value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::uint64_t word_of(std::span<const std::byte> bytes) {
  std::uint64_t value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

} // namespace

RemoteTraffic::RemoteTraffic(World &world, const RemotePlan &plan)
    : world_(world), largest_((plan.largest + 63) / 64 * 64), window_(plan.window),
      sides_(world.size()) {
  for (NodeId id = 0; id < sides_.size(); ++id) {
    Side &side = sides_[id];
    side.memory = &world.node(id).expose(size());
    side.left = plan.operations / static_cast<unsigned>(sides_.size());
    const auto there = bytes_of(largest_, constant);
    std::ranges::copy(there, side.memory->span(constant_at(), largest_).begin());
    for (const Kind kind : {Kind::sum, Kind::ticket, Kind::swap})
      for (unsigned i = 0; i < elements; ++i)
        std::ranges::fill(side.memory->span(element_at(kind, i), word), std::byte{0});
  }
  world.on_remote = [this](NodeId at, const Done &d) { told(at, d); };
}

std::size_t RemoteTraffic::element_at(Kind kind, unsigned element) const {
  const auto kinds = static_cast<std::size_t>(kind) - static_cast<std::size_t>(Kind::sum);
  return injected_at(static_cast<NodeId>(sides_.size())) + (kinds * elements + element) * word;
}

std::size_t RemoteTraffic::constant_at() const { return element_at(Kind::swap, elements); }

std::size_t RemoteTraffic::random_size() {
  Random &random = world_.random();
  const auto most = static_cast<double>(largest_);
  const double u = random.unit();
  return static_cast<std::size_t>(random.chance(0.5) ? u * most : std::pow(most + 1, u) - 1);
}

RemoteHow RemoteTraffic::how_at(NodeId at, std::size_t addr) {
  Random &random = world_.random();
  return {.key = sides_[at].memory->key(),
          .addr = addr,
          .pieces = random.between(1, 4),
          .targets = random.between(1, 4)};
}

// --- Posting

void RemoteTraffic::start() {
  for (NodeId id = 0; id < sides_.size(); ++id)
    tick(id);
}

void RemoteTraffic::tick(NodeId from) {
  Side &side = sides_[from];
  while (side.left != 0 && side.under_way < window_ && post(from))
    --side.left;
  if (side.left != 0)
    world_.network().at(world_.now() + 10us + world_.random().up_to(200us),
                        [this, from] { tick(from); });
}

bool RemoteTraffic::post(NodeId from) {
  Random &random = world_.random();
  const auto to = static_cast<NodeId>(random.below(sides_.size()));
  switch (random.below(10)) {
  case 0:
  case 1:
  case 2:
    return post_write(from, to);
  case 3:
    return post_inject(from, to);
  case 4:
  case 5:
  case 6:
    return post_read(from, to);
  case 7:
    return post_atomic(from, to, Kind::sum);
  case 8:
    return post_atomic(from, to, Kind::ticket);
  default:
    return post_atomic(from, to, Kind::swap);
  }
}

bool RemoteTraffic::accepted(NodeId from, NodeId to, bool reads, const Op *op) {
  if (!op)
    return false;
  ++sides_[from].under_way;
  ++sides_[from].initiated[!reads];
  ++sides_[to].suffered[!reads];
  bytes_ += op->memory.size();
  return true;
}

bool RemoteTraffic::post_write(NodeId from, NodeId to) {
  auto &mine = sides_[from].written[to];
  const auto slot = static_cast<unsigned>(world_.random().below(slots));
  if (mine[slot].busy)
    return false; // what would come of two at once is not foretold
  const Slot next{numbers_ + 1, random_size(), slot_at(from, slot), true};
  RemoteHow how = how_at(to, next.at);
  if (world_.random().chance(0.3))
    how.data = next.number;
  if (world_.random().chance(0.5))
    how.flags = FI_DELIVERY_COMPLETE;
  const auto on_done = [=, this](Op &op, const Done &d) {
    wrote(to, sides_[from].written[to][slot]);
    done(from, op, d, FI_RMA | FI_WRITE);
  };
  if (!accepted(from, to, false,
                world_.try_write(from, to, bytes_of(next.size, next.number), how, on_done)))
    return false;
  ++numbers_;
  mine[slot] = next;
  if (how.data)
    sides_[to].to_tell.emplace(next.number, next);
  return true;
}

// One after the other to one place: short enough to be ordered.
bool RemoteTraffic::post_inject(NodeId from, NodeId to) {
  Slot &mine = sides_[from].injected[to];
  const Slot next{numbers_ + 1, 1 + world_.random().below(injected), injected_at(from)};
  RemoteHow how = how_at(to, next.at);
  how.flags = FI_INJECT;
  how.silent = true;
  Op *const op = world_.try_write(from, to, bytes_of(next.size, next.number), how);
  if (!accepted(from, to, false, op))
    return false;
  std::ranges::fill(op->memory, std::byte{0}); // it may be used again at once
  world_.forget(*op);
  --sides_[from].under_way;
  ++numbers_;
  mine = next;
  return true;
}

bool RemoteTraffic::post_read(NodeId from, NodeId to) {
  const std::size_t n = random_size();
  const auto on_done = [=, this](Op &op, const Done &d) {
    verify(op.memory, constant);
    done(from, op, d, FI_RMA | FI_READ);
  };
  return accepted(from, to, true, world_.try_read(from, to, n, how_at(to, constant_at()), on_done));
}

// Sums of anything; tickets, which are sums of one that come back; and elements that are raised by
// whoever knows what they are.
bool RemoteTraffic::post_atomic(NodeId from, NodeId to, Kind kind) {
  Random &random = world_.random();
  const auto element = static_cast<unsigned>(random.below(elements));
  AtomicHow how{.at = {.key = sides_[to].memory->key(), .addr = element_at(kind, element)}};
  how.fetch = kind != Kind::sum;
  how.at.flags = kind == Kind::sum && random.chance(0.5) ? FI_DELIVERY_COMPLETE : 0;
  std::uint64_t operand = kind == Kind::sum ? random.next() : 1, expected = 0;
  std::vector<std::byte> compare;
  if (kind == Kind::swap) {
    how.op = FI_CSWAP;
    expected = sides_[to].swaps[element];
    operand = expected + 1;
    compare = bytes_of_word(expected);
  }
  const auto on_done = [=, this](Op &op, const Done &d) {
    if (kind != Kind::sum)
      drew(to, kind, element, std::span(op.memory).last(word), expected);
    done(from, op, d, FI_ATOMIC | (kind == Kind::sum ? FI_WRITE : FI_READ));
  };
  if (!accepted(from, to, kind != Kind::sum,
                world_.try_atomic(from, to, bytes_of_word(operand), how, compare, on_done)))
    return false;
  if (kind == Kind::sum)
    sides_[to].sums[element] += operand;
  return true;
}

// --- Completions

void RemoteTraffic::done(NodeId from, Op &op, const Done &d, std::uint64_t flags) {
  if (d.err != 0)
    FAIL("node {}: an operation on remote memory fails: err {}\n{}", from, d.err, world_.dump());
  CHECK_EQ(d.flags, flags);
  CHECK_EQ(op.done.size(), 1u);
  world_.forget(op);
  --sides_[from].under_way;
}

void RemoteTraffic::wrote(NodeId to, Slot &s) {
  CHECK(s.busy);
  s.busy = false;
  verify_slot(to, s);
}

void RemoteTraffic::told(NodeId at, const Done &d) {
  CHECK_EQ(d.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
  const auto s = sides_[at].to_tell.find(d.data);
  if (s == sides_[at].to_tell.end() || !sides_[at].told.insert(d.data).second)
    FAIL("node {} is told of write {}, which is not to be told, or once more", at, d.data);
  CHECK_EQ(d.len, s->second.size);
  verify_slot(at, s->second);
}

void RemoteTraffic::drew(NodeId to, Kind kind, unsigned element, std::span<const std::byte> result,
                         std::uint64_t expected) {
  const std::uint64_t was = word_of(result);
  Side &side = sides_[to];
  if (kind == Kind::ticket) {
    side.tickets[element].push_back(was);
  } else if (was == expected) {
    CHECK_EQ(side.swaps[element], expected); // nobody else can have had it
    side.swaps[element] = expected + 1;
  }
}

void RemoteTraffic::verify_slot(NodeId at, const Slot &s) const {
  verify(sides_[at].memory->span(s.at, s.size), s.number);
}

// --- The end

bool RemoteTraffic::finished() const {
  return std::ranges::all_of(sides_, [](const Side &s) { return s.left == 0 && s.under_way == 0; });
}

std::string RemoteTraffic::unfinished() const {
  std::string text;
  for (NodeId id = 0; id < sides_.size(); ++id)
    text += fmt::format("\n  node {}: {} operations to post, {} under way", id, sides_[id].left,
                        sides_[id].under_way);
  return text;
}

Duration RemoteTraffic::run(Duration limit) {
  const Time start = world_.now();
  world_.explain = [this] { return unfinished(); };
  world_.run_until([&] { return finished(); }, limit, "all operations on remote memory");
  const Duration took = world_.now() - start;
  world_.run_for(1s); // what is injected, and whatever comes too late
  world_.explain = nullptr;
  check_memory();
  check_counters();
  return took;
}

void RemoteTraffic::check_memory() const {
  for (NodeId at = 0; at < sides_.size(); ++at) {
    const Side &side = sides_[at];
    for (NodeId writer = 0; writer < sides_.size(); ++writer) {
      if (const auto w = sides_[writer].written.find(at); w != sides_[writer].written.end())
        for (const Slot &s : w->second)
          verify_slot(at, s);
      if (const auto w = sides_[writer].injected.find(at); w != sides_[writer].injected.end())
        verify_slot(at, w->second);
    }
    CHECK_EQ(side.told.size(), side.to_tell.size());
    const auto element = [&](Kind kind, unsigned i) {
      return word_of(side.memory->span(element_at(kind, i), word));
    };
    for (unsigned i = 0; i < elements; ++i) {
      CHECK_EQ(element(Kind::sum, i), side.sums[i]);
      CHECK_EQ(element(Kind::swap, i), side.swaps[i]);
      CHECK_EQ(element(Kind::ticket, i), side.tickets[i].size());
      auto drawn = side.tickets[i];
      std::ranges::sort(drawn);
      for (std::uint64_t t = 0; t < drawn.size(); ++t)
        CHECK_EQ(drawn[t], t);
    }
    verify(side.memory->span(constant_at(), largest_), constant);
    CHECK(side.memory->margins_untouched());
  }
}

void RemoteTraffic::check_counters() {
  for (NodeId id = 0; id < sides_.size(); ++id) {
    Node &node = world_.node(id);
    const Side &side = sides_[id];
    CHECK_EQ(node.count(FI_READ).ok, side.initiated[0]);
    CHECK_EQ(node.count(FI_WRITE).ok, side.initiated[1]);
    CHECK_EQ(node.count(FI_REMOTE_READ).ok, side.suffered[0]);
    CHECK_EQ(node.count(FI_REMOTE_WRITE).ok, side.suffered[1]);
    for (const std::uint64_t what : {FI_READ, FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE})
      CHECK_EQ(node.count(what).errors, 0u);
  }
}

} // namespace sim
