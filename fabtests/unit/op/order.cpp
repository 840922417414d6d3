// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Reads, writes, atomics and messages of one peer in the order in which it posted them.
#include "remote.h"
#include "unit/property.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace lab;

namespace {

// Operations of one packet on the same few words, in the order of their posting, whatever order
// packets come in.
void order__is_that_of_the_posts(void **) {
  const auto property = [] {
    const bool lossless = *rc::gen::arbitrary<bool>();
    Lab l({.lossless = lossless, .max_frames = 400, .queues = {.cq_size = 4096}});
    constexpr std::size_t words = 8;
    Registered r(l, words * 8);
    std::memset(r.at(0), 0, words * 8);
    std::array<std::uint64_t, words> model{};
    struct Expected {
      Call *call;
      std::uint64_t value;
    };
    std::vector<Expected> reads;
    std::vector<Call *> all;
    std::uint64_t operand[40], result[40];
    unsigned n = 0;
    const auto steps = *rc::gen::container<std::vector<std::uint32_t>>(
        60, rc::gen::inRange<std::uint32_t>(0, 1u << 20));
    for (const std::uint32_t x : steps) {
      const std::size_t word = x / 16 % words;
      if (x % 8 < 2 && n < 40) {
        all.push_back(&write(l, Bytes(8, static_cast<std::byte>(x / 128)), word * 8));
        std::memset(&model[word], static_cast<int>(x / 128 & 0xff), 8);
      } else if (x % 8 < 3 && n < 40) {
        reads.push_back({&read(l, 8, word * 8), model[word]});
        all.push_back(reads.back().call);
      } else if (x % 8 < 4 && n < 40) {
        operand[n] = x;
        result[n] = 0;
        Call &c = l.a.calls.emplace_back(Bytes(8));
        const iovec from{&operand[n], 8}, to{c.memory.data(), 8};
        const fi_rma_iov target{word * 8, 8, key};
        const bool fetch = x / 8 % 2;
        const ssize_t rc = l.a.m->atomic(
            l.a.to(1), {.op = FI_SUM,
                        .datatype = FI_UINT64,
                        .operand = &from,
                        .compare = nullptr,
                        .result = fetch ? &to : nullptr,
                        .operand_count = 1,
                        .compare_count = 0,
                        .result_count = fetch,
                        .len = 8,
                        .targets = &target,
                        .target_count = 1,
                        .dest = 1,
                        .flags = FI_ATOMIC | FI_COMPLETION | (fetch ? FI_READ : FI_WRITE),
                        .context = &c});
        RC_ASSERT(rc == 0);
        if (fetch)
          reads.push_back({&c, model[word]});
        all.push_back(&c);
        model[word] += x;
        ++n;
      } else if (x % 8 == 4) {
        l.a.room = l.b.room = x / 8 % 3 ? SIZE_MAX : x / 32 % 3;
      } else if (x % 8 == 5) {
        l.push(0, 1), l.push(1, 0);
      } else if (auto &out = l.a.to(1).out; x % 8 == 6 && !out.empty()) {
        RC_ASSERT(l.deliver(0, 1, lossless ? 0 : x / 8 % out.size()));
      } else if (auto &back = l.b.to(0).out; !back.empty()) {
        RC_ASSERT(l.deliver(1, 0, lossless ? 0 : x / 8 % back.size()));
      }
    }
    l.a.room = l.b.room = SIZE_MAX;
    l.push(0, 1), l.push(1, 0);
    l.run();
    for (const Call *c : all)
      RC_ASSERT(c->ok());
    for (const Expected &e : reads) {
      std::uint64_t got;
      std::memcpy(&got, e.call->memory.data(), 8);
      RC_ASSERT(got == e.value);
    }
    RC_ASSERT(std::memcmp(r.at(0), model.data(), sizeof model) == 0);
    (void)result;
  };
  assert_true(unit::holds("order of RMA and atomics", property));
}

// --- Messages and what is larger than a packet

constexpr std::size_t parts = 3000, large = 40000; // bytes: in several parts; by rendezvous

// A write in parts, of which one is late; a message has overtaken it.
void message__waits_for_the_parts_of_a_write(void **) {
  for (std::size_t late = 0; late < 4; ++late) {
    Lab l;
    Registered r(l, parts);
    Call &w = write(l, pattern(parts), 0);
    Call &receive = l.b.receive(10), &second = l.b.receive(10);
    l.a.send(1, pattern(10, 2));
    l.a.send(1, pattern(10, 3));
    Call &after = write(l, pattern(8, 4), 0);
    auto &out = l.a.to(1).out;
    assert_int_equal(out.size(), 4 + 3); // of the write there are four
    while (out.size() > 1)
      assert_true(l.deliver(0, 1, out.size() > late + 1 ? out.size() - 1 : 0));
    l.b.reap();
    assert_true(receive.open() && second.open());
    assert_true(l.deliver(0, 1));
    l.b.reap();
    assert_true(receive.ok() && receive.holds(pattern(10, 2)));
    assert_true(second.ok() && second.holds(pattern(10, 3)));
    l.run();
    assert_true(w.ok() && after.ok());
    assert_true(std::memcmp(r.at(0), after.memory.data(), 8) == 0);
    assert_true(std::equal(w.memory.begin() + 8, w.memory.end(), r.at(8)));
  }
}

// The write behind a message that waits has its turn after it.
void write__behind_a_message_that_waits(void **) {
  Lab l;
  Registered r(l, parts);
  write(l, pattern(parts), 0);
  Call &receive = l.b.receive(10);
  l.a.send(1, pattern(10));
  write(l, pattern(8), 0, {.data = 5});
  auto &out = l.a.to(1).out;
  while (out.size() > 1)
    assert_true(l.deliver(0, 1, out.size() - 1));
  l.b.reap();
  assert_true(receive.open() && l.b.queues.told.empty());
  assert_true(l.deliver(0, 1));
  l.b.reap();
  assert_true(receive.ok());
  assert_int_equal(l.b.queues.told.size(), 1);
}

// With a write that fails, the message comes as well.
void message__behind_a_write_in_parts_that_fails(void **) {
  Lab l;
  Registered r(l, parts);
  Call &w = write(l, pattern(parts), 1);
  Call &receive = l.b.receive(10);
  l.a.send(1, pattern(10));
  l.run();
  assert_int_equal(w.error(), FI_EACCES);
  assert_true(receive.ok());
}

// It doesn't even leave while a write by rendezvous or a large read goes on; smaller operations on
// memory do.
void message__waits_for_bulk_data(void **) {
  for (const std::uint64_t direction : {FI_WRITE, FI_READ})
    for (const bool lossless : {false, true}) {
      Lab l({.lossless = lossless, .can_pull = false});
      Registered r(l, large);
      Call &bulk = direction == FI_WRITE ? write(l, pattern(large), 0) : read(l, large, 0);
      Call &small = write(l, pattern(8), 0);
      Call &receive = l.b.receive(10), &injected = l.b.receive(10);
      l.a.send(1, pattern(10, 2));
      l.a.send(1, pattern(10, 3), {.flags = FI_INJECT, .silent = true});
      l.push(0, 1);
      assert_false(l.a.to(1).push); // nor is it asked for again and again
      const std::vector<FrameType> out = l.a.in_flight(1);
      assert_int_equal(out.size(), 2);
      assert_true(out[0] == (direction == FI_WRITE ? FrameType::write_request : FrameType::read));
      assert_true(out[1] == FrameType::write);
      const auto order_holds = [&] {
        l.a.reap();
        l.b.reap();
        if (receive.open())
          return;
        assert_false(direction == FI_READ && bulk.open());
        if (direction == FI_WRITE)
          assert_true(std::equal(bulk.memory.begin() + 8, bulk.memory.end(), r.at(8)));
      };
      while (receive.open() || injected.open()) {
        for (const unsigned from : {0, 1}) {
          l.push(from, 1 - from);
          if (!l.side(from).to(1 - from).out.empty())
            assert_true(l.deliver(from, 1 - from));
          order_holds();
        }
      }
      assert_true(receive.holds(pattern(10, 2)) && injected.holds(pattern(10, 3)));
      l.run();
      assert_true(bulk.ok() && small.ok());
    }
}

// Also when it fails, and when the peer is lost.
void message__behind_bulk_data_that_fail(void **) {
  for (const std::uint64_t direction : {FI_WRITE, FI_READ}) {
    Lab l;
    Registered r(l, large);
    Call &bulk = direction == FI_WRITE ? write(l, pattern(large), 1) : read(l, large, 1);
    Call &send = l.a.send(1, pattern(10)), &receive = l.b.receive(10);
    l.run();
    assert_int_equal(bulk.error(), FI_EACCES);
    assert_true(send.ok() && receive.ok());

    Call &again = direction == FI_WRITE ? write(l, pattern(large), 0) : read(l, large, 0);
    Call &waits = l.a.send(1, pattern(10));
    l.a.lose(1, FI_ETIMEDOUT);
    assert_int_equal(again.error(), FI_ETIMEDOUT);
    assert_int_equal(waits.error(), FI_ETIMEDOUT);
  }
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(order__is_that_of_the_posts),
    cmocka_unit_test(message__waits_for_the_parts_of_a_write),
    cmocka_unit_test(write__behind_a_message_that_waits),
    cmocka_unit_test(message__behind_a_write_in_parts_that_fails),
    cmocka_unit_test(message__waits_for_bulk_data),
    cmocka_unit_test(message__behind_bulk_data_that_fail),
};
static const unit::Group group{"order", cases};
