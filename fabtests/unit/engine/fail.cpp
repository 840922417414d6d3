// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "lab.h"

#include <algorithm>

using namespace lab;

namespace {

// Operations of all kinds with a peer, none of which can end well without it.
std::vector<Call *> load(Node &n, fi_addr_t to) {
  std::vector<Call *> calls;
  for (const std::size_t len : {0, 100, 5000, 40000})
    for (const std::uint64_t level : {FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE})
      calls.push_back(&n.send(to, pattern(len), {.flags = level}));
  calls.push_back(&n.send(to, pattern(40000), {.flags = FI_INJECT, .silent = true}));
  calls.push_back(&n.send(to, pattern(10), {.flags = FI_FENCE}));
  return calls;
}

bool all_ended(const std::vector<Call *> &calls) {
  return std::ranges::none_of(calls, &Call::open);
}

void death__is_told_after_the_time_limit(void **) {
  for (const Duration limit : {Duration(10s), Duration(2s)}) {
    World w;
    w.options.config.session.peer_timeout = limit;
    const Log log;
    Node &a = w.start();
    w.start(), w.start();
    w.exchange(0, 1);
    w.exchange(0, 2);
    w.run_for(100s); // idle before: that doesn't count
    w.kill(1);
    const Time then = w.now();
    const auto calls = load(a, 1);
    Call &other = a.send(2, pattern(100000));
    Call &any = a.receive(10), &directed = a.receive(10, {.src = 1});
    w.run_for(limit - 10ms);
    for (const Call *c : calls)
      assert_true(c->open());
    assert_true(w.run_until([&] { return all_ended(calls); }, limit / 4));
    assert_true(w.now() - then >= limit);
    w.run_for(10s);
    for (const Call *c : calls)
      assert_int_equal(c->error(), ETIMEDOUT); // once
    assert_int_equal(a.queues.sends_failed(), calls.size());
    assert_true(other.open() && any.open() && directed.open()); // none of its business
    assert_true(log.has("peer 10.0.0.2:4000 is lost"));
    Call &r = w.node(2).receive(100000);
    assert_true(w.finish({&other, &r}, 1s));
    assert_true(other.ok());
  }
}

// A whole job is stopped for longer than a peer may be silent, and goes on.
void peers__that_are_stopped_together_live(void **) {
  for (const bool connected : {true, false}) {
    World w;
    Node &a = w.start(), &b = w.start();
    if (connected)
      w.exchange(0, 1);
    w.hook = [](const Departure &, PacketType) { return Verdict{.drop = true}; };
    Call &small = a.send(1, pattern(10)), &large = a.send(1, pattern(100000));
    Call &back = b.send(0, pattern(100000), {.flags = FI_MATCH_COMPLETE});
    w.run_for(3s); // the last that was said is lost on the way
    w.hook = {};
    a.computes = b.computes = true;
    w.run_for(60s);
    a.computes = b.computes = false;
    w.run_for(1s);
    assert_true(large.open() && back.open());
    Call &r = b.receive(10), &r2 = b.receive(100000), &r3 = a.receive(100000);
    assert_true(w.finish({&small, &large, &back, &r, &r2, &r3}, 1s));
    assert_true(small.ok() && large.ok() && back.ok());
    assert_true(r.holds(pattern(10)) && r2.holds(pattern(100000)) && r3.holds(pattern(100000)));
  }
}

void death__on_the_host_link_is_told_at_once(void **) {
  World w;
  Node &a = w.start(On::host);
  w.start(On::host), w.start(On::host);
  w.exchange(0, 1);
  auto calls = load(a, 1);
  Call &other = a.send(2, pattern(100000));
  w.run_for(1ms);
  std::erase_if(calls, [](const Call *c) { return !c->open(); }); // buffered, which is delivered
  assert_true(calls.size() > 4);
  w.kill(1);
  assert_true(w.run_until([&] { return all_ended(calls); }, 100ms));
  for (const Call *c : calls)
    assert_int_equal(c->error(), ECONNRESET);
  assert_true(other.open());
  Call &r = w.node(2).receive(100000);
  assert_true(w.finish({&other, &r}, 1s));
}

// Whoever finds each completion at once makes no turns: sends see by themselves who has ended.
void death__on_the_host_link_is_seen_by_sends_alone(void **) {
  World w;
  w.options.is_own_address = all_own;
  Node &a = w.start(On::host);
  w.start(On::host), w.start(On::host);
  w.exchange(0, 1);
  w.exchange(0, 2);
  a.computes = true;
  w.run_for(10ms);
  Call &before = a.send(1, pattern(8));
  a.queues.reap();
  assert_true(before.ok()); // in the memory of a peer that lives
  w.kill(1);
  w.run_for(10ms);
  const std::uint64_t sent = a.queues.sends_ok();
  assert_int_equal(a.send(1, pattern(8)).error(), ECONNRESET); // nobody will read it
  Call &next = a.send(1, pattern(8));
  assert_true(next.open());
  assert_int_equal(a.queues.sends_ok(), sent);
  a.send(2, pattern(8)); // others are as they were
  assert_int_equal(a.queues.sends_ok(), sent + 1);
  a.computes = false;
  assert_true(w.finish({&next}, 12s));
  assert_int_equal(next.error(), ECONNREFUSED);
}

// ... so what is sent then goes to a successor, if one is there.
void death__on_the_host_link_makes_room_for_a_successor(void **) {
  World w;
  Node &a = w.start(On::host);
  w.start(On::host);
  w.exchange(0, 1);
  a.computes = true;
  w.kill(1);
  Node &next = w.restart(1, On::host);
  w.run_for(10ms);
  assert_int_equal(a.send(1, pattern(8)).error(), ECONNRESET); // the one before may have had it
  Call &s = a.send(1, pattern(8)), &r = next.receive(8);
  a.computes = false;
  assert_true(w.finish({&s, &r}, 1s));
  assert_true(s.ok() && r.holds(pattern(8)));
}

// A receive that is half filled ends with its sender.
void death__ends_receives_that_it_has_begun(void **) {
  for (const On on : {On::device, On::host}) {
    World w;
    w.options.config.pull = false;
    w.options.host.rate = w.options.device.rate = 100'000'000;
    Node &a = w.start(on);
    w.start(on);
    w.exchange(1, 0);
    Call &r = a.receive(10'000'000), &next = a.receive(10);
    w.node(1).send(0, pattern(10'000'000));
    w.run_for(100ms); // an eighth of it
    w.kill(1);
    assert_true(w.finish({&r}, 15s));
    assert_int_equal(r.error(), on == On::host ? ECONNRESET : ETIMEDOUT);
    assert_true(next.open());
    w.restart(1, on);
    w.exchange(1, 0);
  }
}

// While the cable is out for less than the limit, nothing is lost.
void cable__that_is_out_for_a_while_loses_nothing(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  w.device.set_down(b.address, true);
  Call &s = a.send(1, pattern(5000)), &s2 = a.send(1, pattern(100000));
  Call &r = b.receive(5000), &r2 = b.receive(100000);
  w.run_for(9s);
  assert_true(s.open() && s2.open());
  w.device.set_down(b.address, false);
  assert_true(w.finish({&s, &r, &s2, &r2}, 5s));
  assert_true(s.ok() && r.ok() && s2.ok() && r2.ok());
}

// --- Close

void close__says_goodbye(void **) {
  for (const On on : {On::device, On::host}) {
    World w;
    Node &a = w.start(on), &b = w.start(on);
    w.exchange(0, 1);
    const auto calls = load(a, 1);
    w.run_for(1ms);
    Call &posted = b.receive(10, {.tag = 1}), &sent = b.send(0, pattern(100000));
    w.close(1);
    if (on == On::host)
      w.kill(1);                                                       // its process
    assert_true(w.run_until([&] { return all_ended(calls); }, 100ms)); // no time limit
    for (const Call *c : calls)
      assert_true(c->ok() || c->error() == ECONNRESET);
    assert_true(calls.back()->error() == 0 || calls.back()->error() == ECONNRESET);
    b.queues.reap();
    assert_true(posted.open() && sent.open()); // closing ends without completions
    assert_int_equal(w.count(PacketType::bye), on == On::device ? 1 : 0);
  }
}

void close__of_one_that_has_no_peers(void **) {
  World w;
  w.start(), w.start(On::host);
  w.close(0);
  w.close(1);
  w.close(1); // once more
  assert_true(w.seen.empty());
}

// --- What was promised

bool drained(Node &n) {
  const std::lock_guard lock(n.endpoint->mutex());
  return n.endpoint->drained();
}

void drained__once_injected_sends_have_arrived(void **) {
  link::sim::Faults faults;
  faults.loss = 0.2;
  for (const On on : {On::device, On::host})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      World w({}, seed);
      w.device.set_faults(faults);
      Node &a = w.start(on), &b = w.start(on);
      assert_true(drained(a));
      constexpr unsigned count = 30;
      for (unsigned i = 0; i < count; ++i)
        a.send(1, pattern(i * 20, i), {.flags = FI_INJECT | FI_INJECT_COMPLETE, .silent = true});
      assert_false(drained(a)); // there isn't even a session
      assert_true(w.run_until([&] { return drained(a); }, 10s));
      w.close(0);
      for (unsigned i = 0; i < count; ++i) {
        Call &r = b.receive(i * 20);
        assert_true(w.finish({&r}, 10ms));
        assert_true(r.holds(pattern(i * 20, i)));
      }
    }
}

// The other side's send has come to its receive; that it may end is owed.
void drained__once_answers_have_left(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  Call &s = a.send(1, pattern(100000));
  w.run_for(1ms);
  Call &r = b.receive(100000);
  assert_true(w.finish({&r}, 1s));
  assert_false(drained(b)); // its fin is under way
  assert_true(w.run_until([&] { return drained(b); }, 1s));
  w.close(1);
  assert_true(w.finish({&s}, 1s));
  assert_true(s.ok());
}

void drained__in_spite_of_what_somebody_waits_for(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  a.send(1, pattern(100000)); // its completion tells
  a.receive(10);
  b.receive(10, {.tag = 1});
  assert_true(w.run_until([&] { return drained(a) && drained(b); }, 1s));
}

void drained__when_the_peer_is_dead(void **) {
  World w;
  Node &a = w.start();
  w.start();
  w.exchange(0, 1);
  w.kill(1);
  a.send(1, pattern(100), {.flags = FI_INJECT | FI_INJECT_COMPLETE, .silent = true});
  w.run_for(5s);
  assert_false(drained(a));
  assert_true(w.run_until([&] { return drained(a); }, 10s));
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(death__is_told_after_the_time_limit),
    cmocka_unit_test(peers__that_are_stopped_together_live),
    cmocka_unit_test(death__on_the_host_link_is_told_at_once),
    cmocka_unit_test(death__on_the_host_link_is_seen_by_sends_alone),
    cmocka_unit_test(death__on_the_host_link_makes_room_for_a_successor),
    cmocka_unit_test(death__ends_receives_that_it_has_begun),
    cmocka_unit_test(cable__that_is_out_for_a_while_loses_nothing),
    cmocka_unit_test(close__says_goodbye),
    cmocka_unit_test(close__of_one_that_has_no_peers),
    cmocka_unit_test(drained__once_injected_sends_have_arrived),
    cmocka_unit_test(drained__once_answers_have_left),
    cmocka_unit_test(drained__in_spite_of_what_somebody_waits_for),
    cmocka_unit_test(drained__when_the_peer_is_dead),
};
static const unit::Group group{"fail", cases};
