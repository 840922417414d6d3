// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Connections between endpoints of engines: how they come up, carry messages and
// end (connection.cpp), on links that lose and on those that don't.
#include <algorithm>

#include "lab.h"

using namespace lab;
using engine::ConnectionSink;
using engine::ListenerSink;

namespace {

struct Told final : ConnectionSink {
  unsigned up = 0, over = 0, refusals = 0;
  int error = 0;
  Bytes data;

  void connected(std::span<const std::byte> d) override { ++up, data.assign(d.begin(), d.end()); }
  void refused(int e, std::span<const std::byte> d) override {
    ++refusals, error = e, data.assign(d.begin(), d.end());
  }
  void ended() override { ++over; }
};

struct Asked final : ListenerSink {
  std::vector<Request> requests;
  std::vector<Bytes> data;
  bool room = true;

  bool requested(const Request &r, std::span<const std::byte> d) override {
    if (!room)
      return false;
    requests.push_back(r);
    data.emplace_back(d.begin(), d.end());
    return true;
  }
};

template <class F> auto locked(Node &n, F &&f) {
  const std::lock_guard lock(n.endpoint->mutex());
  return f(*n.endpoint);
}

// A listener, who calls it, and who is to answer.
struct Three {
  explicit Three(On on, std::size_t backlog = 8, Options o = {})
      : world(std::move(o)), listener(world.start(on)), caller(world.start(on)),
        answerer(world.start(on)) {
    listen(listener, asked, backlog);
    connects(caller, called);
    connects(answerer, answered);
  }
  ~Three() { // before the sinks
    for (Node *n : {&listener, &caller, &answerer})
      locked(*n, [](auto &e) { e.close(); });
  }

  static void listen(Node &n, Asked &asked, std::size_t backlog) {
    assert_int_equal(locked(n, [&](auto &e) { return e.set_listener(asked, backlog); }), 0);
  }
  static void connects(Node &n, Told &told) {
    assert_int_equal(locked(n, [&](auto &e) { return e.set_connection(told); }), 0);
  }
  static int call(Node &n, const Address &to, const Bytes &data = {}) {
    return locked(n, [&](auto &e) { return e.connect(to, data); });
  }
  static int answer(Node &n, const ListenerSink::Request &r, const Bytes &data = {}) {
    return locked(n, [&](auto &e) { return e.accept(r, data); });
  }
  static int leave(Node &n) {
    return locked(n, [](auto &e) { return e.shutdown(); });
  }
  bool until(const std::function<bool()> &f) { return world.run_until(f); }
  void request(const Bytes &data = {}) {
    assert_int_equal(call(caller, listener.address, data), 0);
    assert_true(until([&] { return !asked.requests.empty(); }));
  }
  void connect() {
    request();
    assert_int_equal(answer(answerer, asked.requests[0]), 0);
    assert_true(until([&] { return called.up && answered.up; }));
    locked(listener, [&](auto &e) { e.forget(asked.requests[0].number); });
  }
  void exchange(Node &from, Node &to, std::size_t size) {
    Call &r = to.receive(size), &s = from.send(12345, pattern(size)); // any address will do
    assert_true(world.finish({&r, &s}));
    assert_true(r.ok() && s.ok() && r.holds(pattern(size)));
  }

  Asked asked;
  Told called, answered;
  World world;
  Node &listener, &caller, &answerer;
};

constexpr On links[] = {On::device, On::host};

void connection__carries_data_all_three_ways(void **) {
  for (const On on : links) {
    Three t(on);
    t.request(pattern(256, 1));
    assert_true(t.asked.data[0] == pattern(256, 1));
    assert_true(t.asked.requests[0].caller == t.caller.address);
    assert_int_equal(Three::answer(t.answerer, t.asked.requests[0], pattern(255, 2)), 0);
    assert_true(t.until([&] { return t.called.up && t.answered.up; }));
    assert_true(t.called.data == pattern(255, 2));
    assert_true(t.answered.data.empty());
  }
  for (const On on : links) {
    Three t(on);
    t.request();
    locked(t.listener, [&](auto &e) { e.reject(t.asked.requests[0].number, pattern(256, 3)); });
    assert_true(t.until([&] { return t.called.refusals == 1; }));
    assert_int_equal(t.called.error, ECONNREFUSED);
    assert_true(t.called.data == pattern(256, 3));
  }
}

void connection__carries_messages_both_ways(void **) {
  for (const On on : links) {
    Three t(on);
    t.connect();
    for (const std::size_t size : {0, 1, 1000, 5000, 100000}) {
      t.exchange(t.caller, t.answerer, size);
      t.exchange(t.answerer, t.caller, size);
    }
  }
}

void connection__comes_up_and_ends_where_packets_get_lost(void **) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Options o;
    o.config.seed = seed;
    Three t(On::device, 8, o);
    t.world.device.set_faults({.loss = 0.1, .duplicate = 0.1, .reorder = 0.1});
    t.connect();
    t.exchange(t.caller, t.answerer, 20000);
    t.exchange(t.answerer, t.caller, 20000);
    assert_int_equal(Three::leave(t.caller), 0);
    assert_true(t.until([&] { return t.called.over && t.answered.over; }));
    assert_int_equal(t.called.up + t.answered.up, 2);
    assert_int_equal(t.called.over + t.answered.over, 2);
  }
}

// --- who is refused

void request__is_refused_where_nobody_listens(void **) {
  for (const On on : links) {
    World w;
    Node &plain = w.start(on), &caller = w.start(on), &other = w.start(on);
    Told told, others;
    Three::connects(caller, told);
    Three::connects(other, others);
    assert_int_equal(Three::call(caller, plain.address), 0);
    assert_true(w.run_until([&] { return told.refusals == 1; }));
    assert_int_equal(told.error, ECONNREFUSED);
    // Nor does an endpoint that connects itself.
    Node &third = w.start(on);
    Told thirds;
    Three::connects(third, thirds);
    assert_int_equal(Three::call(third, other.address), 0);
    assert_true(w.run_until([&] { return thirds.refusals == 1; }));
    assert_int_equal(thirds.error, ECONNREFUSED);
    assert_int_equal(others.up + others.refusals + others.over, 0);
    for (Node *n : {&caller, &other, &third})
      locked(*n, [](auto &e) { e.close(); });
  }
}

void request__times_out_where_nobody_is(void **) {
  World w;
  Node &caller = w.start();
  Told told;
  Three::connects(caller, told);
  assert_int_equal(Three::call(caller, address(99)), 0);
  assert_true(w.run_until([&] { return told.refusals == 1; }));
  assert_int_equal(told.error, ETIMEDOUT);
  locked(caller, [](auto &e) { e.close(); });
}

void request__is_refused_at_once_by_a_host_where_nobody_is(void **) {
  World w;
  Node &caller = w.start(On::host);
  Told told;
  Three::connects(caller, told);
  assert_int_equal(Three::call(caller, address(99)), 0);
  for (int i = 0; i < 2; ++i) // without time passing
    caller.turn();
  assert_int_equal(told.refusals, 1);
  assert_true(told.error == ECONNREFUSED || told.error == EHOSTUNREACH);
  locked(caller, [](auto &e) { e.close(); });
}

// It lives, and calls nothing.
void request__times_out_where_nobody_answers(void **) {
  for (const On on : links) {
    Three t(on);
    t.listener.computes = true;
    const Time before = t.world.now();
    assert_int_equal(Three::call(t.caller, t.listener.address), 0);
    assert_true(t.until([&] { return t.called.refusals == 1; }));
    assert_int_equal(t.called.error, ETIMEDOUT);
    assert_true(t.world.now() - before >= t.world.options.config.connect_timeout);
  }
}

// Once it has shown that it is there, it may take its time.
void request__waits_for_a_listener_that_is_there(void **) {
  for (const On on : links) {
    Three t(on);
    t.request();
    t.world.run_for(300s);
    assert_int_equal(t.called.refusals, 0);
    assert_int_equal(Three::answer(t.answerer, t.asked.requests[0]), 0);
    assert_true(t.until([&] { return t.called.up && t.answered.up; }));
  }
}

void request__is_refused_when_too_many_wait(void **) {
  for (const On on : links) {
    Three t(on, 1);
    t.request();
    assert_int_equal(Three::call(t.answerer, t.listener.address), 0);
    assert_true(t.until([&] { return t.answered.refusals == 1; }));
    assert_int_equal(t.answered.error, ECONNREFUSED);
    assert_int_equal(t.asked.requests.size(), 1);
    assert_int_equal(t.called.refusals, 0);
  }
}

void request__is_refused_when_the_listener_has_no_room(void **) {
  Three t(On::device);
  t.asked.room = false;
  assert_int_equal(Three::call(t.caller, t.listener.address), 0);
  assert_true(t.until([&] { return t.called.refusals == 1; }));
  assert_int_equal(t.called.error, ECONNREFUSED);
}

void request__ends_with_its_listener(void **) {
  for (const On on : links) {
    Three t(on);
    t.request();
    if (on == On::host)
      t.world.kill(0);
    else
      t.world.close(0);
    assert_true(t.until([&] { return t.called.refusals == 1; }));
    assert_int_equal(t.called.error, ECONNRESET);
  }
}

// The number is all that who answers has of a request; it is not to be guessed, and good once.
void answer__with_a_wrong_number_is_refused(void **) {
  Three t(On::device);
  t.request();
  auto forged = t.asked.requests[0];
  forged.id ^= 1;
  assert_int_equal(Three::answer(t.answerer, forged), 0);
  assert_true(t.until([&] { return t.answered.refusals == 1; }));
  assert_int_equal(t.answered.error, ECONNREFUSED);
  assert_int_equal(t.called.up + t.called.refusals, 0);
}

void answer__comes_once(void **) {
  Three t(On::device);
  t.connect();
  Node &late = t.world.start();
  Told told;
  Three::connects(late, told);
  assert_int_equal(Three::answer(late, t.asked.requests[0]), 0);
  assert_true(t.until([&] { return told.refusals == 1; }));
  assert_int_equal(told.error, ECONNREFUSED);
  t.exchange(t.caller, t.answerer, 100);
  locked(late, [](auto &e) { e.close(); });
}

void answer__to_a_caller_that_has_gone_fails(void **) {
  for (const On on : links) {
    Three t(on);
    t.request();
    t.world.close(1);
    t.world.kill(1);
    assert_int_equal(Three::answer(t.answerer, t.asked.requests[0]), 0);
    assert_true(t.until([&] { return t.answered.refusals == 1; }));
    assert_int_not_equal(t.answered.error, 0);
  }
}

// --- calls in the wrong state

void calls__need_the_connection(void **) {
  Three t(On::device);
  Call c(pattern(10));
  assert_int_equal(t.caller.try_send(c, 0), -FI_ENOTCONN);
  assert_int_equal(Three::leave(t.caller), -FI_ENOTCONN);
  t.request();
  assert_int_equal(t.caller.try_send(c, 0), -FI_ENOTCONN);
  assert_int_equal(Three::call(t.caller, t.listener.address), -FI_EISCONN);
  assert_int_equal(Three::answer(t.caller, t.asked.requests[0]), -FI_EISCONN);
  assert_int_equal(Three::answer(t.answerer, t.asked.requests[0]), 0);
  assert_true(t.until([&] { return t.called.up && t.answered.up; }));
  assert_int_equal(Three::leave(t.caller), 0);
  assert_int_equal(t.caller.try_send(c, 0), -FI_ENOTCONN);
  assert_int_equal(Three::leave(t.caller), -FI_ENOTCONN);
  assert_true(t.until([&] { return t.called.over && t.answered.over; }));
  assert_int_equal(t.answerer.try_send(c, 0), -FI_ENOTCONN);
  assert_int_equal(t.answerer.try_receive(c), -FI_ENOTCONN);
  assert_int_equal(Three::leave(t.answerer), -FI_ENOTCONN);
}

// --- strangers

void strangers__are_not_heard(void **) {
  for (const On on : links) {
    Three t(on);
    t.connect();
    Call &r = t.answerer.receive(100);
    Node &stranger = t.world.start(on);
    Call &s = stranger.send(2, pattern(100), {.flags = FI_DELIVERY_COMPLETE}); // the answerer
    assert_true(t.world.finish({&s}));
    assert_int_not_equal(s.error(), 0);
    assert_true(r.open());
    Call &ours = t.caller.send(0, pattern(100));
    assert_true(t.world.finish({&ours, &r}));
    assert_true(r.holds(pattern(100)));
  }
}

// --- the end

void shutdown__lets_everything_arrive(void **) {
  for (const On on : links)
    for (const std::size_t size : {100, 5000, 100000}) {
      Three t(on);
      t.connect();
      std::vector<Call *> sends, receives;
      for (unsigned i = 0; i < 20; ++i)
        sends.push_back(&t.caller.send(0, pattern(size, i)));
      assert_int_equal(Three::leave(t.caller), 0);
      for (unsigned i = 0; i < 20; ++i)
        receives.push_back(&t.answerer.receive(size));
      assert_true(t.until([&] { return t.called.over && t.answered.over; }));
      for (unsigned i = 0; i < 20; ++i) {
        assert_true(sends[i]->ok());
        assert_true(receives[i]->ok() && receives[i]->holds(pattern(size, i)));
      }
    }
}

// What the provider has buffered can be received after the end.
void shutdown__leaves_what_has_come(void **) {
  for (const On on : links) {
    Three t(on);
    t.connect();
    t.caller.send(0, pattern(100));
    assert_int_equal(Three::leave(t.caller), 0);
    assert_true(t.until([&] { return t.called.over && t.answered.over; }));
    Call &r = t.answerer.receive(100);
    assert_true(r.ok() && r.holds(pattern(100)));
    Call more(Bytes(100));
    assert_int_equal(t.answerer.try_receive(more), -FI_ENOTCONN);
  }
}

void shutdown__ends_what_waits(void **) {
  for (const On on : links) {
    Three t(on);
    t.connect();
    Call &here = t.caller.receive(100), &there = t.answerer.receive(100);
    Call &unwanted = t.answerer.send(0, pattern(100000)); // there is no receive for it
    assert_int_equal(Three::leave(t.caller), 0);
    t.caller.queues.reap();
    assert_int_equal(here.error(), FI_ECANCELED); // at once
    assert_true(t.until([&] { return t.called.over && t.answered.over; }));
    assert_int_equal(there.error(), FI_ECANCELED);
    assert_int_equal(unwanted.error(), FI_ESHUTDOWN);
  }
}

// Each has much for the other, which doesn't want it.
void shutdown__of_both_ends_comes_to_an_end(void **) {
  for (const On on : links) {
    Three t(on);
    t.connect();
    Call &a = t.caller.send(0, pattern(100000)), &b = t.answerer.send(0, pattern(100000));
    const Time before = t.world.now();
    assert_int_equal(Three::leave(t.caller), 0);
    assert_int_equal(Three::leave(t.answerer), 0);
    assert_true(t.until([&] { return t.called.over && t.answered.over; }));
    assert_true(t.world.finish({&a, &b}));
    assert_true(t.world.now() - before < t.world.options.config.linger);
  }
}

void shutdown__waits_no_longer_than_linger(void **) {
  for (const On on : links) {
    Options o;
    o.config.linger = 2s;
    Three t(on, 8, o);
    t.connect();
    Call &s = t.caller.send(0, pattern(100000)); // nobody receives it
    const Time before = t.world.now();
    assert_int_equal(Three::leave(t.caller), 0);
    assert_true(t.until([&] { return t.called.over && t.answered.over; }));
    assert_true(t.world.now() - before >= 2s);
    assert_int_equal(s.error(), FI_ETIMEDOUT);
  }
}

void shutdown__of_who_still_calls_gives_up(void **) {
  Three t(On::device);
  t.request();
  assert_int_equal(Three::leave(t.caller), 0);
  assert_true(t.until([&] { return t.called.refusals == 1; }));
  assert_int_equal(t.called.error, ECANCELED);
}

void close__is_an_end_too(void **) {
  for (const On on : links) {
    Three t(on);
    t.connect();
    Call &r = t.answerer.receive(100);
    t.world.close(1);
    assert_true(t.until([&] { return t.answered.over == 1; }));
    assert_int_equal(r.error(), ECONNRESET);
  }
}

// Nothing is under way: its silence is noticed all the same.
void death__of_a_silent_peer_is_noticed(void **) {
  for (const On on : links) {
    Three t(on);
    t.connect();
    t.world.kill(1);
    assert_true(t.until([&] { return t.answered.over == 1; }));
    Call c(pattern(10));
    assert_int_equal(t.answerer.try_send(c, 0), -FI_ENOTCONN);
  }
}

void silence__of_a_living_peer_is_none(void **) {
  Three t(On::device);
  t.connect();
  t.world.run_for(300s);
  assert_int_equal(t.called.over + t.answered.over, 0);
  t.exchange(t.caller, t.answerer, 100);
}

// --- what a listener keeps

// Callers whose goodbye gets lost are forgotten in the end; who waits for an answer is not.
void listener__hangs_up_on_who_has_been_answered_and_is_silent(void **) {
  for (const bool accepts : {true, false}) {
    Three t(On::device);
    Node &waits = t.world.start();
    Told waiting;
    Three::connects(waits, waiting);
    assert_int_equal(Three::call(waits, t.listener.address), 0);
    t.world.hook = [&](const Departure &d, PacketType type) {
      return Verdict{.drop = type == PacketType::bye && d.to == t.listener.address};
    };
    const auto hung_up_on = [&t](const Node &n) {
      return std::ranges::any_of(t.world.seen, [&](const Seen &s) {
        return s.type == PacketType::bye && s.from == t.listener.address && s.to == n.address;
      });
    };
    assert_true(t.until([&] { return t.asked.requests.size() == 1; }));
    assert_int_equal(Three::call(t.caller, t.listener.address), 0);
    assert_true(t.until([&] { return t.asked.requests.size() == 2; }));
    const auto &request = t.asked.requests[1];
    if (accepts) {
      assert_int_equal(Three::answer(t.answerer, request), 0);
      assert_true(t.until([&] { return t.called.up && t.answered.up; }));
      locked(t.listener, [&](auto &e) { e.forget(request.number); });
    } else {
      locked(t.listener, [&](auto &e) { e.reject(request.number, {}); });
      assert_true(t.until([&] { return t.called.refusals == 1; }));
    }
    const auto &config = t.world.options.config;
    const Duration silence = config.connect_timeout + config.session.peer_timeout;
    t.world.run_for(silence - 1s);
    assert_false(hung_up_on(t.caller));
    t.world.run_for(2s);
    assert_true(hung_up_on(t.caller));
    t.world.run_for(silence);
    assert_false(hung_up_on(waits));
    assert_int_equal(t.called.over, 0);
    locked(waits, [](auto &e) { e.close(); });
  }
}

// --- frames that make no sense

// Each frame of a connection once more, long after: it has had its turn.
void repeated_packets__change_nothing(void **) {
  Three t(On::device);
  t.connect();
  const auto seen = t.world.seen;
  for (const Seen &s : seen)
    if (s.type == PacketType::data)
      t.world.replay(s);
  t.world.run_for(1s);
  assert_int_equal(t.asked.requests.size(), 1);
  assert_int_equal(t.called.up + t.answered.up, 2);
  assert_int_equal(t.called.over + t.answered.over, 0);
  t.exchange(t.caller, t.answerer, 100);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(connection__carries_data_all_three_ways),
    cmocka_unit_test(connection__carries_messages_both_ways),
    cmocka_unit_test(connection__comes_up_and_ends_where_packets_get_lost),
    cmocka_unit_test(request__is_refused_where_nobody_listens),
    cmocka_unit_test(request__times_out_where_nobody_is),
    cmocka_unit_test(request__is_refused_at_once_by_a_host_where_nobody_is),
    cmocka_unit_test(request__times_out_where_nobody_answers),
    cmocka_unit_test(request__waits_for_a_listener_that_is_there),
    cmocka_unit_test(request__is_refused_when_too_many_wait),
    cmocka_unit_test(request__is_refused_when_the_listener_has_no_room),
    cmocka_unit_test(request__ends_with_its_listener),
    cmocka_unit_test(answer__with_a_wrong_number_is_refused),
    cmocka_unit_test(answer__comes_once),
    cmocka_unit_test(answer__to_a_caller_that_has_gone_fails),
    cmocka_unit_test(calls__need_the_connection),
    cmocka_unit_test(strangers__are_not_heard),
    cmocka_unit_test(shutdown__lets_everything_arrive),
    cmocka_unit_test(shutdown__leaves_what_has_come),
    cmocka_unit_test(shutdown__ends_what_waits),
    cmocka_unit_test(shutdown__of_both_ends_comes_to_an_end),
    cmocka_unit_test(shutdown__waits_no_longer_than_linger),
    cmocka_unit_test(shutdown__of_who_still_calls_gives_up),
    cmocka_unit_test(close__is_an_end_too),
    cmocka_unit_test(death__of_a_silent_peer_is_noticed),
    cmocka_unit_test(silence__of_a_living_peer_is_none),
    cmocka_unit_test(listener__hangs_up_on_who_has_been_answered_and_is_silent),
    cmocka_unit_test(repeated_packets__change_nothing),
};
const unit::Group group{"connection", cases};

} // namespace
