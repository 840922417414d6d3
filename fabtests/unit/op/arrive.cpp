// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "lab.h"
#include "unit/property.h"

#include <algorithm>

#include "unit/unit.h" // last: cmocka defines fail

using namespace lab;

namespace {

const Bytes junk = pattern(1000, 99);

// Of the `number`th message from a, which has sent none.
wire::Frame message(std::uint32_t number, std::uint16_t len, std::uint64_t total = 0) {
  wire::Frame f;
  f.type = FrameType::message;
  f.message.mn = MessageNumber{Options{}.first_mn + number};
  f.message.len = len;
  f.message.total = total ? total : len;
  f.message.flags = total ? wire::frame_flag::more : 0;
  f.message.payload = junk.data();
  return f;
}

wire::Frame segment(std::uint32_t number, std::uint32_t offset, std::uint16_t len) {
  wire::Frame f;
  f.type = FrameType::segment;
  f.segment = {.len = len,
               .mn = MessageNumber{Options{}.first_mn + number},
               .offset = offset,
               .payload = junk.data() + offset};
  return f;
}

// --- Order

void messages__are_executed_in_the_order_of_their_numbers(void **) {
  assert_true(unit::holds("any order of packets", [] {
    constexpr std::size_t lengths[] = {10, 2500, 0, 9000, 1500, 3, 990, 995};
    Lab l;
    for (unsigned i = 0; i < std::size(lengths); ++i)
      l.a.send(1, pattern(lengths[i], i), {.data = i});
    // Half of the receives are there before, the others come after.
    std::vector<Call *> receives;
    const auto early = *rc::gen::inRange<std::size_t>(0, std::size(lengths) + 1);
    while (receives.size() < early)
      receives.push_back(&l.b.receive(9000));
    while (!l.a.to(1).out.empty())
      RC_ASSERT(l.deliver(0, 1, *rc::gen::inRange<std::size_t>(0, l.a.to(1).out.size())));
    while (receives.size() < std::size(lengths))
      receives.push_back(&l.b.receive(9000));
    l.run();
    for (unsigned i = 0; i < std::size(lengths); ++i) {
      RC_ASSERT(receives[i]->ok());
      RC_ASSERT(receives[i]->done[0].data == i);
      RC_ASSERT(receives[i]->done[0].len == lengths[i]);
      RC_ASSERT(receives[i]->starts_with(pattern(lengths[i], i)));
    }
    RC_ASSERT(!l.b.to(0).traffic);
  }));
}

void message__before_its_turn_waits_with_a_copy_of_its_bytes(void **) {
  Lab l;
  Call &first = l.b.receive(10), &second = l.b.receive(10);
  l.a.send(1, pattern(5, 1)), l.a.send(1, pattern(5, 2));
  assert_true(l.deliver(0, 1, 1)); // the packet is gone after that
  assert_true(first.open() && second.open());
  assert_int_equal(l.b.m->counters().received, 0);
  assert_true(l.deliver(0, 1));
  assert_true(first.starts_with(pattern(5, 1)));
  assert_true(second.starts_with(pattern(5, 2)));
}

void message__once_more_is_ignored(void **) {
  Lab l;
  Call &r = l.b.receive(100), &r2 = l.b.receive(100);
  assert_true(l.b.on_frame(0, message(0, 10)));
  assert_true(r.ok());
  assert_false(l.b.on_frame(0, message(0, 10)));
  assert_false(l.b.on_frame(0, message(0xffffffff, 10)));
  assert_false(l.b.on_frame(0, segment(0, 10, 10)));
  assert_true(r2.open());
}

// Two with one number, both early: one is executed, and those behind are not held up.
void message__twice_before_its_turn_is_executed_once(void **) {
  Lab l;
  Call *r[4];
  for (Call *&receive : r)
    receive = &l.b.receive(100);
  l.b.on_frame(0, message(1, 11));
  l.b.on_frame(0, message(1, 11));
  l.b.on_frame(0, message(2, 12));
  assert_true(l.b.on_frame(0, message(0, 10)));
  for (unsigned i = 0; i < 3; ++i) {
    assert_true(r[i]->ok());
    assert_int_equal(r[i]->done[0].len, 10 + i);
  }
  assert_true(r[3]->open());
  assert_true(l.b.to(0).traffic == nullptr);
}

void lossless__knows_no_other_order(void **) {
  Lab l({.lossless = true});
  wire::Frame rts;
  rts.type = FrameType::rts;
  rts.rts = {};
  rts.rts.mn = MessageNumber{Options{}.first_mn + 1};
  assert_false(l.b.on_frame(0, message(1, 10)));
  assert_false(l.b.on_frame(0, segment(0, 10, 10)));
  assert_false(l.b.on_frame(0, rts));
  assert_true(l.b.on_frame(0, message(0, 10)));
}

// --- Parts

void segment__may_come_before_what_opens_its_message(void **) {
  Lab l;
  Call &r = l.b.receive(30);
  assert_true(l.b.on_frame(0, segment(0, 20, 10)));
  assert_true(l.b.on_frame(0, segment(0, 10, 10)));
  assert_true(r.open());
  assert_true(l.b.on_frame(0, message(0, 10, 30)));
  assert_true(r.ok());
  assert_true(std::equal(r.memory.begin(), r.memory.end(), junk.begin()));
}

void segment__that_makes_no_sense_is_ignored(void **) {
  Lab l;
  Call &r = l.b.receive(30);
  assert_true(l.b.on_frame(0, message(0, 10, 30)));
  assert_false(l.b.on_frame(0, segment(0, 30, 1)));  // at the end
  assert_false(l.b.on_frame(0, segment(0, 25, 10))); // across it
  assert_false(l.b.on_frame(0, segment(0, 500, 10)));
  assert_true(l.b.on_frame(0, segment(0, 10, 15)));
  assert_false(l.b.on_frame(0, segment(0, 10, 15))); // more than is left: it overlaps
  assert_true(r.open());
  assert_true(l.b.on_frame(0, segment(0, 25, 5)));
  assert_true(r.ok());
  assert_false(l.b.on_frame(0, segment(0, 10, 10))); // it is over
}

// The same of messages that nobody has posted a receive for.
void segment__stays_within_a_buffered_message(void **) {
  Lab l;
  assert_true(l.b.on_frame(0, message(0, 10, 30)));
  assert_false(l.b.on_frame(0, segment(0, 25, 10)));
  assert_false(l.b.on_frame(0, segment(0, 0xfffffffe, 10)));
  assert_true(l.b.on_frame(0, segment(0, 10, 20)));
  Call &r = l.b.receive(30);
  assert_true(r.ok());
}

void parts__of_several_messages_may_mix(void **) {
  Lab l;
  Call &r = l.b.receive(30), &r2 = l.b.receive(40);
  assert_true(l.b.on_frame(0, message(0, 10, 30)));
  assert_true(l.b.on_frame(0, message(1, 10, 40)));
  assert_true(l.b.on_frame(0, segment(1, 10, 30)));
  assert_true(r.open() && r2.ok()); // matched in order, done when it is there
  assert_int_equal(l.b.to(0).processed().value, Options{}.first_mn);
  assert_true(l.b.on_frame(0, segment(0, 10, 20)));
  assert_true(r.ok());
  assert_int_equal(l.b.to(0).processed().value, Options{}.first_mn + 2);
}

// --- What doesn't fit

void truncation__of_whole_messages_and_of_parts(void **) {
  for (const std::size_t len : {10, 2500})
    for (const std::size_t room : {0, 1, 9})
      for (const bool posted_first : {true, false}) {
        Lab l;
        Call &s = l.a.send(1, pattern(len), {.tag = 3});
        if (!posted_first)
          l.run();
        Call &r = l.b.receive(room, {.tag = 3, .pieces = 8});
        l.run();
        assert_true(s.ok());
        assert_int_equal(r.error(), FI_ETRUNC);
        assert_int_equal(r.done[0].olen, len - room);
        assert_int_equal(r.done[0].len, room);
        assert_int_equal(r.done[0].tag, 3);
        assert_int_equal(r.done[0].flags, FI_RECV | FI_TAGGED);
        Bytes want = pattern(len);
        want.resize(room);
        assert_true(r.holds(want));
        assert_int_equal(l.b.queues.receives_failed(), 1);
        assert_int_equal(l.b.queues.receives_ok(), 0);
      }
}

// --- Beyond the credit

void message__beyond_its_credit_is_a_violation(void **) {
  const std::uint64_t all = Options{}.credit * wire::credit_unit; // header included
  for (const std::uint64_t total : {all - 63, all, 2 * all, std::uint64_t{1} << 38, UINT64_MAX}) {
    Lab l;
    assert_false(l.b.on_frame(0, message(0, 10, total)));
    assert_true(l.b.to(0).failed_later);
    assert_int_equal(l.b.m->counters().received, 0);
  }
  Options o;
  o.limits.unexpected_peer = all; // it gets no more
  Lab l(o);
  assert_true(l.b.on_frame(0, message(0, 10, all - 64)));
  assert_false(l.b.to(0).failed_later);
  assert_false(l.b.on_frame(0, message(1, 0))); // not one unit is left
}

void message__held_beyond_its_credit_is_a_violation(void **) {
  Lab l;
  assert_true(l.b.on_frame(0, message(1, 10, 1u << 30)));
  assert_true(l.b.on_frame(0, message(2, 10)));
  assert_false(l.b.to(0).failed_later);
  assert_true(l.b.on_frame(0, message(0, 10)));
  assert_true(l.b.to(0).failed_later);
  assert_int_equal(l.b.m->counters().received, 1);
  l.b.lose(0, EPROTO);
}

// --- Other frames, and no memory

void frame__of_no_known_type_is_ignored(void **) {
  Lab l;
  wire::Frame f;
  f.type = FrameType::pad;
  assert_true(l.b.on_frame(0, f));
  f.type = FrameType{42};
  assert_false(l.b.on_frame(0, f));
}

void unexpected__without_memory_fails_the_peer(void **) {
  Lab l;
  l.b.on_frame(0, message(0, 10));
  l.b.receive(10); // the pools have room
  wire::Frame rts;
  rts.type = FrameType::rts;
  rts.rts = {};
  rts.rts.total = 100000;
  std::uint32_t number = 1;
  for (int kind = 0; kind < 3; ++kind) {
    rts.rts.mn = MessageNumber{Options{}.first_mn + number};
    const wire::Frame f = kind == 0   ? message(number, 10)
                          : kind == 1 ? message(number, 10, 20)
                                      : rts;
    ++number;
    l.b.to(0).failed_later = false;
    {
      const allocations::NoMemory none;
      l.b.on_frame(0, f);
    }
    assert_true(l.b.to(0).failed_later);
  }
  Call &nothing = l.b.peek();
  assert_int_equal(nothing.error(), FI_ENOMSG);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(messages__are_executed_in_the_order_of_their_numbers),
    cmocka_unit_test(message__before_its_turn_waits_with_a_copy_of_its_bytes),
    cmocka_unit_test(message__once_more_is_ignored),
    cmocka_unit_test(message__twice_before_its_turn_is_executed_once),
    cmocka_unit_test(lossless__knows_no_other_order),
    cmocka_unit_test(segment__may_come_before_what_opens_its_message),
    cmocka_unit_test(segment__that_makes_no_sense_is_ignored),
    cmocka_unit_test(segment__stays_within_a_buffered_message),
    cmocka_unit_test(parts__of_several_messages_may_mix),
    cmocka_unit_test(truncation__of_whole_messages_and_of_parts),
    cmocka_unit_test(message__beyond_its_credit_is_a_violation),
    cmocka_unit_test(message__held_beyond_its_credit_is_a_violation),
    cmocka_unit_test(frame__of_no_known_type_is_ignored),
    cmocka_unit_test(unexpected__without_memory_fails_the_peer),
};
static const unit::Group group{"arrive", cases};
