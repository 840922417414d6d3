// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What happens to a peer's operations while it is lost: fail.cpp.
#include "lab.h"

using namespace lab;

namespace {

constexpr std::size_t parts = 2500, large = 20000;

Call &claim(Lab &l) {
  Call &c = l.b.calls.emplace_back();
  assert_int_equal(l.b.try_receive(c, {.flags = FI_PEEK | FI_CLAIM}), 0);
  l.b.reap();
  assert_true(c.ok());
  return c;
}

void begin_again(Lab &l) {
  l.open(0, 1);
  l.open(1, 0);
}

// --- What a peer that is gone leaves behind

void fail__leaves_whole_messages(void **) {
  Lab l;
  l.a.send(1, pattern(10, 1));
  l.a.send(1, pattern(parts, 2));
  l.a.send(1, pattern(large, 3)); // can't be fetched any more
  l.a.send(1, pattern(10, 4));
  l.deliver_all(0, 1);
  Call &c = l.b.calls.emplace_back(Bytes(10));
  assert_int_equal(l.b.try_receive(c, {.flags = FI_PEEK | FI_CLAIM}), 0);
  l.b.lose(0, FI_ECONNRESET);
  Call &r2 = l.b.receive(parts), &r3 = l.b.receive(large);
  assert_true(r2.holds(pattern(parts, 2)));
  assert_int_equal(r2.done[0].src, 0);
  assert_true(r3.starts_with(pattern(10, 4)));
  assert_int_equal(l.b.try_receive(c, {.flags = FI_CLAIM}), 0);
  l.b.reap();
  assert_true(c.holds(pattern(10, 1)));
  assert_int_equal(l.b.peek().error(), FI_ENOMSG);
}

void fail__forgets_a_claim_that_cant_be_kept(void **) {
  for (const std::size_t len : {parts, large}) {
    Lab l;
    l.a.send(1, pattern(len));
    assert_true(l.deliver(0, 1));
    Call &c = claim(l);
    l.b.lose(0, FI_ECONNRESET);
    assert_int_equal(l.b.try_receive(c, {.flags = FI_CLAIM}), -FI_EINVAL);
  }
}

// Of others nothing ends.
void fail__concerns_one_peer(void **) {
  Lab l({}, 3);
  Call &r = l.b.receive(large, {.src = 2}), &r2 = l.b.receive(parts, {.src = 2});
  Call &s = l.side(2).send(1, pattern(large)), &s2 = l.side(2).send(1, pattern(parts));
  l.side(2).send(1, pattern(7), {.tag = 1});
  Call &back = l.b.send(2, pattern(large));
  assert_true(l.deliver(2, 1));
  l.a.send(1, pattern(large));
  assert_true(l.deliver(0, 1));
  l.b.lose(0, FI_ECONNRESET);
  l.a.lose(1, FI_ECONNRESET);
  Call &r3 = l.side(2).receive(large);
  l.run();
  assert_true(s.ok() && s2.ok() && r.ok() && r2.ok() && back.ok() && r3.ok());
  assert_true(l.b.receive(7, {.tag = 1}).ok());
}

void opened__begins_anew_after_a_failure(void **) {
  Lab l;
  l.a.send(1, pattern(parts));
  assert_true(l.deliver(0, 1));
  Call &waits = l.b.receive(5, {.tag = 1});
  l.a.lose(1, FI_ECONNRESET);
  l.b.lose(0, FI_ECONNRESET);
  Call &s = l.a.send(1, pattern(5), {.tag = 1}); // of the new session
  assert_true(s.open());
  begin_again(l);
  l.run();
  assert_true(s.ok() && waits.ok());
  assert_int_equal(l.b.to(0).rx_window, Options{}.credit);
}

// --- Between two structures of one peer

void hand_over__moves_what_waits(void **) {
  Lab l({.open = false});
  Call &first = l.a.send(1, pattern(10)), &second = l.a.send(1, pattern(parts));
  Call &third = l.a.send(1, pattern(20), {.flags = FI_FENCE});
  Remote other;
  other.addr = 1;
  l.a.m->hand_over(l.a.to(1), other);
  assert_true(other.push);
  assert_true(l.a.to(1).traffic->idle());
  l.a.m->hand_over(other, l.a.to(1));
  l.a.to(1).push = false;
  assert_true(other.traffic->idle());
  begin_again(l);
  l.run();
  assert_true(first.ok() && second.ok() && third.ok());
  for (const std::size_t len : {std::size_t{10}, parts, std::size_t{20}})
    assert_true(l.b.receive(len).ok());
}

void hand_over__of_nothing(void **) {
  Lab l;
  Remote other;
  l.a.m->hand_over(l.a.to(1), other);
  assert_true(other.traffic == nullptr);
  assert_false(other.push);
}

// Parts of it have gone by the session that is over: it ends with that.
void hand_over__leaves_a_message_that_is_half_sent(void **) {
  Lab l;
  l.a.room = 2;
  Call &half = l.a.send(1, pattern(parts)), &next = l.a.send(1, pattern(10));
  Remote fresh;
  fresh.addr = 1;
  l.a.m->hand_over(l.a.to(1), fresh);
  l.a.lose(1, FI_ECONNRESET);
  assert_int_equal(half.error(), FI_ECONNRESET);
  assert_true(next.open());
  assert_true(fresh.push);
  l.a.m->hand_over(fresh, l.a.to(1));
  l.b.lose(0, FI_ECONNRESET);
  l.a.room = SIZE_MAX;
  begin_again(l);
  l.run();
  assert_true(next.ok());
  assert_true(l.b.receive(10).ok());
}

// --- The rest

void source_known__of_all_that_waits(void **) {
  Lab l({}, 3);
  l.b.to(0).addr = FI_ADDR_NOTAVAIL;
  l.a.send(1, pattern(1));
  l.a.send(1, pattern(2), {.tag = 5});
  l.a.send(1, pattern(3));
  l.side(2).send(1, pattern(4));
  l.run();
  Call &c = l.b.calls.emplace_back(Bytes(10));
  assert_int_equal(l.b.try_receive(c, {.flags = FI_PEEK | FI_CLAIM}), 0);
  l.b.reap();
  assert_int_equal(c.done[0].src, FI_ADDR_NOTAVAIL);
  Call &tagged = l.b.receive(10, {.tag = 5, .src = 0});
  assert_int_equal(l.b.peek({.src = 0}).error(), FI_ENOMSG);
  assert_int_equal(l.b.peek({.tag = 5, .src = 0}).error(), FI_ENOMSG);
  assert_int_equal(l.b.m->cancel(&tagged), 0);
  l.b.to(0).addr = 0;
  l.b.m->source_known(l.b.to(0));
  assert_int_equal(l.b.peek({.tag = 5, .src = 0}).done[0].len, 2);
  assert_int_equal(l.b.peek({.src = 0}).done[0].len, 3);
  assert_int_equal(l.b.peek({.src = 2}).done[0].len, 4);
  assert_int_equal(l.b.try_receive(c, {.flags = FI_CLAIM}), 0);
  l.b.reap();
  assert_int_equal(c.done[1].src, 0);
  // And unknown again: its index is about to be another's.
  l.b.to(0).addr = FI_ADDR_NOTAVAIL;
  l.b.m->source_known(l.b.to(0));
  assert_int_equal(l.b.peek({.src = 0}).error(), FI_ENOMSG);
}

void promised__is_what_nobody_waits_for(void **) {
  Lab l;
  assert_int_equal(l.a.m->promised(), 0);
  Call &s = l.a.send(1, pattern(large));
  assert_int_equal(l.a.m->promised(), 0); // the application knows when it ends
  l.a.send(1, pattern(large), {.silent = true});
  assert_int_equal(l.a.m->promised(), 1);
  l.b.receive(large);
  l.run();
  assert_true(s.ok());
  assert_int_equal(l.a.m->promised(), 1);
  l.b.receive(large);
  l.run();
  assert_int_equal(l.a.m->promised(), 0);
  l.a.room = 0;
  l.a.send(1, pattern(10), {.flags = FI_INJECT, .silent = true});
  assert_int_equal(l.a.m->promised(), 1);
  l.a.lose(1, FI_ECONNRESET);
  assert_int_equal(l.a.m->promised(), 0);
}

void tidy__gives_back_what_an_idle_peer_needs_not(void **) {
  Lab l;
  const auto has = [](Side &s, unsigned peer) {
    s.m->tidy(s.to(peer));
    return s.to(peer).traffic != nullptr;
  };
  l.a.send(1, pattern(10));
  assert_true(has(l.a, 1)); // waits for an ack
  l.run();
  assert_false(has(l.a, 1));
  assert_false(has(l.b, 0)); // unexpected messages need none
  l.a.send(1, pattern(parts));
  assert_true(l.deliver(0, 1));
  assert_true(has(l.b, 0)); // half a message
  l.run();
  assert_false(has(l.b, 0));
  l.a.send(1, pattern(10)), l.a.send(1, pattern(10));
  assert_true(l.deliver(0, 1, 1));
  assert_true(has(l.b, 0)); // one before its turn
  l.run();
  assert_false(has(l.b, 0));
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(fail__leaves_whole_messages),
    cmocka_unit_test(fail__forgets_a_claim_that_cant_be_kept),
    cmocka_unit_test(fail__concerns_one_peer),
    cmocka_unit_test(opened__begins_anew_after_a_failure),
    cmocka_unit_test(hand_over__moves_what_waits),
    cmocka_unit_test(hand_over__of_nothing),
    cmocka_unit_test(hand_over__leaves_a_message_that_is_half_sent),
    cmocka_unit_test(source_known__of_all_that_waits),
    cmocka_unit_test(promised__is_what_nobody_waits_for),
    cmocka_unit_test(tidy__gives_back_what_an_idle_peer_needs_not),
};
static const unit::Group group{"peers", cases};
