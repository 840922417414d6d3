// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "lab.h"

#include <algorithm>
#include <random>

using namespace lab;

namespace {

constexpr std::size_t large = 9000; // by rendezvous on a device
constexpr std::size_t huge = (1u << 20) + 12345;

wire::Frame cts(wire::OpId sender, std::uint64_t length, std::uint64_t receiver = 1) {
  wire::Frame f;
  f.type = FrameType::cts;
  f.cts = {sender, wire::OpId(receiver), length};
  return f;
}

wire::Frame fin(wire::OpId sender, std::uint32_t status = 0) {
  wire::Frame f;
  f.type = FrameType::fin;
  f.fin = {sender, status};
  return f;
}

const std::byte junk[64] = {};

wire::Frame rdata(wire::OpId receiver, std::uint64_t offset, std::uint16_t len) {
  wire::Frame f;
  f.type = FrameType::rdata;
  f.rdata = {.len = len, .receiver = receiver, .offset = offset, .payload = junk};
  return f;
}

// The frame in a packet that is on its way.
wire::Frame peek_at(const Packet &p, Bytes &keep) {
  keep = p.bytes();
  std::span<const std::byte> in(keep);
  wire::Frame f;
  assert_true(wire::decode_frame(in, f) == wire::FrameResult::frame);
  return f;
}

// A rendezvous whose cts is under way, from b's receive.
struct Started {
  explicit Started(Lab &l, std::size_t len = large, std::size_t room = large)
      : receive(l.b.receive(room, {.pieces = 8})), send(l.a.send(1, pattern(len), {.pieces = 8})) {
    Bytes keep;
    sender = peek_at(l.a.to(1).out[0], keep).rts.sender;
    assert_true(l.deliver(0, 1));
    receiver = peek_at(l.b.to(0).out[0], keep).cts.receiver;
  }
  Call &receive, &send;
  wire::OpId sender, receiver;
};

// --- The exchange

void rendezvous__is_rts_cts_data_fin(void **) {
  for (const bool lossless : {false, true}) {
    Lab l({.lossless = lossless, .can_pull = false});
    const std::size_t len = lossless ? 17000 : large;
    Call &s = l.a.send(1, pattern(len), {.data = 5});
    assert_true(l.a.in_flight(1) == std::vector{FrameType::rts});
    assert_true(l.deliver(0, 1));
    assert_true(l.b.in_flight(0).empty()); // nobody has posted a receive
    Call &r = l.b.receive(len + 1);
    assert_true(l.b.in_flight(0) == std::vector{FrameType::cts});
    assert_true(l.deliver(1, 0));
    assert_true(l.a.in_flight(1).empty()); // the turn pushes
    assert_true(l.a.to(1).push);
    l.push(0, 1);
    const auto types = l.a.in_flight(1);
    assert_int_equal(types.size(), (len + 979) / 980); // 20 bytes of each packet are the frame's
    assert_int_equal(std::ranges::count(types, FrameType::rdata), types.size());
    assert_true(s.open() && r.open());
    l.deliver_all(0, 1);
    assert_true(r.ok());
    assert_int_equal(r.done[0].data, 5);
    assert_true(r.starts_with(pattern(len)));
    assert_true(s.open());
    assert_true(l.b.in_flight(0) == std::vector{FrameType::fin});
    l.tell(1, 0);
    assert_true(s.open()); // acknowledged isn't ended
    assert_true(l.deliver(1, 0));
    assert_true(s.ok());
    assert_int_equal(l.a.m->counters().rendezvous, 1);
    assert_int_equal(l.b.m->counters().rendezvous, 1);
  }
}

void rdata__goes_to_its_place_in_any_order(void **) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20; ++i) {
    Lab l;
    const Started t(l);
    assert_true(l.deliver(1, 0));
    l.push(0, 1);
    while (!l.a.to(1).out.empty()) {
      assert_true(t.receive.open());
      assert_true(l.deliver(0, 1, random() % l.a.to(1).out.size()));
    }
    assert_true(t.receive.ok());
    assert_true(t.receive.holds(pattern(large)));
  }
}

// A packet that is lost is sent again from the operation's memory, fin or not.
void fin__keeps_the_memory_until_all_is_acknowledged(void **) {
  Lab l;
  const Started t(l);
  assert_true(l.deliver(1, 0));
  l.push(0, 1);
  const auto copies = l.a.to(1).out;
  l.deliver_all(0, 1);
  assert_true(l.deliver(1, 0)); // fin; no ack has come
  assert_true(t.send.open());
  for (const Packet &p : copies)
    p.bytes(); // asserts that the memory is still the operation's
  assert_false(l.a.on_frame(1, fin(t.sender)));
  l.tell(1, 0);
  assert_true(t.send.ok());
  assert_false(l.a.on_frame(1, fin(t.sender)));
}

void fin__says_how_it_went(void **) {
  struct {
    std::uint32_t status;
    int error;
  } const cases[] = {
      {FI_ENOMEM, FI_ENOMEM}, {4096, 4096}, {4097, FI_EOTHER}, {0xffffffff, FI_EOTHER}};
  for (const auto &c : cases) {
    Lab l;
    const Started t(l);
    assert_true(l.a.on_frame(1, fin(t.sender, c.status)));
    l.tell(1, 0);
    assert_int_equal(t.send.error(), c.error);
    assert_int_equal(t.send.done[0].len, large);
    assert_int_equal(l.a.queues.sends_failed(), 1);
  }
}

// At every stage of the sender.
void fin__may_come_early(void **) {
  for (int stage = 0; stage < 4; ++stage) {
    Lab l;
    const Started t(l);
    if (stage > 0)
      assert_true(l.deliver(1, 0));
    l.a.room = stage == 2 ? 3 : stage == 3 ? SIZE_MAX : 0;
    l.push(0, 1);
    assert_true(l.a.on_frame(1, fin(t.sender)));
    l.a.room = SIZE_MAX;
    l.push(0, 1); // sends nothing more of it
    assert_int_equal(l.a.in_flight(1).size(), stage == 2 ? 3 : stage == 3 ? 10 : 0);
    for (const Packet &p : l.a.to(1).out)
      p.bytes();
    l.a.to(1).out.clear();
    l.tell(1, 0);
    assert_true(t.send.ok());
    assert_true(l.a.to(1).traffic == nullptr);
  }
}

// --- What doesn't fit

void truncation__asks_for_no_more_than_fits(void **) {
  for (const bool lossless : {false, true})
    for (const bool pull : {false, true})
      for (const std::size_t room : {std::size_t{0}, std::size_t{1}, std::size_t{5000}}) {
        Lab l({.lossless = lossless, .can_pull = pull});
        Call &r = l.b.receive(room, {.pieces = 8});
        const std::size_t len = 20000;
        Call &s = l.a.send(1, pattern(len), {.data = 77});
        l.run();
        assert_true(s.ok());
        assert_int_equal(r.error(), FI_ETRUNC);
        assert_int_equal(r.done[0].len, room);
        assert_int_equal(r.done[0].olen, len - room);
        assert_int_equal(r.done[0].data, 77);
        assert_true(r.holds([&] {
          Bytes b = pattern(len);
          b.resize(room);
          return b;
        }()));
        assert_int_equal(l.b.queues.receives_failed(), 1);
      }
}

// --- Memory that the receiver reads itself

void pull__ends_with_fin_only(void **) {
  for (const std::size_t len : {std::size_t{17000}, huge}) {
    Lab l({.lossless = true});
    Call &r = l.b.receive(len, {.pieces = 8});
    Call &s = l.a.send(1, pattern(len), {.pieces = 8});
    assert_true(l.a.in_flight(1) == std::vector{FrameType::rts});
    assert_true(l.deliver(0, 1));
    assert_int_equal(l.b.pulls, len == huge ? 0 : 1); // what is large waits for its turn
    while (l.b.m->step())
      ;
    assert_int_equal(l.b.pulls, len == huge ? 2 : 1); // a mebibyte a turn
    assert_true(l.b.in_flight(0) == std::vector{FrameType::fin});
    assert_true(l.deliver(1, 0));
    l.b.reap();
    assert_true(r.ok() && s.ok());
    assert_true(r.holds(pattern(len)));
    assert_false(l.b.m->stepping());
  }
}

void pull__takes_turns(void **) {
  Lab l({.lossless = true});
  Call *receives[2] = {&l.b.receive(2 * huge), &l.b.receive(2 * huge)};
  l.a.send(1, pattern(2 * huge, 1)), l.a.send(1, pattern(2 * huge, 2));
  l.deliver_all(0, 1);
  assert_true(l.b.m->stepping());
  for (int i = 0; i < 2; ++i) { // two thirds of each, and neither is there
    assert_true(l.b.m->step());
    assert_true(l.b.m->step());
    l.b.reap();
    assert_true(receives[0]->open() && receives[1]->open());
  }
  assert_true(l.b.m->step());
  l.b.reap();
  assert_true(receives[0]->ok() && receives[1]->open());
  l.run();
  assert_true(receives[0]->holds(pattern(2 * huge, 1)));
  assert_true(receives[1]->holds(pattern(2 * huge, 2)));
}

void pull__that_is_forbidden_is_not_tried_again(void **) {
  Lab l({.lossless = true});
  l.b.pull_result = -EPERM;
  Call &r = l.b.receive(huge), &r2 = l.b.receive(20000);
  Call &s = l.a.send(1, pattern(huge));
  l.run();
  assert_int_equal(l.b.pulls, 1);
  assert_true(s.ok() && r.ok());
  assert_true(r.holds(pattern(huge)));
  l.a.send(1, pattern(20000));
  l.run();
  assert_int_equal(l.b.pulls, 1);
  assert_true(r2.ok());
}

void pull__that_fails_goes_on_by_cts(void **) {
  Lab l({.lossless = true});
  l.b.pull_result = -EFAULT;
  Call &r = l.b.receive(20000), &r2 = l.b.receive(20000);
  l.a.send(1, pattern(20000));
  l.run();
  assert_true(r.ok());
  assert_true(r.holds(pattern(20000)));
  l.b.pull_result = 0;
  l.a.send(1, pattern(20000, 2));
  l.run();
  assert_int_equal(l.b.pulls, 2); // the next may succeed
  assert_true(r2.holds(pattern(20000, 2)));
}

// Half of it has been read when it stops: all of it comes by data.
void pull__may_fail_half_way(void **) {
  Lab l({.lossless = true});
  Call &r = l.b.receive(2 * huge);
  Call &s = l.a.send(1, pattern(2 * huge));
  assert_true(l.deliver(0, 1));
  assert_true(l.b.m->step());
  l.b.pull_result = -ESRCH;
  assert_true(l.b.m->step());
  assert_false(l.b.m->stepping());
  assert_true(l.b.in_flight(0) == std::vector{FrameType::cts});
  l.run();
  assert_true(r.ok() && s.ok());
  assert_true(r.holds(pattern(2 * huge)));
}

void pull__is_offered_only_where_it_works(void **) {
  Options o;
  for (int without = 0; without < 4; ++without) {
    o.lossless = without != 0;
    o.can_pull = without != 1;
    o.limits.pull = without != 2;
    Lab l(o);
    l.a.send(1, pattern(20000), {.pieces = 8});
    Bytes keep;
    const wire::Frame f = peek_at(l.a.to(1).out[0], keep);
    assert_int_equal(f.rts.flags & wire::frame_flag::pull ? 1 : 0, without == 3 ? 1 : 0);
    if (without == 3)
      assert_int_equal(f.rts.regions, 7); // one piece is empty
    l.b.receive(20000);
    l.run();
    assert_int_equal(l.b.pulls, without == 3 ? 1 : 0);
  }
}

// --- Control frames

void control__waits_for_room_and_goes_first(void **) {
  Lab l;
  Call *receives[3];
  for (Call *&r : receives)
    r = &l.b.receive(large);
  for (unsigned i = 0; i < 3; ++i)
    l.a.send(1, pattern(large, i));
  l.b.room = 1;
  l.deliver_all(0, 1); // one cts finds room, two wait
  assert_true(l.b.in_flight(0) == std::vector{FrameType::cts});
  assert_true(l.b.to(0).push);
  l.b.send(0, pattern(1));
  l.b.room = 2;
  l.push(1, 0);
  assert_true(l.b.to(0).push);
  assert_true(l.b.in_flight(0) == (std::vector{FrameType::cts, FrameType::cts, FrameType::cts}));
  l.b.room = SIZE_MAX;
  l.push(1, 0);
  assert_false(l.b.to(0).push);
  assert_true(l.b.in_flight(0).back() == FrameType::message);
  l.run();
  for (unsigned i = 0; i < 3; ++i)
    assert_true(receives[i]->ok() && receives[i]->holds(pattern(large, i)));
}

void stream__shares_packets_among_operations(void **) {
  Lab l;
  l.b.receive(large), l.b.receive(large);
  l.a.send(1, pattern(large)), l.a.send(1, pattern(large));
  l.deliver_all(0, 1);
  l.a.room = 4;
  l.deliver_all(1, 0);
  l.push(0, 1);
  assert_true(l.a.to(1).push);
  Bytes keep;
  const auto receiver = [&](int i) { return peek_at(l.a.to(1).out[i], keep).rdata.receiver; };
  assert_true(receiver(0) != receiver(1));
  assert_true(receiver(0) == receiver(2));
  assert_true(receiver(1) == receiver(3));
}

// --- What a peer had better not send

void cts__that_makes_no_sense_is_ignored(void **) {
  Lab l({}, 3);
  const Started t(l);
  const auto generation = static_cast<std::uint64_t>(t.sender) + (std::uint64_t{2} << 32);
  assert_false(l.a.on_frame(1, cts(wire::OpId::none, 10)));
  assert_false(l.a.on_frame(1, cts(wire::OpId(generation), 10))); // the slot's next owner
  assert_false(l.a.on_frame(1, cts(wire::OpId{0xffffffffffffffff}, 10)));
  assert_false(l.a.on_frame(1, cts(t.sender, 0)));
  assert_false(l.a.on_frame(1, cts(t.sender, large + 1)));
  assert_false(l.a.on_frame(2, cts(t.sender, 10))); // somebody else's
  assert_false(l.a.to(1).push);
  assert_true(l.deliver(1, 0));
  assert_false(l.a.on_frame(1, cts(t.sender, large))); // once more
  l.run();
  assert_true(t.send.ok() && t.receive.ok());
  assert_false(l.a.on_frame(1, cts(t.sender, large))); // late
  assert_true(t.receive.holds(pattern(large)));
}

void cts__of_an_eager_message_is_ignored(void **) {
  Lab l;
  l.a.send(1, pattern(10)); // the first slot, by name: index 0, generation 2
  assert_false(l.a.on_frame(1, cts(wire::OpId{std::uint64_t{2} << 32}, 10)));
  assert_false(l.a.on_frame(1, fin(wire::OpId{std::uint64_t{2} << 32})));
  l.run();
  assert_int_equal(l.a.queues.sends_ok(), 1);
}

void fin__that_makes_no_sense_is_ignored(void **) {
  Lab l({}, 3);
  const Started t(l);
  assert_false(l.a.on_frame(1, fin(wire::OpId::none)));
  assert_false(l.a.on_frame(1, fin(wire::OpId{12345})));
  assert_false(l.a.on_frame(2, fin(t.sender)));
  l.run();
  assert_true(t.send.ok() && t.receive.ok());
}

void rdata__that_makes_no_sense_is_ignored(void **) {
  Lab l({}, 3);
  const Started t(l);
  assert_false(l.b.on_frame(0, rdata(wire::OpId::none, 0, 10)));
  assert_false(l.b.on_frame(0, rdata(wire::OpId{12345}, 0, 10)));
  assert_false(l.b.on_frame(2, rdata(t.receiver, 0, 10)));
  assert_false(l.b.on_frame(0, rdata(t.receiver, 0, 0)));
  assert_false(l.b.on_frame(0, rdata(t.receiver, large - 9, 10)));
  assert_false(l.b.on_frame(0, rdata(t.receiver, large, 1)));
  assert_false(l.b.on_frame(0, rdata(t.receiver, 0xfffffffffffffff8, 16)));
  assert_true(t.receive.holds(Bytes(large)));
  l.run();
  assert_true(t.receive.holds(pattern(large)));
  assert_false(l.b.on_frame(0, rdata(t.receiver, 0, 10))); // late
}

// More bytes than there are: some of them overlap, so others are missing.
void rdata__beyond_what_is_left_is_ignored(void **) {
  Lab l;
  const Started t(l, large, 100);
  assert_true(l.b.on_frame(0, rdata(t.receiver, 0, 60)));
  assert_false(l.b.on_frame(0, rdata(t.receiver, 10, 60)));
  assert_true(t.receive.open());
  assert_true(l.b.on_frame(0, rdata(t.receiver, 60, 40)));
  assert_int_equal(t.receive.error(), FI_ETRUNC);
}

void rdata__of_a_message_in_parts_is_ignored(void **) {
  Lab l;
  Call &r = l.b.receive(3000);
  l.a.send(1, pattern(3000));
  assert_true(l.deliver(0, 1)); // the first landing: index 0, generation 2
  assert_false(l.b.on_frame(0, rdata(wire::OpId{std::uint64_t{2} << 32}, 0, 10)));
  l.run();
  assert_true(r.ok());
}

void rdata__of_a_message_that_is_pulled_is_ignored(void **) {
  Lab l({.lossless = true});
  Call &r = l.b.receive(2 * huge);
  l.a.send(1, pattern(2 * huge));
  assert_true(l.deliver(0, 1));
  assert_false(l.b.on_frame(0, rdata(wire::OpId{std::uint64_t{2} << 32}, 0, 10)));
  l.run();
  assert_true(r.ok());
  assert_true(r.holds(pattern(2 * huge)));
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(rendezvous__is_rts_cts_data_fin),
    cmocka_unit_test(rdata__goes_to_its_place_in_any_order),
    cmocka_unit_test(fin__keeps_the_memory_until_all_is_acknowledged),
    cmocka_unit_test(fin__says_how_it_went),
    cmocka_unit_test(fin__may_come_early),
    cmocka_unit_test(truncation__asks_for_no_more_than_fits),
    cmocka_unit_test(pull__ends_with_fin_only),
    cmocka_unit_test(pull__takes_turns),
    cmocka_unit_test(pull__that_is_forbidden_is_not_tried_again),
    cmocka_unit_test(pull__that_fails_goes_on_by_cts),
    cmocka_unit_test(pull__may_fail_half_way),
    cmocka_unit_test(pull__is_offered_only_where_it_works),
    cmocka_unit_test(control__waits_for_room_and_goes_first),
    cmocka_unit_test(stream__shares_packets_among_operations),
    cmocka_unit_test(cts__that_makes_no_sense_is_ignored),
    cmocka_unit_test(cts__of_an_eager_message_is_ignored),
    cmocka_unit_test(fin__that_makes_no_sense_is_ignored),
    cmocka_unit_test(rdata__that_makes_no_sense_is_ignored),
    cmocka_unit_test(rdata__beyond_what_is_left_is_ignored),
    cmocka_unit_test(rdata__of_a_message_in_parts_is_ignored),
    cmocka_unit_test(rdata__of_a_message_that_is_pulled_is_ignored),
};
static const unit::Group group{"rendezvous", cases};
