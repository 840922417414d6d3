// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Many peers: that they all work, and what an idle one costs.
#include "harness/forwarding_port.h"
#include "sim/common/case.h"
#include "sim/common/traffic.h"

#include "sim/common/check.h"
#include "sim/common/payload.h"

#include <cstdlib>
#include <malloc.h>
#include <new>

namespace {

// What has been allocated while it was switched on and not been freed since, as
// malloc counts it.
struct Ledger {
  bool on = false;
  std::size_t bytes = 0, blocks = 0;
} ledger;

// In front of each block: whether the ledger has it.
constexpr std::size_t note_size = 16;
constexpr std::size_t malloc_head = 8;

void *take(std::size_t size) {
  auto *block = static_cast<std::size_t *>(std::malloc(size + note_size));
  if (!block)
    return nullptr;
  block[0] = ledger.on ? malloc_usable_size(block) - note_size + malloc_head : 0;
  ledger.bytes += block[0];
  ledger.blocks += block[0] != 0;
  return reinterpret_cast<std::byte *>(block) + note_size;
}

void give(void *p) {
  if (!p)
    return;
  auto *block = reinterpret_cast<std::size_t *>(static_cast<std::byte *>(p) - note_size);
  ledger.bytes -= block[0];
  ledger.blocks -= block[0] != 0;
  std::free(block);
}

void *take_or_throw(std::size_t size) {
  if (void *p = take(size))
    return p;
  throw std::bad_alloc();
}

} // namespace

void *operator new(std::size_t size) { return take_or_throw(size); }
void *operator new[](std::size_t size) { return take_or_throw(size); }
void *operator new(std::size_t size, const std::nothrow_t &) noexcept { return take(size); }
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept { return take(size); }
void operator delete(void *p) noexcept { give(p); }
void operator delete[](void *p) noexcept { give(p); }
void operator delete(void *p, std::size_t) noexcept { give(p); }
void operator delete[](void *p, std::size_t) noexcept { give(p); }
void operator delete(void *p, const std::nothrow_t &) noexcept { give(p); }
void operator delete[](void *p, const std::nothrow_t &) noexcept { give(p); }

namespace {

using namespace sim;
namespace link = dpdkx::link;

class LedgerMeter final : public Meter {
public:
  void enter() override { ledger.on = true; }
  void leave() override { ledger.on = false; }
};

// What the network allocates is not the engine's.
class UnmeteredPort final : public harness::ForwardingPort {
public:
  using ForwardingPort::ForwardingPort;

  int open_path(const dpdkx::Address &to, link::PathId &path) override {
    const Off off;
    return ForwardingPort::open_path(to, path);
  }
  void close_path(link::PathId path) override {
    const Off off;
    ForwardingPort::close_path(path);
  }
  link::TxRoom reserve(link::PathId path, std::uint32_t len) override {
    const Off off;
    return ForwardingPort::reserve(path, len);
  }
  void commit(link::PathId path, const link::TxRoom &room, std::uint32_t len) override {
    const Off off;
    ForwardingPort::commit(path, room, len);
  }
  void cancel(link::PathId path, const link::TxRoom &room) override {
    const Off off;
    ForwardingPort::cancel(path, room);
  }
  void flush() override {
    const Off off;
    ForwardingPort::flush();
  }
  unsigned poll(link::RxDatagram *out, unsigned max) override {
    const Off off;
    return ForwardingPort::poll(out, max);
  }
  void release(link::RxDatagram *d, unsigned n) override {
    const Off off;
    ForwardingPort::release(d, n);
  }
  void reply(const link::RxDatagram &to, std::span<const std::byte> bytes) override {
    const Off off;
    ForwardingPort::reply(to, bytes);
  }
  unsigned poll_events(link::PathEvent *out, unsigned max, dpdkx::Time now) override {
    const Off off;
    return ForwardingPort::poll_events(out, max, now);
  }

private:
  struct Off {
    Off() { ledger.on = false; }
    ~Off() { ledger.on = was; }
    const bool was = ledger.on;
  };
};

void exchange(World &world, NodeId from, NodeId to, std::size_t size) {
  Op &receive = world.receive(to, size, {.tag = from, .src = from});
  Op &send = world.send(from, to, bytes_of(size, from), {.tag = from});
  world.wait(receive, 2s);
  world.wait(send, 2s);
  CHECK_EQ(receive.error() | send.error(), 0);
  verify(receive.memory, from);
}

// Contacts each peer, which then falls silent; returns what each one costs.
void idle_peers(std::uint64_t seed, bool lossless) {
  constexpr NodeId peers = 10'000, batch = 100;
  constexpr std::size_t most = 256;
  LedgerMeter meter;
  Setup setup = setup_for(lossless);
  setup.meter = &meter;
  setup.wrap = [](std::unique_ptr<link::Port> port) {
    return std::make_unique<UnmeteredPort>(std::move(port));
  };
  World world(seed, setup);
  world.add(); // the one that is measured
  world.setup.meter = nullptr;
  world.setup.wrap = nullptr;
  world.setup.cq_size = 16;

  std::size_t before = 0;
  const std::size_t large = 50'000; // every way of sending has been used
  for (NodeId first = 1; first <= peers; first += batch) {
    for (NodeId id = first; id < first + batch; ++id) {
      CHECK_EQ(world.add(), id);
      exchange(world, 0, id, 100);
      exchange(world, id, 0, 100);
      if (id % 10 == 0)
        exchange(world, 0, id, large), exchange(world, id, 0, large);
    }
    world.run_for(20ms);
    if (first == 1)
      before = ledger.bytes; // pools and windows that all peers share are there
    if (!lossless)           // on a lossless link they would be known to be dead
      for (NodeId id = first; id < first + batch; ++id)
        world.kill(id);
  }
  world.run_for(60s);
  const double each = static_cast<double>(ledger.bytes - before) / (peers - batch);
  note(fmt::format("{:.1f} bytes an idle peer, in {:.2f} blocks", each,
                   static_cast<double>(ledger.blocks) / peers));
  CHECK(each > 16); // else nothing was measured
  CHECK(each <= most);
}

const Case idle_lossy{"scale__idle_peer_costs_little", 1,
                      [](std::uint64_t seed) { idle_peers(seed, false); }};
const Case idle_lossless{"scale__idle_peer_on_lossless_link_costs_little", 1,
                         [](std::uint64_t seed) { idle_peers(seed, true); }};

// 10,000 addresses in the book, 1,000 of them talk, all with all at random and
// all with the first.
const Case active{"scale__thousand_active_peers_of_ten_thousand", 1, [](std::uint64_t seed) {
                    Setup setup;
                    setup.cq_size = 64;
                    World world(seed, setup);
                    world.add(1000);
                    for (NodeId id = 1000; id < 10'000; ++id)
                      world.book().insert(World::address_of(id));
                    std::vector<Op *> ops;
                    for (NodeId id = 1; id < 1000; ++id) {
                      ops.push_back(&world.receive(0, 2000, {.tag = id}));
                      ops.push_back(&world.send(id, 0, bytes_of(2000, id), {.tag = id}));
                      ops.push_back(&world.receive(id, 100, {.tag = id}));
                      ops.push_back(&world.send(0, id, bytes_of(100, id), {.tag = id}));
                    }
                    CHECK(world.run_until_done(ops, 10s));
                    for (const Op *op : ops)
                      CHECK_EQ(op->error(), 0);
                    note(fmt::format("all with one: {} ms", world.since_start() / 1ms));
                    Traffic traffic(world,
                                    {.messages = 20'000, .largest = 10'000, .largest_any = 10'000});
                    note(fmt::format("all with all: {} us", traffic.run(60s) / 1us));
                  }};

} // namespace
