// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Frames of connections among messages, strangers, and peers that nobody listens
// to any more (messenger_connection.cpp).
#include "lab.h"

using namespace lab;

namespace {

constexpr std::uint64_t id = 0x123456789abcdef0;
constexpr std::size_t parts = 2500, large = 20000;

void tell(Side &from, unsigned to, FrameType type, const Bytes &data = {}) {
  assert_true(from.m->send_connection(from.to(to), type, id, data));
}

void frames__arrive_with_their_data(void **) {
  Lab l;
  const FrameType types[] = {FrameType::connect, FrameType::accept, FrameType::ready,
                             FrameType::reject, FrameType::shutdown};
  for (const FrameType type : types) {
    const bool speaks = type != FrameType::ready && type != FrameType::shutdown;
    tell(l.a, 1, type, pattern(speaks ? wire::max_connection_data : 0));
    l.run();
    assert_int_equal(l.b.connection_frames.size(), 1);
    const auto &[f, data] = l.b.connection_frames.back();
    assert_true(f.type == type && f.id == id);
    assert_true(data == pattern(speaks ? wire::max_connection_data : 0));
    l.b.connection_frames.clear();
  }
}

// Whatever order the packets come in.
void frames__have_their_turn(void **) {
  Lab l;
  Call &r = l.b.receive(10);
  Call &s = l.a.send(1, pattern(10));
  tell(l.a, 1, FrameType::connect, pattern(5));
  tell(l.a, 1, FrameType::reject);
  assert_true(l.deliver(0, 1, 2));
  assert_true(l.deliver(0, 1, 1));
  assert_true(l.b.connection_frames.empty());
  assert_true(l.deliver(0, 1, 0));
  assert_int_equal(l.b.connection_frames.size(), 2);
  assert_true(l.b.connection_frames[0].first.type == FrameType::connect);
  assert_true(l.b.connection_frames[0].second == pattern(5));
  assert_true(l.b.connection_frames[1].first.type == FrameType::reject);
  l.run();
  assert_true(r.ok() && s.ok());
}

// Before the session is up they wait, and nobody hears of their end: neither a queue nor a counter.
void frames__are_no_operations_of_the_application(void **) {
  Lab l({.open = false});
  tell(l.a, 1, FrameType::connect, pattern(5));
  assert_true(l.a.in_flight(1).empty());
  l.open(0, 1), l.open(1, 0);
  l.run();
  assert_int_equal(l.b.connection_frames.size(), 1);
  l.a.room = 0;
  tell(l.a, 1, FrameType::reject);
  l.a.lose(1, ECONNRESET);
  l.a.reap();
  assert_true(l.a.queues.told.empty());
  assert_int_equal(l.a.queues.sends_ok(), 0);
  assert_int_equal(l.a.queues.sends_failed(), 0);
}

// An endpoint closes once who is refused knows it, and once a shutdown has left; it does not wait
// for somebody who may never answer.
void ends_connections__by_answers_and_the_end(void **) {
  const std::pair<FrameType, bool> waits[] = {{FrameType::connect, false},
                                              {FrameType::accept, false},
                                              {FrameType::ready, false},
                                              {FrameType::reject, true},
                                              {FrameType::shutdown, true}};
  for (const auto &[type, promised] : waits) {
    Lab l;
    l.a.room = 0;
    tell(l.a, 1, type);
    assert_int_equal(l.a.m->ends_connections(), promised);
    l.a.room = SIZE_MAX;
    l.push(0, 1);
    l.run();
    assert_false(l.a.m->ends_connections());
  }
}

// What was sent before is with the peer when it reads of the end.
void shutdown__waits_for_what_was_sent_before(void **) {
  for (const std::size_t size : {std::size_t{10}, parts, large}) {
    Lab l;
    Call &s = l.a.send(1, pattern(size));
    tell(l.a, 1, FrameType::shutdown);
    l.run();
    if (size == large) { // nobody has posted a receive
      assert_true(s.open());
      assert_true(l.b.connection_frames.empty());
    }
    Call &r = l.b.receive(size);
    l.run();
    assert_true(r.ok() && r.holds(pattern(size)));
    assert_true(s.ok());
    assert_int_equal(l.b.connection_frames.size(), 1);
  }
}

// --- strangers

void stranger__is_not_heard(void **) {
  Lab l;
  l.b.to(0).stranger = true;
  Call &r = l.b.receive(100);
  tell(l.a, 1, FrameType::connect);
  l.a.send(1, pattern(10));
  assert_true(l.deliver(0, 1));
  assert_int_equal(l.b.connection_frames.size(), 1);
  assert_false(l.deliver(0, 1));
  assert_false(l.b.to(0).violation.empty());
  assert_true(r.open());
}

void stranger__reads_and_writes_nothing(void **) {
  wire::Frame f;
  for (const FrameType type : {FrameType::rts, FrameType::write, FrameType::write_request,
                               FrameType::read, FrameType::atomic}) {
    Lab l;
    Remote &p = l.b.to(0);
    p.stranger = true;
    const MessageNumber next = p.rx_next;
    f.type = type;
    switch (type) {
    case FrameType::rts:
      f.rts = {};
      f.rts.mn = next;
      break;
    case FrameType::write:
      f.write = {};
      f.write.mn = next;
      break;
    case FrameType::write_request:
      f.write_request = {};
      f.write_request.mn = next;
      break;
    case FrameType::read:
      f.read = {};
      f.read.mn = next;
      break;
    default:
      f.atomic = {};
      f.atomic.mn = next;
      break;
    }
    assert_false(l.b.on_frame(0, f));
    assert_false(p.violation.empty());
    assert_true(p.out.empty());
  }
}

// --- nobody listens any more

// The sender must get to its end, or the ends of a connection would wait for each other.
void deafen__lets_the_peer_finish(void **) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, parts, large}) {
    Lab l;
    l.b.m->deafen(l.b.to(0));
    Call &s = l.a.send(1, pattern(size), {.flags = FI_DELIVERY_COMPLETE});
    l.run();
    assert_int_equal(s.error(), size == large ? FI_ESHUTDOWN : 0);
    assert_int_equal(s.done.size(), 1);
    Call &r = l.b.receive(size);
    l.run();
    assert_true(r.open());
  }
}

void deafen__gives_credit_back(void **) {
  Lab l({.credit = 40});
  l.b.m->deafen(l.b.to(0));
  for (int i = 0; i < 200; ++i) {
    Call &s = l.a.send(1, pattern(100), {.flags = FI_DELIVERY_COMPLETE});
    l.run();
    assert_true(s.ok());
  }
}

// What had come before can still be received; what had only asked is refused.
void deafen__keeps_what_has_come(void **) {
  Lab l;
  Call &small = l.a.send(1, pattern(10)), &asked = l.a.send(1, pattern(large));
  l.run();
  l.b.m->deafen(l.b.to(0));
  l.run();
  assert_true(small.ok());
  assert_int_equal(asked.error(), FI_ESHUTDOWN);
  const op::ReceiveRequest any{.flags = FI_MSG};
  assert_true(l.b.m->receives().waits_for(any));
  Call &r = l.b.receive(10);
  l.run();
  assert_true(r.ok() && r.holds(pattern(10)));
  assert_false(l.b.m->receives().waits_for(any));
}

void flush__ends_receives_that_wait(void **) {
  Lab l;
  Call &plain = l.b.receive(10), &tagged = l.b.receive(10, {.tag = 5});
  Call &multi = l.b.receive(1000, {.flags = FI_MULTI_RECV});
  l.b.m->flush_receives(FI_ECANCELED);
  l.b.reap();
  assert_int_equal(plain.error(), FI_ECANCELED);
  assert_int_equal(tagged.error(), FI_ECANCELED);
  assert_int_equal(multi.error(), FI_ECANCELED);
  assert_true(multi.done[0].flags & FI_MULTI_RECV);
  assert_int_equal(l.b.queues.receives_failed(), 3);
}

// A receive that a message is on its way into ends with that.
void flush__lets_what_comes_in_come(void **) {
  Lab l;
  Call &r = l.b.receive(parts);
  Call &s = l.a.send(1, pattern(parts));
  assert_true(l.deliver(0, 1));
  l.b.m->flush_receives(FI_ECANCELED);
  l.run();
  assert_true(s.ok() && r.ok() && r.holds(pattern(parts)));
}

const CMUnitTest cases[] = {
    cmocka_unit_test(frames__arrive_with_their_data),
    cmocka_unit_test(frames__have_their_turn),
    cmocka_unit_test(frames__are_no_operations_of_the_application),
    cmocka_unit_test(ends_connections__by_answers_and_the_end),
    cmocka_unit_test(shutdown__waits_for_what_was_sent_before),
    cmocka_unit_test(stranger__is_not_heard),
    cmocka_unit_test(stranger__reads_and_writes_nothing),
    cmocka_unit_test(deafen__lets_the_peer_finish),
    cmocka_unit_test(deafen__gives_credit_back),
    cmocka_unit_test(deafen__keeps_what_has_come),
    cmocka_unit_test(flush__ends_receives_that_wait),
    cmocka_unit_test(flush__lets_what_comes_in_come),
};
const unit::Group group{"connection_frames", cases};

} // namespace
