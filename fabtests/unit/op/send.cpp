// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "lab.h"

using namespace lab;

namespace {

constexpr std::uint32_t frames = 1000;     // Options::max_frames
constexpr std::size_t limit_device = 8192; // Options::limits

// What goes where, in the order that messages are executed.
void assert_arrives(Lab &l, const Bytes &bytes, const SendHow &how) {
  const ReceiveHow rx{.tag = how.tag, .pieces = 8};
  Call &r = l.b.receive(bytes.size() + 5, rx);
  Call &s = l.a.send(1, bytes, how);
  l.run();
  assert_true(s.ok());
  assert_int_equal(s.done[0].flags, FI_SEND | (how.tag ? FI_TAGGED : FI_MSG));
  assert_true(r.ok());
  const Done &d = r.done[0];
  assert_int_equal(d.len, bytes.size());
  assert_true(r.starts_with(bytes));
  for (std::size_t i = bytes.size(); i < r.memory.size(); ++i)
    assert_true(r.memory[i] == std::byte{0});
  assert_int_equal(d.flags,
                   FI_RECV | (how.tag ? FI_TAGGED : FI_MSG) | (how.data ? FI_REMOTE_CQ_DATA : 0));
  assert_int_equal(d.tag, how.tag.value_or(0));
  if (how.data)
    assert_int_equal(d.data, *how.data);
  assert_int_equal(d.src, 0);
}

const SendHow kinds[] = {
    {}, {.tag = 0x123456789abcdef0}, {.data = 0xfedcba9876543210}, {.tag = 7, .data = 8}};

void send__of_any_length_arrives(void **) {
  for (const bool lossless : {false, true})
    for (SendHow how : kinds) {
      Lab l({.lossless = lossless});
      for (const std::size_t pieces : {1, 8}) {
        how.pieces = pieces;
        for (const std::size_t len : {0, 1, 7, 8, 500, 2500, 5000})
          assert_arrives(l, pattern(len), how);
        for (std::size_t len = frames - 50; len <= frames + 50; ++len)
          assert_arrives(l, pattern(len), how);
        for (std::size_t len = 2 * frames - 60; len <= 2 * frames + 20; ++len)
          assert_arrives(l, pattern(len), how);
        for (const std::size_t limit : {limit_device, std::size_t{16384}})
          for (std::size_t len = limit - 1; len <= limit + 1; ++len)
            assert_arrives(l, pattern(len), how);
      }
    }
}

void route__follows_length_and_link(void **) {
  struct {
    bool lossless;
    std::size_t len;
    FrameType first;
    std::size_t packets;
  } const expected[] = {
      {false, 0, FrameType::message, 1},          {false, frames - 8, FrameType::message, 1},
      {false, frames - 7, FrameType::message, 2}, {false, 8192, FrameType::message, 9},
      {false, 8193, FrameType::rts, 1},           {true, 8193, FrameType::message, 9},
      {true, 16384, FrameType::message, 17},      {true, 16385, FrameType::rts, 1},
  };
  for (const auto &e : expected) {
    Lab l({.lossless = e.lossless, .credit = 1024});
    l.a.send(1, pattern(e.len));
    const auto types = l.a.in_flight(1);
    assert_true(types[0] == e.first);
    assert_int_equal(types.size(), e.packets);
    for (std::size_t i = 1; i < types.size(); ++i)
      assert_true(types[i] == FrameType::segment);
  }
}

void match_complete__is_a_rendezvous_of_any_length(void **) {
  for (const std::size_t len : {0, 1, 5000}) {
    Lab l;
    Call &s = l.a.send(1, pattern(len), {.flags = FI_MATCH_COMPLETE});
    assert_true(l.a.in_flight(1) == std::vector{FrameType::rts});
    l.run();
    assert_true(s.open()); // it has arrived, and nobody has matched it
    Call &r = l.b.receive(len);
    l.run();
    assert_true(s.ok());
    assert_true(r.ok());
    assert_true(r.holds(pattern(len)));
  }
}

// --- When it is over

void transmit_complete__waits_for_the_ack_of_all_parts(void **) {
  Lab l;
  Call &whole = l.a.send(1, pattern(10));
  Call &parts = l.a.send(1, pattern(2500), {.flags = FI_TRANSMIT_COMPLETE});
  l.tell(1, 0);
  assert_true(whole.open());
  assert_true(l.deliver(0, 1));
  assert_true(whole.open()); // arrived, but that isn't known
  l.tell(1, 0);
  assert_true(whole.ok());
  assert_true(l.deliver(0, 1));
  assert_true(l.deliver(0, 1, 1)); // the last part before the one in the middle
  l.tell(1, 0);
  assert_true(parts.open());
  assert_true(l.deliver(0, 1));
  l.tell(1, 0);
  assert_true(parts.ok());
}

void transmit_complete__on_a_lossless_link_is_at_once(void **) {
  Lab l({.lossless = true});
  assert_true(l.a.send(1, pattern(10)).ok());
  assert_true(l.a.send(1, pattern(5000)).ok());
}

void inject_complete__is_when_handed_over(void **) {
  Lab l;
  assert_true(l.a.send(1, pattern(10), {.flags = FI_INJECT_COMPLETE}).ok());
  assert_true(l.a.send(1, pattern(3000), {.flags = FI_INJECT_COMPLETE}).ok());
  l.a.room = 1;
  Call &parts = l.a.send(1, pattern(3000), {.flags = FI_INJECT_COMPLETE});
  Call &behind = l.a.send(1, pattern(1), {.flags = FI_INJECT_COMPLETE});
  assert_true(parts.open() && behind.open());
  l.a.room = 3;
  l.push(0, 1);
  assert_true(parts.ok());
  assert_true(behind.open());
  l.a.room = 1;
  l.push(0, 1);
  assert_true(behind.ok());
}

void delivery_complete__waits_for_the_processed_position(void **) {
  for (const bool lossless : {false, true}) {
    Lab l({.lossless = lossless});
    Call &s = l.a.send(1, pattern(10), {.flags = FI_DELIVERY_COMPLETE});
    Call &parts = l.a.send(1, pattern(2500), {.flags = FI_DELIVERY_COMPLETE});
    assert_true(s.open());
    assert_true(l.deliver(0, 1));
    assert_true(l.b.to(0).ack); // its sender waits
    assert_true(s.open());
    l.tell(1, 0);
    assert_true(s.ok()); // nobody has posted a receive: buffered counts
    assert_true(l.deliver(0, 1));
    assert_true(l.deliver(0, 1));
    l.tell(1, 0);
    assert_true(parts.open());
    assert_true(l.deliver(0, 1));
    assert_true(l.b.to(0).ack);
    l.tell(1, 0);
    assert_true(parts.ok());
  }
}

// Packets are acknowledged that hold messages out of their turn: those are not processed.
void delivery_complete__is_more_than_received(void **) {
  Lab l;
  Call &first = l.a.send(1, pattern(2500));
  Call &second = l.a.send(1, pattern(10), {.flags = FI_DELIVERY_COMPLETE});
  assert_true(l.deliver(0, 1, 3)); // the second message
  l.tell(1, 0);
  assert_true(second.open());
  assert_true(l.deliver(0, 1, 0)); // opens the first, which lacks its parts
  l.tell(1, 0);
  assert_true(second.open());
  l.deliver_all(0, 1);
  l.tell(1, 0);
  assert_true(first.ok() && second.ok());
}

void silent__writes_no_entry_but_counts(void **) {
  Lab l;
  Call &s = l.a.send(1, pattern(10), {.silent = true});
  Call &d = l.a.send(1, pattern(10), {.flags = FI_DELIVERY_COMPLETE, .silent = true});
  Call &m = l.a.send(1, pattern(9000), {.silent = true});
  assert_int_equal(l.a.queues.sends_ok(), 1);
  l.b.receive(10), l.b.receive(10), l.b.receive(9000);
  l.run();
  assert_true(s.open() && d.open() && m.open());
  assert_int_equal(l.a.queues.sends_ok(), 3);
  assert_int_equal(l.a.queues.sends_failed(), 0);
}

// --- FI_INJECT: the memory is the application's again at once

void scribble(Call &c) { std::fill(c.memory.begin(), c.memory.end(), std::byte{0xdd}); }

void inject__lets_go_of_the_buffer_at_once(void **) {
  for (const bool lossless : {false, true})
    for (const std::size_t len : {100, 2500, 20000})
      for (const std::size_t room : {std::size_t{0}, std::size_t{1}, SIZE_MAX}) {
        Lab l({.lossless = lossless});
        Call &r = l.b.receive(len);
        l.a.room = room;
        Call &s = l.a.send(1, pattern(len), {.flags = FI_INJECT, .pieces = 8});
        scribble(s);
        l.a.room = SIZE_MAX;
        l.run();
        assert_true(s.ok());
        assert_true(r.ok());
        assert_true(r.holds(pattern(len)));
      }
}

void inject__without_memory_is_refused_whole(void **) {
  Lab l;
  l.a.room = 0;
  l.a.send(1, pattern(1)); // the pool is there
  Call c(pattern(100));
  {
    const allocations::NoMemory none;
    assert_int_equal(l.a.try_send(c, 1, {.flags = FI_INJECT}), -FI_ENOMEM);
  }
  for (unsigned i = 1; i < 64; ++i)
    l.a.send(1, pattern(1));
  assert_int_equal(l.a.try_send(c, 1), -FI_EAGAIN);
  l.a.room = SIZE_MAX;
  l.run();
  assert_true(c.open());
}

// --- Order

// Whatever route each takes, receives are met in the order of the sends.
void order__is_kept_across_routes(void **) {
  const std::size_t lengths[] = {20000, 1, 3000, 0, 9000, 900, 5000, 2};
  for (const bool lossless : {false, true})
    for (std::size_t room = 0; room < 12; ++room) {
      Lab l({.lossless = lossless});
      std::vector<Call *> receives;
      for (std::size_t i = 0; i < std::size(lengths); ++i)
        receives.push_back(&l.b.receive(20000));
      l.a.room = room;
      for (std::size_t i = 0; i < std::size(lengths); ++i)
        l.a.send(1, pattern(lengths[i], static_cast<unsigned>(i)), {.data = i});
      l.a.room = SIZE_MAX;
      l.run();
      for (std::size_t i = 0; i < std::size(lengths); ++i) {
        assert_true(receives[i]->ok());
        assert_int_equal(receives[i]->done[0].data, i);
        assert_int_equal(receives[i]->done[0].len, lengths[i]);
        assert_true(receives[i]->starts_with(pattern(lengths[i], static_cast<unsigned>(i))));
      }
    }
}

void send__waits_behind_what_waits(void **) {
  Lab l;
  l.a.room = 2;
  l.a.send(1, pattern(2500)); // one part of three is left
  l.a.send(1, pattern(1));
  l.a.room = 1;
  l.a.send(1, pattern(2)); // there is room for it, but not before the others
  assert_true(l.a.in_flight(1) == (std::vector{FrameType::message, FrameType::segment}));
  assert_true(l.a.to(1).push);
  l.push(0, 1);
  assert_true(l.a.to(1).push); // still something to send
  l.a.room = SIZE_MAX;
  l.push(0, 1);
  assert_false(l.a.to(1).push);
  assert_int_equal(l.a.in_flight(1).size(), 5);
}

void send__before_the_session_is_up(void **) {
  Lab l({.open = false});
  Call &inject = l.a.send(1, pattern(1), {.flags = FI_INJECT_COMPLETE});
  Call &large = l.a.send(1, pattern(9000));
  l.push(0, 1);
  assert_true(inject.open());
  assert_true(l.a.to(1).out.empty());
  l.a.to(1).push = false;
  l.open(0, 1);
  l.open(1, 0);
  assert_true(l.a.to(1).push);
  l.push(0, 1);
  assert_true(inject.ok());
  l.b.receive(1);
  l.b.receive(9000);
  l.run();
  assert_true(large.ok());
}

// --- FI_FENCE

void fence__waits_until_all_before_it_is_processed(void **) {
  for (const std::size_t before : {10, 2500, 9000}) {
    Lab l;
    Call &first = l.a.send(1, pattern(before));
    Call &fenced = l.a.send(1, pattern(5), {.flags = FI_FENCE});
    Call &behind = l.a.send(1, pattern(6));
    assert_true(l.a.to(1).probes > 0);
    const std::size_t sent = l.a.in_flight(1).size();
    l.push(0, 1);
    assert_int_equal(l.a.in_flight(1).size(), sent);
    l.deliver_all(0, 1);
    l.push(0, 1);
    assert_true(l.a.in_flight(1).empty()); // that it is processed isn't known yet
    l.b.receive(before);
    l.run();
    assert_true(first.ok() && fenced.ok() && behind.ok());
  }
}

void fence__with_nothing_before_it_goes_at_once(void **) {
  Lab l;
  l.a.send(1, pattern(5), {.flags = FI_FENCE});
  assert_int_equal(l.a.in_flight(1).size(), 1);
  assert_int_equal(l.a.to(1).probes, 0);
}

// The rendezvous has been answered and acknowledged, but not ended.
void fence__waits_for_a_rendezvous_that_nobody_has_matched(void **) {
  Lab l;
  Call &first = l.a.send(1, pattern(9000));
  Call &fenced = l.a.send(1, pattern(5), {.flags = FI_FENCE});
  l.run();
  assert_true(first.open() && fenced.open());
  Call &r = l.b.receive(9000);
  Call &r2 = l.b.receive(5);
  l.run();
  assert_true(fenced.ok() && r.ok() && r2.ok());
}

// --- Limits

void send__of_too_many_is_refused(void **) {
  Lab l;
  std::vector<Call *> sends;
  for (int i = 0; i < 64; ++i)
    sends.push_back(&l.a.send(1, pattern(10)));
  Call more(pattern(10));
  assert_int_equal(l.a.try_send(more, 1), -FI_EAGAIN);
  assert_int_equal(l.a.try_send(more, 1, {.flags = FI_FENCE}), -FI_EAGAIN);
  l.run();
  for (const Call *s : sends)
    assert_true(s->ok());
  assert_int_equal(l.a.try_send(more, 1), 0);
  l.run();
  assert_true(more.ok());
  assert_int_equal(l.b.m->counters().received, 65);
}

void send__waits_for_room_in_the_queue(void **) {
  Lab l({.lossless = true, .queues = {.cq_size = 2}});
  Call first(pattern(1)), second(pattern(1)), third(pattern(1));
  assert_int_equal(l.a.try_send(first, 1), 0);
  assert_int_equal(l.a.try_send(second, 1), 0);
  assert_int_equal(l.a.try_send(third, 1), -FI_EAGAIN);
  assert_int_equal(l.a.in_flight(1).size(), 2);
  l.a.reap();
  assert_int_equal(l.a.try_send(third, 1), 0);
  l.a.reap();
  assert_true(first.ok() && second.ok() && third.ok());
}

void refuse__is_an_error_completion(void **) {
  Lab l;
  Call c(pattern(3));
  l.a.m->refuse({.len = 3, .flags = FI_TAGGED, .context = &c}, FI_EHOSTUNREACH);
  l.a.reap();
  assert_int_equal(c.error(), FI_EHOSTUNREACH);
  assert_int_equal(c.done[0].flags, FI_SEND | FI_TAGGED);
  assert_int_equal(l.a.queues.sends_failed(), 1);
}

// --- What the peer tells

void note__goes_forward_only(void **) {
  Remote p;
  p.tx_next = MessageNumber{2};
  p.tx_processed = MessageNumber{0xfffffffe};
  p.tx_limit = 0xfffffff0;
  Messenger::note(p, MessageNumber{1}, 0x10);
  assert_int_equal(p.tx_processed.value, 1);
  assert_int_equal(p.tx_limit, 0x10);
  Messenger::note(p, MessageNumber{0xffffffff}, 0xfffffff8); // late
  assert_int_equal(p.tx_processed.value, 1);
  assert_int_equal(p.tx_limit, 0x10);
  Messenger::note(p, MessageNumber{3}, 0x10); // of a message that was never sent
  assert_int_equal(p.tx_processed.value, 1);
  Messenger::note(p, MessageNumber{2}, 0x10);
  assert_int_equal(p.tx_processed.value, 2);
}

void settle__needs_no_traffic(void **) {
  Lab l;
  l.a.m->settle(l.a.to(1));
  assert_false(l.a.m->push(l.a.to(1)));
}

// What a peer that has ended shares nobody reads.
void send__to_one_that_is_gone_fails_when_handed_over(void **) {
  for (const std::uint64_t flags : {std::uint64_t{0}, std::uint64_t{FI_INJECT_COMPLETE}}) {
    Lab l({.lossless = true});
    assert_true(l.a.send(1, pattern(8), {.flags = flags}).ok());
    l.a.gone = true;
    for (const std::size_t len : {8, 5000}) // whole, and in parts
      assert_int_equal(l.a.send(1, pattern(len), {.flags = flags}).error(), FI_ECONNRESET);
    assert_int_equal(l.a.queues.sends_failed(), 2);
  }
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(send__to_one_that_is_gone_fails_when_handed_over),
    cmocka_unit_test(send__of_any_length_arrives),
    cmocka_unit_test(route__follows_length_and_link),
    cmocka_unit_test(match_complete__is_a_rendezvous_of_any_length),
    cmocka_unit_test(transmit_complete__waits_for_the_ack_of_all_parts),
    cmocka_unit_test(transmit_complete__on_a_lossless_link_is_at_once),
    cmocka_unit_test(inject_complete__is_when_handed_over),
    cmocka_unit_test(delivery_complete__waits_for_the_processed_position),
    cmocka_unit_test(delivery_complete__is_more_than_received),
    cmocka_unit_test(silent__writes_no_entry_but_counts),
    cmocka_unit_test(inject__lets_go_of_the_buffer_at_once),
    cmocka_unit_test(inject__without_memory_is_refused_whole),
    cmocka_unit_test(order__is_kept_across_routes),
    cmocka_unit_test(send__waits_behind_what_waits),
    cmocka_unit_test(send__before_the_session_is_up),
    cmocka_unit_test(fence__waits_until_all_before_it_is_processed),
    cmocka_unit_test(fence__with_nothing_before_it_goes_at_once),
    cmocka_unit_test(fence__waits_for_a_rendezvous_that_nobody_has_matched),
    cmocka_unit_test(send__of_too_many_is_refused),
    cmocka_unit_test(send__waits_for_room_in_the_queue),
    cmocka_unit_test(refuse__is_an_error_completion),
    cmocka_unit_test(note__goes_forward_only),
    cmocka_unit_test(settle__needs_no_traffic),
};
static const unit::Group group{"send", cases};
