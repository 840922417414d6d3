// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The order of adds among other operations, as wire/protocol.md section 8 puts it: an add is
// applied once all data before it are in place, or have left; and a message comes after it.
#include "sim/common/case.h"
#include "sim/common/each_link.h"
#include "sim/common/exchange.h"
#include "sim/common/open_ops.h"

#include "sim/common/check.h"
#include "sim/common/payload.h"

#include <algorithm>
#include <deque>

namespace {

using namespace sim;

// What one node does at the other, nobody waiting for any of it. Each add adds 1, so that the
// counter's value is the number of the last one.
class Sequence : private OpenOps {
public:
  Sequence(World &world, NodeId from, NodeId to)
      : OpenOps(world), world_(world), random_(world.random()), from_(from), to_(to),
        memory_(world.node(to).expose(memory_size)), key_(world.node(to).export_counter()) {
    std::ranges::fill(memory_.span(sums_at, sizeof(std::uint64_t)), std::byte{0});
  }

  void step() {
    switch (random_.below(8)) {
    case 0:
      return write();
    case 1:
      return read();
    case 2:
      return sum();
    case 3:
    case 4:
      return message();
    default:
      return add();
    }
  }

  // The counter has been seen with some value.
  void check() {
    if (!world_.alive(to_))
      return;
    const std::uint64_t value = world_.node(to_).counter(key_);
    if (value > adds_.size())
      FAIL("{} adds are applied of {}", value, adds_.size());
    while (applied_ < value) {
      const std::uint64_t before = adds_[applied_++];
      for (; checked_ < before; ++checked_)
        if (!data_[checked_]())
          FAIL("add {} is applied before operation {} of {} in front of it\n{}", applied_,
               checked_ + 1, before, world_.dump());
    }
  }

  void finish() {
    check();
    CHECK_EQ(open(), 0u);
    CHECK_EQ(applied_, adds_.size());
    CHECK(memory_.margins_untouched());
  }

private:
  // The memory: what atomics add to, then a place for each operation.
  static constexpr std::size_t memory_size = 4u << 20, sums_at = 0, first_place = 16;

  // Half of them in one packet, the others in parts or by rendezvous.
  std::size_t random_size() {
    return random_.chance(0.5) ? random_.between(1, 1'000) : random_.between(1'000, 100'000);
  }

  // False: there is no more.
  bool take_place(std::size_t size, RemoteHow &how) {
    if (size > memory_size - place_)
      return false;
    how = {.key = memory_.key(),
           .addr = place_,
           .pieces = random_.between(1, 3),
           .targets = random_.between(1, 3)};
    place_ += size;
    return true;
  }

  void add() {
    CounterHow how{.key = key_};
    if (random_.chance(0.1))
      how.flags = FI_FENCE;
    const std::uint64_t number = adds_.size() + 1;
    adds_.push_back(data_.size());
    when_done(world_.count(from_, to_, how), [this, number](const Op &) {
      if (world_.node(to_).counter(key_) < number)
        FAIL("add {} has completed, and isn't applied", number);
    });
  }

  void write() {
    const std::size_t size = random_size();
    RemoteHow how;
    if (!take_place(size, how))
      return;
    const std::uint64_t number = ++numbers_;
    when_done(world_.write(from_, to_, bytes_of(size, number), how));
    data_.push_back([this, at = how.addr, size, number] {
      return std::ranges::equal(memory_.span(at, size), bytes_of(size, number));
    });
  }

  // Who sees the add may use the memory again.
  void read() {
    const std::size_t size = random_size();
    RemoteHow how;
    if (!take_place(size, how))
      return;
    const std::uint64_t number = ++numbers_;
    std::ranges::copy(bytes_of(size, number), memory_.span(how.addr, size).begin());
    when_done(world_.read(from_, to_, size, how),
              [number](const Op &op) { verify(op.memory, number); });
    data_.push_back([this, at = how.addr, size] {
      std::ranges::fill(memory_.span(at, size), std::byte{0});
      return true;
    });
  }

  void sum() {
    std::vector<std::byte> one(sizeof(std::uint64_t));
    one[0] = std::byte{1};
    when_done(world_.atomic(from_, to_, one, {.at = {.key = memory_.key(), .addr = sums_at}}));
    data_.push_back([this, sum = ++sums_] {
      std::uint64_t there;
      std::memcpy(&there, memory_.span(sums_at, sizeof there).data(), sizeof there);
      return there >= sum;
    });
  }

  void message() {
    const std::size_t size = random_size();
    const std::uint64_t number = ++numbers_;
    SendHow how{.tag = number};
    if (random_.chance(0.2))
      how.flags = FI_MATCH_COMPLETE; // by rendezvous, though it is short
    Op &receive = world_.receive(to_, size, {.tag = number, .src = from_});
    when_done(receive, [this, number, before = adds_.size()](const Op &op) {
      verify(op.memory, number);
      expect_applied(before);
    });
    when_done(world_.send(from_, to_, bytes_of(size, number), how));
    messages_.push_back({&receive, adds_.size()});
    data_.push_back([&receive] { return receive.finished(); });
  }

  // A message with so many adds in front of it has come: they are applied, but those that wait for
  // a message in front of them.
  void expect_applied(std::uint64_t before) {
    std::erase_if(messages_, [](const Message &m) { return m.receive->finished(); });
    if (!messages_.empty())
      before = std::min(before, messages_.front().adds_before);
    const std::uint64_t applied = world_.node(to_).counter(key_);
    if (applied < before)
      FAIL("a message has come before add {}, which was in front of it\n{}", applied + 1,
           world_.dump());
  }

  struct Message {
    Op *receive;
    std::uint64_t adds_before;
  };

  World &world_;
  Random &random_;
  const NodeId from_, to_;
  Exposed &memory_;
  const std::uint64_t key_;
  std::vector<std::function<bool()>> data_; // of each operation: whether its data are there
  std::vector<std::uint64_t> adds_;         // of each: operations with data before it
  std::deque<Message> messages_;            // not all of them received
  std::uint64_t applied_ = 0, checked_ = 0; // adds seen applied, operations seen in place
  std::uint64_t numbers_ = 0, sums_ = 0;
  std::size_t place_ = first_place;
};

// Two nodes at each other, and one at itself.
const Case order{"counters__add_follows_data", 8, on_each_link([](World &world) {
                   world.setup.config.pull = world.seed() % 2;
                   const NodeId a = world.add(), b = world.add();
                   Sequence sequences[] = {{world, a, b}, {world, b, a}, {world, b, b}};
                   world.after_turn = [&](NodeId) {
                     for (Sequence &s : sequences)
                       s.check();
                   };
                   for (unsigned i = 0; i < 600; ++i) {
                     sequences[world.random().below(std::size(sequences))].step();
                     if (world.random().chance(0.2))
                       world.run_for(world.random().up_to(30us));
                   }
                   world.run_for(5s);
                   for (Sequence &s : sequences)
                     s.finish();
                   world.after_turn = nullptr;
                 })};

// A process that dies leaves adds behind which wait for data that will not come: they don't count.
const Case dies{"counters__add_whose_data_never_come", 10, on_each_link([](World &world) {
                  constexpr std::size_t writes = 20, size = 30'000;
                  const std::uint64_t key = world.node(1).export_counter();
                  Exposed &memory = world.node(1).expose(writes * size);
                  exchange(world, 0, 1, 100);
                  for (std::size_t i = 0; i < writes; ++i) {
                    world.write(0, 1, bytes_of(size, i), {.key = memory.key(), .addr = i * size});
                    world.count(0, 1, {.key = key});
                  }
                  world.run_for(world.random().up_to(400us));
                  world.kill(0);
                  world.run_for(error_limit);
                  for (std::size_t i = 0; i < world.node(1).counter(key); ++i)
                    verify(memory.span(i * size, size), i);
                })};

// However late the parts are, the message behind the add is not before it.
const Case parts{"counters__message_follows_add_that_waits_for_parts", 4,
                 on_each_link([](World &world) {
                   const std::uint64_t key = world.node(1).export_counter();
                   exchange(world, 0, 1, 100);
                   for (std::uint64_t i = 1; i <= 50; ++i) {
                     constexpr std::size_t size = 5'000; // within the credit
                     Op &in_parts = world.receive(1, size), &receive = world.receive(1, 10);
                     receive.on_done = [&](Op &, const Done &) {
                       CHECK(in_parts.finished());
                       CHECK_EQ(world.node(1).counter(key), i);
                     };
                     world.send(0, 1, bytes_of(size, i));
                     Op &add = world.count(0, 1, {.key = key});
                     world.send(0, 1, bytes_of(10, i));
                     world.wait(receive);
                     world.wait(add);
                     receive.on_done = nullptr;
                   }
                 })};

// It can take for ever that somebody posts a receive, and no add waits for it.
const Case unposted{"counters__add_passes_large_message_that_nobody_receives", 3,
                    on_each_link([](World &world) {
                      const std::uint64_t key = world.node(1).export_counter();
                      constexpr std::size_t sizes[] = {10, 5'000, 100'000};
                      for (const std::size_t size : sizes)
                        world.send(0, 1, bytes_of(size, size));
                      Op &add = world.count(0, 1, {.key = key});
                      world.wait(add, 1s);
                      CHECK_EQ(add.error(), 0);
                      CHECK_EQ(world.node(1).counter(key), 1u);
                      for (const std::size_t size : sizes) {
                        Op &receive = world.receive(1, size);
                        world.wait(receive);
                        verify(receive.memory, size);
                      }
                    })};

} // namespace
