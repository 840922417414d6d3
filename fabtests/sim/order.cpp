// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The order between operations of one endpoint at another, as fi_endpoint(3) puts it and
// fi_dpdkx(7) promises it. Operations of all kinds are posted one after the other and nobody waits
// for any of them; a model that executes them in that order says what each brings back.
#include "sim/common/case.h"
#include "sim/common/memory_model.h"
#include "sim/common/world.h"

#include "sim/common/check.h"
#include "sim/common/open_ops.h"
#include "sim/common/payload.h"

#include <set>

namespace {

using namespace sim;

constexpr Faults rough{.loss = 0.05, .duplicate = 0.05, .reorder = 0.05, .corrupt = 0.05};

// What one node does at the other.
class Direction : private OpenOps {
public:
  Direction(World &world, NodeId from, NodeId to)
      : OpenOps(world), world_(world), random_(world.random()), from_(from), to_(to),
        memory_(world.node(to).expose(large_at(large_slots))), model_(small) {
    std::ranges::fill(memory_.span(0, small), std::byte{0});
    for (unsigned i = 0; i < large_slots; ++i)
      free_.push_back(i);
  }

  void step() {
    const std::uint64_t kind = random_.below(20);
    if (kind < 5)
      write();
    else if (kind < 9)
      read();
    else if (kind < 13)
      atomic();
    else if (kind < 15)
      write_then_tell();
    else if (kind < 16)
      tell_then_write();
    else if (!free_.empty())
      large(kind - 16);
  }

  // A peer has written with data.
  void told(const Done &d) {
    if (!received_.contains(d.data))
      FAIL("write {} was executed before the message in front of it", d.data);
  }

  void check() const {
    CHECK_EQ(open(), 0u);
    CHECK(std::ranges::equal(memory_.span(0, small), model_.bytes()));
    CHECK(memory_.margins_untouched());
  }

private:
  // The memory: what the model has, the flags, and slots for what is larger.
  static constexpr std::size_t small = 512, flags_at = small, flag_size = 8;
  static constexpr std::size_t ordered = 128; // bytes
  static constexpr std::size_t large_size = 100u << 10, large_slots = 6;
  static constexpr std::size_t large_at(std::size_t slot) {
    return flags_at + 2 * flag_size + slot * large_size;
  }

  RemoteHow at(std::size_t addr) {
    return {.key = memory_.key(),
            .addr = addr,
            .pieces = random_.between(1, 3),
            .targets = random_.between(1, 3)};
  }

  using Bytes = std::vector<std::byte>;
  // --- What is short enough to be ordered with everything

  void write() {
    const std::size_t n = random_.between(1, ordered), addr = random_.below(small - n + 1);
    const Bytes bytes = bytes_of(n, ++numbers_);
    RemoteHow how = at(addr);
    how.flags = random_.chance(0.1) ? FI_FENCE : 0;
    model_.write(addr, bytes);
    when_done(world_.write(from_, to_, bytes, how), {});
  }

  void read() {
    const std::size_t n = random_.between(1, ordered), addr = random_.below(small - n + 1);
    when_done(world_.read(from_, to_, n, at(addr)), [this, addr, expected = model_.read(addr, n)](
                                                        const Op &op) {
      if (op.memory != expected)
        FAIL("a read at {} brings something else than its turn had\n{}", addr, world_.dump());
    });
  }

  void atomic() {
    const auto call = MemoryModel::random_atomic(random_, small, ordered);
    AtomicHow how{
        .op = call.op, .datatype = call.datatype, .fetch = call.fetch, .at = at(call.addr)};
    how.at.pieces = how.at.targets = 1;
    how.at.flags = random_.chance(0.1) ? FI_FENCE : 0;
    const Bytes former = model_.execute(call);
    Op &op = world_.atomic(from_, to_, call.operand, how, call.compare);
    if (!call.fetch)
      return when_done(op, {});
    when_done(op, [this, call, former](const Op &o) {
      if (!std::ranges::equal(std::span(o.memory).last(former.size()), former))
        FAIL("atomic {} on datatype {} at {} brings something else than its turn had\n{}",
             static_cast<int>(call.op), static_cast<int>(call.datatype), call.addr, world_.dump());
    });
  }

  // --- Messages among them

  Op &message(std::uint64_t number, std::function<void()> received) {
    when_done(world_.receive(to_, 64, {.tag = number, .src = from_}),
              [received = std::move(received)](const Op &) { received(); });
    Op &op = world_.send(from_, to_, bytes_of(random_.below(64), number), {.tag = number});
    when_done(op, {});
    return op;
  }

  // A flag that says which message comes next.
  void write_then_tell() {
    const std::uint64_t number = ++numbers_;
    Bytes bytes(flag_size);
    std::memcpy(bytes.data(), &number, flag_size);
    when_done(world_.write(from_, to_, bytes, at(flags_at)), {});
    message(number, [this, number] {
      std::uint64_t there;
      std::memcpy(&there, memory_.span(flags_at, flag_size).data(), flag_size);
      if (there < number)
        FAIL("message {} has overtaken the write in front of it", number);
    });
  }

  void tell_then_write() {
    const std::uint64_t number = ++numbers_;
    message(number, [this, number] { received_.insert(number); });
    RemoteHow how = at(flags_at + flag_size);
    how.data = number;
    when_done(world_.write(from_, to_, Bytes(flag_size), how), {});
  }

  // --- What is larger: ordered with messages, and by fences

  void large(std::uint64_t kind) {
    const unsigned slot = free_.back();
    free_.pop_back();
    const std::size_t size = random_.between(ordered + 1, large_size);
    switch (kind) {
    case 0:
      return large_write_then_tell(slot, size);
    case 1:
      return large_read_then_tell(slot, size);
    case 2:
      return large_write_then_fence(slot, size);
    default:
      return large_read_then_fence(slot, size);
    }
  }

  // Both operations of a pair free the slot.
  std::function<void()> freeing(unsigned slot) {
    auto left = std::make_shared<unsigned>(2);
    return [this, left, slot] {
      if (--*left == 0)
        free_.push_back(slot);
    };
  }

  std::span<std::byte> large_memory(unsigned slot, std::size_t size) {
    return memory_.span(large_at(slot), size);
  }

  // What it writes, by number.
  std::uint64_t large_write(unsigned slot, std::size_t size, const std::function<void()> &freed) {
    const std::uint64_t number = ++numbers_;
    when_done(world_.write(from_, to_, bytes_of(size, number), at(large_at(slot))),
              [freed](const Op &) { freed(); });
    return number;
  }

  // What it finds there, by number.
  std::uint64_t large_read(unsigned slot, std::size_t size, const std::function<void()> &freed) {
    const std::uint64_t number = ++numbers_;
    std::ranges::copy(bytes_of(size, number), large_memory(slot, size).begin());
    when_done(world_.read(from_, to_, size, at(large_at(slot))), [number, freed](const Op &op) {
      verify(op.memory, number);
      freed();
    });
    return number;
  }

  void large_write_then_tell(unsigned slot, std::size_t size) {
    const auto freed = freeing(slot);
    const std::uint64_t number = large_write(slot, size, freed);
    message(number, [this, slot, size, number, freed] {
      verify(large_memory(slot, size), number);
      freed();
    });
  }

  // Whoever has the message may use the memory again.
  void large_read_then_tell(unsigned slot, std::size_t size) {
    const auto freed = freeing(slot);
    message(large_read(slot, size, freed), [this, slot, size, freed] {
      std::ranges::fill(large_memory(slot, size), std::byte{0});
      freed();
    });
  }

  void large_write_then_fence(unsigned slot, std::size_t size) {
    const auto freed = freeing(slot);
    const std::uint64_t number = large_write(slot, size, freed);
    RemoteHow how = at(large_at(slot));
    how.flags = FI_FENCE;
    when_done(world_.read(from_, to_, size, how), [number, freed](const Op &op) {
      verify(op.memory, number);
      freed();
    });
  }

  void large_read_then_fence(unsigned slot, std::size_t size) {
    const auto freed = freeing(slot);
    const std::uint64_t number = large_read(slot, size, freed);
    RemoteHow how = at(large_at(slot));
    how.flags = FI_FENCE;
    when_done(world_.write(from_, to_, bytes_of(size, number + 1), how),
              [this, slot, size, number, freed](const Op &) {
                verify(large_memory(slot, size), number + 1);
                freed();
              });
    ++numbers_;
  }

  World &world_;
  Random &random_;
  const NodeId from_, to_;
  Exposed &memory_;
  MemoryModel model_;
  std::vector<unsigned> free_; // slots
  std::set<std::uint64_t> received_;
  std::uint64_t numbers_ = 0;
};

// Two nodes at each other, and one at itself.
void run(std::uint64_t seed, Setup setup, const Faults &faults) {
  if (seed % 2 == 0) // everything of some length by rendezvous
    setup.config.rendezvous_host = setup.config.rendezvous_device = 2000;
  World world(seed, setup);
  world.add(2);
  world.network().set_faults(faults);
  Direction directions[] = {{world, 0, 1}, {world, 1, 0}, {world, 1, 1}};
  world.on_remote = [&](NodeId at, const Done &d) {
    directions[at == 0 ? 1 : d.src == 0 ? 0 : 2].told(d);
  };
  for (unsigned i = 0; i < 2500; ++i) {
    directions[world.random().below(std::size(directions))].step();
    if (world.random().chance(0.3))
      world.run_for(world.random().up_to(30us));
  }
  world.run_for(2s);
  for (const Direction &d : directions)
    d.check();
}

const Case clean{"order__clean", 10, [](std::uint64_t seed) { run(seed, {}, {}); }};
const Case faulty{"order__5_percent_of_each_fault", 20,
                  [](std::uint64_t seed) { run(seed, {}, rough); }};
const Case late{"order__long_delays", 10, [](std::uint64_t seed) {
                  run(seed, {}, {.reorder = 0.3, .reorder_delay = 1ms, .jitter = 60us});
                }};
const Case host{"order__lossless_link", 10,
                [](std::uint64_t seed) { run(seed, setup_for(true), {}); }};
const Case no_pull{"order__lossless_link_without_pull", 10, [](std::uint64_t seed) {
                     Setup setup = setup_for(true);
                     setup.config.pull = false;
                     run(seed, setup, {});
                   }};

} // namespace
