// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// World's calls on endpoints, and what it says when something is wrong.
#include "sim/common/world.h"

#include "sim/common/check.h"

#include <algorithm>

namespace sim {

using namespace dpdkx;

namespace {
constexpr Duration acceptance_limit = 60s;
}

// `n` pieces of about one size; the first takes the rest.
std::vector<iovec> cut(std::span<std::byte> memory, std::size_t n) {
  std::vector<iovec> iov;
  const std::size_t each = memory.size() / n;
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t len = i == 0 ? memory.size() - each * (n - 1) : each;
    iov.push_back({memory.data() + at, len});
    at += len;
  }
  return iov;
}

Op &World::new_op(NodeId id, std::vector<std::byte> memory,
                  std::function<void(Op &, const Done &)> on_done) {
  Op &op = *ops_.emplace_back(std::make_unique<Op>());
  op.node = id;
  op.memory = std::move(memory);
  op.on_done = std::move(on_done);
  return op;
}

void World::forget(Op &op) {
  open_.erase(&op);
  op.memory = {};
  op.on_done = nullptr;
}

Op &World::insist(Op &op, const char *what, const std::function<ssize_t()> &call) {
  ssize_t rc = -FI_EAGAIN;
  run_until([&] { return (rc = call()) != -FI_EAGAIN; }, acceptance_limit, what);
  CHECK_EQ(rc, 0);
  return op;
}

Op *World::attempt(Op &op, const std::function<ssize_t()> &call) {
  const ssize_t rc = call();
  if (rc == 0)
    return &op;
  CHECK_EQ(rc, slots_[op.node].role == Role::connection && rc == -FI_ENOTCONN ? rc : -FI_EAGAIN);
  ops_.pop_back();
  return nullptr;
}

template <class Request> ssize_t World::post(Op &op, const Request &request) {
  const ssize_t rc = node(op.node).post(request);
  if (rc == 0)
    open_.insert(&op);
  wake(op.node);
  return rc;
}

ssize_t World::post_send(Op &op, fi_addr_t to, const SendHow &how) {
  const std::vector<iovec> iov = cut(op.memory, how.pieces);
  op.is_send = true;
  return post(op, harness::request(iov, to, how, &op));
}

ssize_t World::post_receive(Op &op, const ReceiveHow &how) {
  const std::vector<iovec> iov = cut(op.memory, how.pieces);
  op.many = (how.flags & FI_MULTI_RECV) != 0;
  return post(op, harness::request(iov, how, &op));
}

Op *World::try_send(NodeId from, fi_addr_t to, std::vector<std::byte> bytes, const SendHow &how,
                    std::function<void(Op &, const Done &)> on_done) {
  Op &op = new_op(from, std::move(bytes), std::move(on_done));
  return attempt(op, [&] { return post_send(op, to, how); });
}

Op *World::try_receive(NodeId at, std::size_t size, const ReceiveHow &how,
                       std::function<void(Op &, const Done &)> on_done) {
  Op &op = new_op(at, std::vector(size, filler), std::move(on_done));
  return attempt(op, [&] { return post_receive(op, how); });
}

Op &World::send(NodeId from, fi_addr_t to, std::vector<std::byte> bytes, const SendHow &how) {
  Op &op = new_op(from, std::move(bytes));
  return insist(op, "a send is accepted", [&] { return post_send(op, to, how); });
}

Op &World::receive(NodeId at, std::size_t size, const ReceiveHow &how) {
  Op &op = new_op(at, std::vector(size, filler));
  return insist(op, "a receive is accepted", [&] { return post_receive(op, how); });
}

// --- Peers' memory

ssize_t World::post_rma(Op &op, fi_addr_t to, std::uint64_t direction, const RemoteHow &how) {
  const std::vector<iovec> iov = cut(op.memory, how.pieces);
  const auto there = harness::targets(how, op.memory.size());
  return post(op, harness::request(iov, there, to, direction, how, &op));
}

ssize_t World::post_atomic(Op &op, fi_addr_t to, std::size_t len, const AtomicHow &how,
                           bool compares) {
  std::span<std::byte> rest(op.memory);
  std::vector<iovec> parts[3]; // operand, compare, result
  const bool wanted[] = {how.op != FI_ATOMIC_READ, compares, how.fetch || compares};
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    if (wanted[i])
      parts[i] = cut(rest.first(len), how.at.pieces);
    if (wanted[i] || i == 0)
      rest = rest.subspan(len);
  }
  const auto there = harness::targets(how.at, len);
  return post(op, harness::request({parts[0], parts[1], parts[2]}, len, there, to, how, &op));
}

namespace {
std::vector<std::byte> memory_of_atomic(std::vector<std::byte> operand, const AtomicHow &how,
                                        const std::vector<std::byte> &compare) {
  const std::size_t len = operand.size();
  operand.insert(operand.end(), compare.begin(), compare.end());
  if (how.fetch || !compare.empty())
    operand.resize(operand.size() + len, filler);
  return operand;
}
} // namespace

Op *World::try_write(NodeId from, fi_addr_t to, std::vector<std::byte> bytes, const RemoteHow &how,
                     std::function<void(Op &, const Done &)> on_done) {
  Op &op = new_op(from, std::move(bytes), std::move(on_done));
  return attempt(op, [&] { return post_rma(op, to, FI_WRITE, how); });
}

Op *World::try_read(NodeId from, fi_addr_t to, std::size_t size, const RemoteHow &how,
                    std::function<void(Op &, const Done &)> on_done) {
  Op &op = new_op(from, std::vector(size, filler), std::move(on_done));
  return attempt(op, [&] { return post_rma(op, to, FI_READ, how); });
}

Op *World::try_atomic(NodeId from, fi_addr_t to, std::vector<std::byte> operand,
                      const AtomicHow &how, std::vector<std::byte> compare,
                      std::function<void(Op &, const Done &)> on_done) {
  const std::size_t len = operand.size();
  Op &op = new_op(from, memory_of_atomic(std::move(operand), how, compare), std::move(on_done));
  return attempt(op, [&] { return post_atomic(op, to, len, how, !compare.empty()); });
}

Op &World::write(NodeId from, fi_addr_t to, std::vector<std::byte> bytes, const RemoteHow &how) {
  Op &op = new_op(from, std::move(bytes));
  return insist(op, "a write is accepted", [&] { return post_rma(op, to, FI_WRITE, how); });
}

Op &World::read(NodeId from, fi_addr_t to, std::size_t size, const RemoteHow &how) {
  Op &op = new_op(from, std::vector(size, filler));
  return insist(op, "a read is accepted", [&] { return post_rma(op, to, FI_READ, how); });
}

Op &World::atomic(NodeId from, fi_addr_t to, std::vector<std::byte> operand, const AtomicHow &how,
                  std::vector<std::byte> compare) {
  const std::size_t len = operand.size();
  Op &op = new_op(from, memory_of_atomic(std::move(operand), how, compare));
  return insist(op, "an atomic is accepted",
                [&] { return post_atomic(op, to, len, how, !compare.empty()); });
}

// --- Peers' counters

ssize_t World::post_count(Op &op, fi_addr_t to, const CounterHow &how) {
  return post(op, harness::request(to, how, &op));
}

Op *World::try_count(NodeId from, fi_addr_t to, const CounterHow &how) {
  Op &op = new_op(from);
  return attempt(op, [&] { return post_count(op, to, how); });
}

Op &World::count(NodeId from, fi_addr_t to, const CounterHow &how) {
  Op &op = new_op(from);
  return insist(op, "an add is accepted", [&] { return post_count(op, to, how); });
}

bool World::is_memory(const std::byte *p, std::size_t n) const {
  return std::ranges::any_of(ops_, [&](const auto &op) {
    const std::byte *first = op->memory.data();
    return p >= first && n <= op->memory.size() &&
           static_cast<std::size_t>(p - first) <= op->memory.size() - n;
  });
}

int World::cancel(Op &op) {
  const int rc = node(op.node).cancel(&op);
  wake(op.node);
  return rc;
}

// --- Connections

int World::connect(NodeId from, NodeId listener, std::span<const std::byte> data) {
  const int rc = node(from).connect(address_of(listener), data);
  wake(from);
  return rc;
}

int World::accept(NodeId at, const engine::ListenerSink::Request &request,
                  std::span<const std::byte> data) {
  const int rc = node(at).accept(request, data);
  wake(at);
  return rc;
}

int World::shutdown(NodeId id) {
  const int rc = node(id).shutdown();
  wake(id);
  return rc;
}

void World::reject(NodeId listener, op::Backlog::Number number, std::span<const std::byte> data) {
  node(listener).reject(number, data);
  wake(listener);
}

std::string World::dump() {
  std::string text = fmt::format("  seed {}, at {} us\n", seed_, since_start() / 1us);
  unsigned shown = 0;
  for (NodeId id = 0; id < slots_.size() && shown < 16; ++id) {
    if (!alive(id))
      continue;
    ++shown;
    const auto s = node(id).endpoint().statistics();
    const auto open = std::ranges::count_if(
        open_, [&](const void *op) { return static_cast<const Op *>(op)->node == id; });
    const Time deadline = node(id).deadline();
    text +=
        fmt::format("  node {}: open {} turns {} rx {} tx {} resent {} duplicates {} malformed {} "
                    "bad_checksum {} unknown_token {} resets {} messages sent {} received {} "
                    "unexpected {} rendezvous {} deadline {}\n",
                    id, open, s.turns, s.rx_packets, s.tx_packets, s.resent, s.duplicates,
                    s.malformed, s.bad_checksum, s.unknown_token, s.resets, s.messages_sent,
                    s.messages_received, s.unexpected, s.rendezvous,
                    deadline == never ? "never" : fmt::format("{} us", (deadline - now()) / 1us));
  }
  const auto c = network_.counters();
  return text +
         fmt::format("  network: sent {} delivered {} lost {} duplicated {} reordered {} "
                     "corrupted {} black_holed {} cut_off {} queue_full {} ring_full {} "
                     "no_receiver {} misuse {}",
                     c.sent, c.delivered, c.lost, c.duplicated, c.reordered, c.corrupted,
                     c.black_holed, c.cut_off, c.queue_full, c.ring_full, c.no_receiver, c.misuse) +
         (explain ? explain() : "");
}

} // namespace sim
