// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "lab.h"

#include "dpdkx/base/log.h"
#include "unit/op/allocations.h"

#include <algorithm>

#include "unit/unit.h" // last: cmocka defines fail

namespace lab {

// --- Nodes

Node::Node(World &w, const Address &a, On on, const Options &o) : address(a), queues(o.queues) {
  engine::Links links;
  links.is_own_address = o.is_own_address;
  if (on != On::device) {
    Profile host = o.host;
    host.lossless = true;
    links.host = w.host.attach(a, host);
    if (o.wrap_host)
      links.host = o.wrap_host(std::move(links.host));
  }
  if (on != On::host)
    links.device = w.device.attach(a, o.device);
  if (links.device && o.wrap_device)
    links.device = o.wrap_device(std::move(links.device));
  engine::Config config = o.config;
  if (config.seed != 0) // each life of each endpoint has its own
    config.seed += static_cast<std::uint64_t>(w.now().time_since_epoch().count()) ^
                   std::uint64_t{a.port} << 48 ^ std::uint64_t{a.ip.back()} << 40;
  endpoint = std::make_unique<engine::Endpoint>(config, w.clock, a, std::move(links), w.book,
                                                queues.completers);
}

Node::~Node() = default;

ssize_t Node::try_send(Call &c, fi_addr_t to, const SendHow &how) {
  const op::SendRequest r = request(c, to, how);
  const std::lock_guard lock(endpoint->mutex());
  const allocations::Watch watch;
  return endpoint->send(r);
}

ssize_t Node::try_receive(Call &c, const ReceiveHow &how) {
  const op::ReceiveRequest r = request(c, how);
  const std::lock_guard lock(endpoint->mutex());
  const allocations::Watch watch;
  return endpoint->receive(r);
}

Call &Node::send(fi_addr_t to, Bytes bytes, const SendHow &how) {
  Call &c = calls.emplace_back(std::move(bytes), how.pieces);
  assert_int_equal(try_send(c, to, how), 0);
  queues.reap();
  return c;
}

Call &Node::receive(std::size_t size, const ReceiveHow &how) {
  Call &c = calls.emplace_back(Bytes(size), how.pieces);
  assert_int_equal(try_receive(c, how), 0);
  queues.reap();
  return c;
}

unsigned Node::turn() {
  unsigned work;
  {
    const std::lock_guard lock(endpoint->mutex());
    const allocations::Watch watch;
    work = endpoint->turn();
  }
  queues.reap();
  return work;
}

void Node::service() {
  const std::lock_guard lock(endpoint->mutex());
  const allocations::Watch watch;
  endpoint->service();
}

bool Node::quiet() {
  const std::lock_guard lock(endpoint->mutex());
  const bool quiet = endpoint->arm();
  endpoint->disarm();
  return quiet;
}

// --- The world

World::World(Options o, std::uint64_t seed)
    : options(std::move(o)), device(clock, seed), host(clock, seed + 1) {
  device.set_hook([this](const Departure &d) {
    std::span<const std::byte> in = d.bytes;
    const auto h = wire::decode_header(in);
    const PacketType type = h ? h->type : PacketType{};
    const Verdict v = hook ? hook(d, type) : Verdict{};
    if (records)
      seen.push_back({d.from, d.to, type, h ? h->flags : std::uint8_t{0},
                      Bytes(d.bytes.begin(), d.bytes.end()), clock.now()});
    return v;
  });
}

World::~World() {
  device.set_hook(nullptr); // may speak of what is gone
  nodes_.clear();
  assert_int_equal(device.counters().misuse, 0);
  assert_int_equal(host.counters().misuse, 0);
}

Node &World::start(On on) {
  const Address a = address(static_cast<std::uint32_t>(nodes_.size() + 1));
  if (book.reverse(a) == FI_ADDR_NOTAVAIL)
    assert_int_equal(book.add(a), nodes_.size());
  return *nodes_.emplace_back(std::make_unique<Node>(*this, a, on, options));
}

void World::kill(unsigned i) {
  device.kill(node(i).address);
  host.kill(node(i).address);
  nodes_[i]->computes = true;
}

Node &World::restart(unsigned i, On on) {
  const Address a = node(i).address;
  nodes_[i].reset();
  nodes_[i] = std::make_unique<Node>(*this, a, on, options);
  return *nodes_[i];
}

void World::close(unsigned i) {
  const std::lock_guard lock(node(i).endpoint->mutex());
  node(i).endpoint->close();
  nodes_[i]->computes = true;
}

void World::replay(const Seen &s, Duration delay) { device.inject(s.from, s.to, s.bytes, delay); }

// Turns of all nodes until none has anything to do, then on to what comes next.
void World::step(Time limit) {
  unsigned work = 0;
  Time next = limit;
  for (auto &n : nodes_) {
    if (!n || n->computes)
      continue;
    work += n->turn();
    if (const Time t = n->endpoint->deadline(); t < next)
      next = std::max(t, now() + Duration(1));
  }
  if (work != 0)
    return;
  next = std::min({next, device.next_event(), host.next_event()});
  // Each runs what is its own at that time.
  device.advance_to(next);
  host.advance_to(next);
}

bool World::run_until(const std::function<bool()> &until, Duration limit) {
  const Time end = now() + limit;
  while (!until()) {
    if (now() >= end)
      return false;
    step(end);
  }
  return true;
}

bool World::finish(std::initializer_list<const Call *> calls, Duration limit) {
  return run_until(
      [&] { return std::ranges::none_of(calls, [](const Call *c) { return c->open(); }); }, limit);
}

void World::exchange(unsigned from, unsigned to, std::size_t size) {
  const unsigned number = static_cast<unsigned>(seen.size());
  Call &r = node(to).receive(size, {.tag = number});
  Call &s = node(from).send(to, pattern(size, number), {.tag = number});
  assert_true(finish({&r, &s}));
  assert_true(r.ok() && s.ok());
  assert_true(r.holds(pattern(size, number)));
}

std::size_t World::count(PacketType type) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(seen, [=](const Seen &s) { return s.type == type; }));
}

std::span<std::byte> frames_of(std::span<std::byte> datagram) {
  std::size_t at = wire::packet_header_size;
  std::span<const std::byte> in = datagram;
  const auto h = wire::decode_header(in);
  assert_true(h && h->type == PacketType::data);
  if (h->flags & wire::packet_flag::ack_block) {
    wire::AckBlock a;
    assert_true(wire::decode_ack(in, a));
    at += a.wire_size();
  }
  return datagram.subspan(at);
}

// --- Log

static std::vector<std::string> lines; // of the one log that lives

Log::Log() {
  lines.clear();
  set_log_filter([](LogLevel) { return true; });
  set_log_sink([](LogLevel, std::string_view text) { lines.emplace_back(text); });
}

Log::~Log() {
  set_log_sink(nullptr);
  set_log_filter(nullptr);
}

bool Log::has(const std::string &part) const {
  return std::ranges::any_of(
      lines, [&](const std::string &l) { return l.find(part) != std::string::npos; });
}

} // namespace lab
