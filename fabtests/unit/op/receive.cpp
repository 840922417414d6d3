// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "lab.h"

using namespace lab;

namespace {

// One length for each route: one packet, several, rendezvous.
constexpr std::size_t lengths[] = {10, 2500, 9000};
constexpr std::size_t parts = 2500, large = 9000;

// --- Posting and matching

void receive__meets_what_has_already_come(void **) {
  for (const bool lossless : {false, true})
    for (const std::size_t len : {std::size_t{0}, lengths[0], lengths[1], lengths[2]}) {
      Lab l({.lossless = lossless});
      Call &s = l.a.send(1, pattern(len), {.tag = 5, .data = 6});
      l.run();
      assert_int_equal(l.b.m->counters().unexpected, 1);
      Call &r = l.b.receive(len, {.tag = 5, .pieces = 8});
      l.run();
      assert_true(s.ok() && r.ok());
      assert_true(r.holds(pattern(len)));
      assert_int_equal(r.done[0].data, 6);
      assert_int_equal(r.done[0].tag, 5);
      assert_int_equal(r.done[0].src, 0);
      assert_int_equal(r.done[0].flags, FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA);
    }
}

// Each part may come before the receive is posted, or after.
void receive__meets_a_message_that_is_coming_in(void **) {
  for (int before = 0; before <= 3; ++before)
    for (const std::size_t room : {parts, parts + 100, std::size_t{1500}, std::size_t{0}}) {
      Lab l;
      l.a.send(1, pattern(parts));
      for (int i = 0; i < before; ++i)
        assert_true(l.deliver(0, 1, i == 1 ? 1 : 0)); // the last part before the second
      Call &r = l.b.receive(room, {.pieces = 8});
      assert_int_equal(r.open(), before < 3);
      l.run();
      assert_int_equal(r.error(), room < parts ? FI_ETRUNC : 0);
      Bytes want = pattern(parts);
      want.resize(room);
      assert_true(r.holds(want));
    }
}

void receive__matches_by_tag_mask_and_source(void **) {
  Lab l({}, 3);
  Call &directed = l.b.receive(10, {.tag = 1, .src = 2});
  Call &masked = l.b.receive(10, {.tag = 0xf0, .ignore = 0x0f});
  Call &exact = l.b.receive(10, {.tag = 0xf7});
  Call &untagged = l.b.receive(10);
  Call &any = l.b.receive(10, {.tag = 0, .ignore = ~std::uint64_t{0}, .src = 2});
  l.a.send(1, pattern(1), {.tag = 0xf7});
  l.a.send(1, pattern(2), {.tag = 0xf7});
  l.a.send(1, pattern(3), {.tag = 1}); // not from 2: nobody's
  l.a.send(1, pattern(4));
  l.side(2).send(1, pattern(5), {.tag = 1});
  l.side(2).send(1, pattern(6), {.tag = 99});
  l.run();
  const auto length = [](const Call &c) { return c.ok() ? c.done[0].len : SIZE_MAX; };
  assert_int_equal(length(masked), 1); // the older one
  assert_int_equal(length(exact), 2);
  assert_int_equal(length(untagged), 4);
  assert_int_equal(length(directed), 5);
  assert_int_equal(directed.done[0].src, 2);
  assert_int_equal(length(any), 6);
  Call &late = l.b.receive(10, {.tag = 1, .src = 0});
  assert_int_equal(length(late), 3);
}

void receive__takes_the_oldest_that_fits(void **) {
  Lab l({}, 3);
  l.side(2).send(1, pattern(1), {.tag = 1});
  l.run();
  l.a.send(1, pattern(large), {.tag = 1});
  l.a.send(1, pattern(3), {.tag = 2});
  l.a.send(1, pattern(4), {.tag = 1});
  l.run();
  Call &from_a = l.b.receive(large, {.tag = 1, .src = 0});
  Call &any = l.b.receive(large, {.tag = 0, .ignore = 3});
  Call &next = l.b.receive(large, {.tag = 0, .ignore = 3});
  Call &last = l.b.receive(large, {.tag = 0, .ignore = 3});
  l.run();
  assert_int_equal(from_a.done[0].len, large);
  assert_int_equal(any.done[0].len, 1);
  assert_int_equal(next.done[0].len, 3);
  assert_int_equal(last.done[0].len, 4);
}

void receive__of_too_many_is_refused(void **) {
  Lab l;
  for (int i = 0; i < 64; ++i)
    l.b.receive(10);
  Call more(Bytes(10));
  assert_int_equal(l.b.try_receive(more), -FI_EAGAIN);
  l.a.send(1, pattern(10));
  l.run();
  assert_int_equal(l.b.try_receive(more), 0);
}

void receive__waits_for_room_in_the_queue(void **) {
  Lab l({.queues = {.cq_size = 1}});
  l.a.send(1, pattern(10));
  l.a.reap();
  assert_true(l.deliver(0, 1));
  Call first(Bytes(10)), second(Bytes(10));
  assert_int_equal(l.b.try_receive(first), 0);
  assert_int_equal(l.b.try_receive(second), -FI_EAGAIN);
  l.b.reap();
  assert_int_equal(l.b.try_receive(second), 0);
}

void receive__without_queues_counts(void **) {
  Lab l({.queues = {.cqs = false}});
  Call r(Bytes(10));
  assert_int_equal(l.b.try_receive(r), 0);
  Call s(pattern(10));
  assert_int_equal(l.a.try_send(s, 1, {.silent = true}), 0);
  l.deliver_all(0, 1);
  assert_int_equal(l.b.queues.receives_ok(), 1);
  assert_true(r.holds(pattern(10)));
}

// --- FI_SOURCE_ERR

void source_err__tells_who_it_was(void **) {
  for (const std::size_t len : lengths) {
    Lab l({.queues = {.source_err = true}});
    l.b.to(0).addr = FI_ADDR_NOTAVAIL;
    Call &r = l.b.receive(len);
    l.a.send(1, pattern(len));
    l.run();
    assert_int_equal(r.error(), FI_EADDRNOTAVAIL);
    assert_int_equal(r.done[0].len, len);
    assert_true(r.holds(pattern(len)));
    assert_int_equal(r.done[0].err_data.size(), 2);
    assert_true(r.done[0].err_data[0] == std::byte{0xa0});
  }
}

// --- FI_MULTI_RECV

const ReceiveHow multi{.flags = FI_MULTI_RECV};

void multi_receive__fills_and_is_released_with_its_last(void **) {
  Lab l;
  Call &r = l.b.receive(1000, multi);
  for (const std::size_t len : {500, 0, 400})
    l.a.send(1, pattern(len));
  l.run();
  assert_int_equal(r.done.size(), 3);
  std::size_t at = 0;
  for (const std::size_t len : {500, 0, 400}) {
    const Done &d = r.done[at == 0 ? 0 : len == 0 ? 1 : 2];
    assert_int_equal(d.len, len);
    assert_ptr_equal(d.buf, r.memory.data() + at);
    assert_memory_equal(d.buf, pattern(len).data(), len);
    at += len;
  }
  assert_false(r.done[2].flags & FI_MULTI_RECV); // 100 bytes are left
  l.a.send(1, pattern(37));
  l.run();
  assert_int_equal(r.done.size(), 4);
  assert_true(r.done[3].flags & FI_MULTI_RECV); // 63 are too few
  l.a.send(1, pattern(1));
  l.run();
  assert_int_equal(r.done.size(), 4);
}

void multi_receive__goes_by_min_multi_recv(void **) {
  Lab l;
  l.b.m->receives().min_multi_recv = 1000;
  Call &r = l.b.receive(2000, multi);
  l.a.send(1, pattern(1000));
  l.run();
  assert_false(r.done[0].flags & FI_MULTI_RECV);
  l.a.send(1, pattern(1));
  l.run();
  assert_true(r.done[1].flags & FI_MULTI_RECV);
}

void multi_receive__without_a_minimum_is_released_once_it_is_full(void **) {
  Lab l;
  l.b.m->receives().min_multi_recv = 0;
  Call &r = l.b.receive(1000, multi);
  for (const std::size_t len : {999, 1, 1})
    l.a.send(1, pattern(len));
  l.run();
  assert_int_equal(r.done.size(), 2);
  assert_false(r.done[0].flags & FI_MULTI_RECV);
  assert_true(r.done[1].flags & FI_MULTI_RECV);
}

void multi_receive__truncates_what_is_too_long(void **) {
  for (const std::size_t len : lengths) {
    Lab l;
    Call &r = l.b.receive(1000, multi);
    l.a.send(1, pattern(995, 2)); // 5 are left: none to speak of
    l.b.m->receives().min_multi_recv = 5;
    l.run();
    l.a.send(1, pattern(len));
    l.run();
    assert_int_equal(r.done.size(), 2);
    assert_int_equal(r.done[1].err, FI_ETRUNC);
    assert_int_equal(r.done[1].len, 5);
    assert_int_equal(r.done[1].olen, len - 5);
    assert_true(r.done[1].flags & FI_MULTI_RECV);
    assert_ptr_equal(r.done[1].buf, r.memory.data() + 995);
  }
}

// What has come already, as much of it as fits; one message too many stays.
void multi_receive__is_filled_at_once(void **) {
  Lab l;
  for (unsigned i = 0; i < 4; ++i)
    l.a.send(1, pattern(600, i));
  l.run();
  Call &r = l.b.receive(1800, multi);
  assert_int_equal(r.done.size(), 3);
  assert_true(r.done[2].flags & FI_MULTI_RECV);
  Call &rest = l.b.receive(600);
  assert_true(rest.ok());
  assert_true(rest.holds(pattern(600, 3)));
}

// Whole messages overtake those that take longer; the last to be there releases it.
void multi_receive__is_released_when_all_has_come(void **) {
  for (const std::size_t slow : {parts, large}) {
    Lab l;
    Call &r = l.b.receive(slow + 100, multi);
    l.a.send(1, pattern(slow, 1));
    l.a.send(1, pattern(100, 2));
    assert_true(l.deliver(0, 1));                           // opens, or requests
    assert_true(l.deliver(0, 1, l.a.to(1).out.size() - 1)); // the second message
    assert_int_equal(r.done.size(), 1);
    assert_int_equal(r.done[0].len, 100);
    assert_ptr_equal(r.done[0].buf, r.memory.data() + slow);
    assert_false(r.done[0].flags & FI_MULTI_RECV);
    l.run();
    assert_int_equal(r.done.size(), 2);
    assert_true(r.done[1].flags & FI_MULTI_RECV);
    assert_memory_equal(r.memory.data(), pattern(slow, 1).data(), slow);
    assert_memory_equal(r.memory.data() + slow, pattern(100, 2).data(), 100);
  }
}

// --- Peek, claim, discard

void peek__finds_or_says_so(void **) {
  for (const std::size_t len : lengths) {
    Lab l({}, 3);
    l.a.send(1, pattern(len), {.tag = 5, .data = 9});
    assert_int_equal(l.b.peek({.tag = 5}).error(), FI_ENOMSG);
    assert_true(l.deliver(0, 1)); // the first part is enough to be seen
    for (const ReceiveHow &other :
         {ReceiveHow{.tag = 6}, ReceiveHow{.tag = 5, .src = 2}, ReceiveHow{}})
      assert_int_equal(l.b.peek(other).error(), FI_ENOMSG);
    for (int i = 0; i < 2; ++i) { // it stays
      Call &p = l.b.peek({.tag = 4, .ignore = 1, .src = 0});
      assert_true(p.ok());
      assert_int_equal(p.done[0].len, len);
      assert_int_equal(p.done[0].tag, 5);
      assert_int_equal(p.done[0].data, 9);
      assert_int_equal(p.done[0].flags, FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA);
      assert_int_equal(p.done[0].src, 0);
    }
    Call &r = l.b.receive(len, {.tag = 5});
    l.run();
    assert_true(r.ok());
  }
}

// The context of a claim names it in the receive that follows.
ssize_t claimed(Lab &l, Call &c, std::uint64_t flags, std::optional<std::uint64_t> tag = 5) {
  const ssize_t rc = l.b.try_receive(c, {.tag = tag, .flags = FI_CLAIM | flags});
  l.run();
  return rc;
}

void claim__keeps_a_message_for_its_receive(void **) {
  for (const std::size_t len : lengths)
    for (const bool all_there : {false, true}) {
      Lab l;
      l.a.send(1, pattern(len, 1), {.tag = 5});
      if (all_there)
        l.run();
      else
        assert_true(l.deliver(0, 1));
      Call c(Bytes(len), 8);
      assert_int_equal(l.b.try_receive(c, {.tag = 5, .flags = FI_PEEK | FI_CLAIM}), 0);
      l.b.reap();
      assert_true(c.ok());
      assert_int_equal(l.b.peek({.tag = 5}).error(), FI_ENOMSG); // others don't see it
      Call &other = l.b.receive(len, {.tag = 5});
      assert_int_equal(claimed(l, c, 0, {}), -FI_EINVAL); // of the other kind
      assert_int_equal(claimed(l, other, 0), -FI_EINVAL); // of another context
      assert_int_equal(claimed(l, c, 0), 0);
      assert_int_equal(c.done.size(), 2);
      assert_int_equal(c.done[1].len, len);
      assert_true(c.holds(pattern(len, 1)));
      assert_true(other.open());
      assert_int_equal(claimed(l, c, 0), -FI_EINVAL); // it has been received
    }
}

void discard__of_what_was_claimed(void **) {
  for (const std::size_t len : lengths) {
    Lab l;
    Call &s = l.a.send(1, pattern(len), {.tag = 5, .flags = FI_DELIVERY_COMPLETE});
    assert_true(l.deliver(0, 1));
    Call c;
    assert_int_equal(l.b.try_receive(c, {.tag = 5, .flags = FI_PEEK | FI_CLAIM}), 0);
    assert_int_equal(claimed(l, c, FI_DISCARD), 0);
    assert_int_equal(c.done.size(), 2);
    assert_int_equal(c.done[1].len, 0);
    assert_int_equal(c.done[1].tag, 5);
    assert_true(s.ok()); // its sender sees it received
    assert_int_equal(claimed(l, c, FI_DISCARD), -FI_EINVAL);
  }
}

void discard__of_what_is_peeked_at(void **) {
  for (const std::size_t len : lengths)
    for (const std::uint64_t level :
         {FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE})
      for (const bool all_there : {false, true}) {
        Lab l;
        Call &s = l.a.send(1, pattern(len), {.flags = level});
        if (all_there)
          l.run();
        else
          assert_true(l.deliver(0, 1));
        Call &p = l.b.peek({.flags = FI_DISCARD});
        assert_int_equal(p.done[0].len, len);
        l.run();
        assert_true(s.ok());
        assert_int_equal(l.b.peek().error(), FI_ENOMSG);
        assert_int_equal(l.b.to(0).rx_used, l.b.to(0).rx_released);
      }
}

// Whoever has no queue isn't told, but rid of the message.
void discard__without_a_completion_queue(void **) {
  for (const std::size_t len : lengths)
    for (const bool claim_first : {false, true}) {
      Options o;
      o.queues.cqs = false;
      Lab l(o);
      l.a.send(1, pattern(len), {.tag = 5, .flags = FI_DELIVERY_COMPLETE, .silent = true});
      assert_true(l.deliver(0, 1));
      Call c;
      const std::uint64_t how = claim_first ? FI_CLAIM : FI_DISCARD;
      assert_int_equal(l.b.try_receive(c, {.tag = 5, .flags = FI_PEEK | how}), 0);
      if (claim_first)
        assert_int_equal(claimed(l, c, FI_DISCARD), 0);
      l.run();
      assert_int_equal(l.a.queues.sends_ok(), 1); // its sender sees it received
      assert_int_equal(l.b.to(0).rx_used, l.b.to(0).rx_released);
      l.b.receive(len, {.tag = 5});
      l.run();
      assert_int_equal(l.b.queues.receives_ok(), 0); // nothing is left to receive
    }
}

void discard__needs_a_peek_or_a_claim(void **) {
  Lab l;
  Call c;
  assert_int_equal(l.b.try_receive(c, {.flags = FI_DISCARD}), -FI_EINVAL);
  assert_int_equal(l.b.try_receive(c, {.flags = FI_CLAIM}), -FI_EINVAL);
}

// --- Cancel

void cancel__of_a_posted_receive(void **) {
  Lab l;
  Call &untagged = l.b.receive(10), &tagged = l.b.receive(10, {.tag = 7});
  Call &stays = l.b.receive(10);
  for (Call *c : {&untagged, &tagged}) {
    assert_int_equal(l.b.m->cancel(c), 0);
    l.b.reap();
    assert_int_equal(c->error(), FI_ECANCELED);
    assert_int_equal(c->done[0].flags, FI_RECV | (c == &tagged ? FI_TAGGED : FI_MSG));
    assert_int_equal(l.b.m->cancel(c), -FI_ENOENT);
  }
  assert_int_equal(l.b.queues.receives_failed(), 2);
  l.a.send(1, pattern(10));
  l.run();
  assert_true(stays.ok());
}

void cancel__of_a_receive_under_way_is_too_late(void **) {
  for (const std::size_t len : {parts, large}) {
    Lab l;
    Call &r = l.b.receive(len);
    l.a.send(1, pattern(len));
    assert_true(l.deliver(0, 1));
    assert_int_equal(l.b.m->cancel(&r), -FI_ENOENT);
    l.run();
    assert_true(r.ok());
    assert_true(r.holds(pattern(len)));
  }
}

void cancel__of_a_multi_receive(void **) {
  for (const std::size_t len : {parts, large}) {
    Lab l;
    Call &idle = l.b.receive(1000, multi);
    assert_int_equal(l.b.m->cancel(&idle), 0);
    l.b.reap();
    assert_int_equal(idle.error(), FI_ECANCELED);
    assert_true(idle.done[0].flags & FI_MULTI_RECV);
    // With a message on its way in: that one still lands, and releases it.
    Call &busy = l.b.receive(2 * len, multi);
    l.a.send(1, pattern(len));
    assert_true(l.deliver(0, 1));
    assert_int_equal(l.b.m->cancel(&busy), 0);
    l.b.reap();
    assert_true(busy.open());
    l.run();
    assert_int_equal(busy.done.size(), 1);
    assert_int_equal(busy.done[0].len, len);
    assert_true(busy.done[0].flags & FI_MULTI_RECV);
    l.a.send(1, pattern(1));
    l.run();
    assert_int_equal(busy.done.size(), 1);
  }
}

void cancel__of_a_send(void **) {
  Lab l;
  Call &sent = l.a.send(1, pattern(large));
  assert_int_equal(l.a.m->cancel(&sent), -FI_ENOENT); // asked for
  l.a.room = 1;
  Call &partial = l.a.send(1, pattern(parts));
  Call &queued = l.a.send(1, pattern(10, 1));
  Call &injected = l.a.send(1, pattern(10, 2), {.flags = FI_INJECT});
  Call &last = l.a.send(1, pattern(10, 3));
  assert_int_equal(l.a.m->cancel(&partial), -FI_ENOENT);
  assert_int_equal(l.a.m->cancel(&injected), -FI_ENOENT);
  assert_int_equal(l.a.m->cancel(&queued), 0);
  l.a.reap();
  assert_int_equal(queued.error(), FI_ECANCELED);
  assert_int_equal(l.a.m->cancel(&queued), -FI_ENOENT);
  for (int i = 0; i < 4; ++i)
    l.b.receive(large);
  l.a.room = SIZE_MAX;
  l.run();
  assert_true(sent.ok() && partial.ok() && injected.ok() && last.ok());
  assert_int_equal(l.a.m->cancel(&last), -FI_ENOENT);
  assert_int_equal(l.b.m->counters().received, 4);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(receive__meets_what_has_already_come),
    cmocka_unit_test(receive__meets_a_message_that_is_coming_in),
    cmocka_unit_test(receive__matches_by_tag_mask_and_source),
    cmocka_unit_test(receive__takes_the_oldest_that_fits),
    cmocka_unit_test(receive__of_too_many_is_refused),
    cmocka_unit_test(receive__waits_for_room_in_the_queue),
    cmocka_unit_test(receive__without_queues_counts),
    cmocka_unit_test(source_err__tells_who_it_was),
    cmocka_unit_test(multi_receive__fills_and_is_released_with_its_last),
    cmocka_unit_test(multi_receive__goes_by_min_multi_recv),
    cmocka_unit_test(multi_receive__without_a_minimum_is_released_once_it_is_full),
    cmocka_unit_test(multi_receive__truncates_what_is_too_long),
    cmocka_unit_test(multi_receive__is_filled_at_once),
    cmocka_unit_test(multi_receive__is_released_when_all_has_come),
    cmocka_unit_test(peek__finds_or_says_so),
    cmocka_unit_test(claim__keeps_a_message_for_its_receive),
    cmocka_unit_test(discard__of_what_was_claimed),
    cmocka_unit_test(discard__of_what_is_peeked_at),
    cmocka_unit_test(discard__without_a_completion_queue),
    cmocka_unit_test(discard__needs_a_peek_or_a_claim),
    cmocka_unit_test(cancel__of_a_posted_receive),
    cmocka_unit_test(cancel__of_a_receive_under_way_is_too_late),
    cmocka_unit_test(cancel__of_a_multi_receive),
    cmocka_unit_test(cancel__of_a_send),
};
static const unit::Group group{"receive", cases};
