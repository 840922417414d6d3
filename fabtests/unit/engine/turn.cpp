// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "lab.h"

#include "harness/forwarding_port.h"
#include "unit/op/allocations.h"

#include <algorithm>

using namespace lab;

namespace {

void turn__that_finds_nothing_does_nothing(void **) {
  for (const On on : {On::device, On::host, On::both}) {
    World w;
    Node &a = w.start(on);
    w.start(on);
    assert_true(a.endpoint->deadline() == never);
    assert_true(a.quiet());
    w.exchange(0, 1);
    w.run_for(1s);
    w.seen.clear();
    const std::size_t before = allocations::live();
    for (int i = 0; i < 100; ++i)
      assert_int_equal(a.turn(), 0);
    assert_int_equal(allocations::live(), before);
    assert_true(w.seen.empty());
    assert_true(a.quiet());
    assert_true(a.endpoint->deadline() == never);
  }
}

// So that timers, acks and other links have their turn.
void turn__takes_a_burst_at_a_time(void **) {
  for (const On on : {On::device, On::host}) {
    World w;
    w.options.config.session.first_credit = 4096;
    w.options.config.session.initial_window = 64;
    Node &a = w.start(on), &b = w.start(on);
    w.exchange(0, 1);
    w.run_for(1ms);
    b.computes = true;
    for (unsigned i = 0; i < 60; ++i)
      a.send(1, pattern(1400)); // a packet each
    w.run_for(10ms);
    auto before = b.statistics().rx_packets;
    assert_true(b.turn() > 0);
    assert_int_equal(b.statistics().rx_packets - before, 32);
    if (on == On::host)
      assert_false(b.quiet()); // there is more
    b.computes = false;
    w.run_for(10ms);
    assert_int_equal(b.statistics().messages_received, 61);
  }
}

void turn__is_counted_and_timed(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  const auto turns = a.statistics().turns;
  w.clock.advance_to(w.now() + 1s);
  a.turn();
  assert_int_equal(a.statistics().turns, turns + 1);
  assert_true(a.endpoint->last_turn() == w.now());
  const Time then = w.now();
  w.clock.advance_to(w.now() + 1s);
  a.turn();
  assert_true(a.endpoint->last_turn() == then + 1s);
  assert_true(b.endpoint->last_turn() < then);
}

class CountingClock final : public Clock {
public:
  explicit CountingClock(const Clock &c) : clock_(c) {}
  Time now() const override {
    ++reads;
    return clock_.now();
  }
  mutable unsigned reads = 0;

private:
  const Clock &clock_;
};

// With local peers only nothing is timed closely.
void clock__is_read_rarely_without_a_device(void **) {
  World w;
  w.start(On::host);
  const CountingClock clock(w.clock);
  Queues queues({});
  engine::Links links;
  links.host = w.host.attach(address(7), Profile::host());
  engine::Endpoint e({}, clock, address(7), std::move(links), w.book, queues.completers);
  const std::lock_guard lock(e.mutex());
  Call s(pattern(10));
  assert_int_equal(e.send(request(s, 0, {})), 0);
  assert_true(w.run_until(
      [&] {
        e.turn();
        queues.reap();
        return !s.open();
      },
      1s));
  w.run_for(20s); // the handshake's timers have run out
  for (int i = 0; i < 100; ++i)
    e.turn();
  clock.reads = 0;
  for (int i = 0; i < 320; ++i)
    e.turn();
  assert_true(clock.reads <= 10);
  assert_true(clock.reads > 0); // but it doesn't stand still
  clock.reads = 0;
  assert_int_equal(e.send(request(s, 0, {})), 0);
  assert_int_equal(clock.reads, 1); // whether it is time to look who has ended
}

// --- Timers and waits

// Whoever waits for the wait object is told when to look again.
void deadline__is_there_while_something_is_under_way(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  w.run_for(1s);
  b.computes = true;
  Call &s = a.send(1, pattern(10));
  assert_true(a.endpoint->deadline() > w.now());
  assert_true(a.endpoint->deadline() < w.now() + 1ms); // a resend
  w.run_for(1s);
  assert_true(a.statistics().resent > 3);
  assert_true(a.endpoint->deadline() <= w.now() + 500ms); // the longest wait
  b.computes = false;
  assert_true(w.finish({&s}, 1s));
  w.run_for(20s);
  assert_true(a.endpoint->deadline() == never);
}

// Only of ports that can block: others are polled anyway, as the device here.
void arm__tells_whether_there_is_something_to_do(void **) {
  World w;
  Node &a = w.start(On::host), &b = w.start(On::host);
  w.exchange(0, 1);
  w.run_for(1s);
  assert_true(b.quiet());
  b.computes = true;
  a.send(1, pattern(10));
  w.run_for(1ms);
  assert_false(b.quiet()); // it has arrived
  b.turn();
  assert_true(b.quiet());
}

// Takes nothing while it is shut, and tells who sleeps when it isn't any more: as one of a daemon
// that has gone.
class ShutPort final : public harness::ForwardingPort {
public:
  ShutPort(std::unique_ptr<link::Port> port, const bool &shut)
      : ForwardingPort(std::move(port)), shut_(shut) {}
  link::TxRoom reserve(link::PathId path, std::uint32_t len) override {
    return shut_ ? link::TxRoom{} : ForwardingPort::reserve(path, len);
  }
  int wait_fd() override { return 0; }
  bool arm() override { return true; }
  void disarm() override {}
  bool blocked() const override { return shut_; }

private:
  const bool &shut_;
};

// Who waits for such a link sleeps, whatever it has to send, and looks at its timers now and then.
void arm__sleeps_while_the_link_takes_nothing(void **) {
  for (const std::size_t size : {10, 100'000}) {
    bool shut = false;
    World w;
    w.options.wrap_device = [&](std::unique_ptr<link::Port> port) {
      return std::make_unique<ShutPort>(std::move(port), shut);
    };
    Node &a = w.start(), &b = w.start();
    w.exchange(0, 1);
    Call &on_its_way = b.receive(10), &r = b.receive(size);
    Call &first = a.send(1, pattern(10)); // unacknowledged, to be sent again
    shut = true;
    Call &s = a.send(1, pattern(size));
    const auto turns = a.statistics().turns;
    for (Duration slept{}; slept < 1s; slept += 1ms) {
      w.clock.advance_to(w.now() + 1ms);
      if (a.endpoint->deadline() <= w.now())
        a.turn();
      assert_true(a.quiet());
      assert_true(a.endpoint->deadline() > w.now());
    }
    assert_true(a.statistics().turns - turns <= 200);
    shut = false;
    assert_true(w.finish({&s, &r, &first, &on_its_way}, 1s));
    assert_true(s.ok() && r.ok() && first.ok() && on_its_way.ok());
  }
}

void pull__goes_on_by_a_piece_a_turn(void **) {
  World w;
  Node &a = w.start(On::host), &b = w.start(On::host);
  w.exchange(0, 1);
  constexpr std::size_t huge = (4u << 20) + 5;
  Call &r = b.receive(huge);
  Call &s = a.send(1, pattern(huge));
  b.computes = true;
  w.run_for(1ms);
  unsigned turns = 0;
  for (; r.open(); ++turns) {
    assert_false(b.quiet());
    assert_true(b.turn() > 0);
  }
  assert_int_equal(turns, 5); // a mebibyte each
  b.computes = false;
  assert_true(w.finish({&s}, 1s));
  assert_true(r.holds(pattern(huge)));
}

// --- Silence

// Long after the time limit, but nothing was expected of the peer.
void idle_peers__say_nothing_and_live(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  Call &r = b.receive(10); // may wait for ever
  w.run_for(1s);
  w.seen.clear();
  w.run_for(3600s);
  assert_true(w.seen.empty());
  assert_true(r.open());
  Call &s = a.send(1, pattern(10));
  assert_true(w.finish({&s, &r}, 1ms));
  assert_true(s.ok() && r.ok());
  assert_int_equal(w.count(PacketType::hello), 0);
}

// Who waits asks now and then, and who is asked answers.
void waiting__asks_whether_the_peer_is_there(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  Call &s = a.send(1, pattern(100000)); // nobody receives it yet
  w.run_for(1s);
  w.seen.clear();
  w.run_for(100s);
  assert_true(s.open());
  assert_true(w.seen.size() >= 2 * 10 && w.seen.size() <= 2 * 100); // ten seconds are allowed
  Call &r = b.receive(100000);
  assert_true(w.finish({&s, &r}, 1s));
  assert_true(s.ok() && r.ok());
}

// --- Memory

void traffic__gives_its_memory_back(void **) {
  for (const On on : {On::device, On::host}) {
    World w;
    Node &a = w.start(on), &b = w.start(on);
    w.exchange(0, 1);
    w.records = false;
    const auto scenario = [&] {
      w.exchange(0, 1, 10);
      w.exchange(1, 0, 3000);
      w.exchange(0, 1, 100000);
      w.run_for(20s); // timers that have been overtaken run out
      a.calls.clear();
      b.calls.clear();
    };
    allocations::kept_by(scenario); // pools grow
    assert_int_equal(allocations::kept_by(scenario), 0);
  }
}

void peers__that_are_lost_give_their_memory_back(void **) {
  World w;
  Node &a = w.start();
  w.records = false;
  const fi_addr_t nobody = w.book.add(address(99));
  w.device.set_unresolvable(address(99), true);
  const std::size_t kept = allocations::kept_by([&] {
    Call &s = a.send(nobody, pattern(100000), {.flags = FI_INJECT});
    assert_true(w.finish({&s}, 1s));
    assert_int_equal(s.error(), EHOSTUNREACH);
    a.calls.clear();
  });
  assert_int_equal(kept, 0);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(turn__that_finds_nothing_does_nothing),
    cmocka_unit_test(turn__takes_a_burst_at_a_time),
    cmocka_unit_test(turn__is_counted_and_timed),
    cmocka_unit_test(clock__is_read_rarely_without_a_device),
    cmocka_unit_test(deadline__is_there_while_something_is_under_way),
    cmocka_unit_test(arm__tells_whether_there_is_something_to_do),
    cmocka_unit_test(arm__sleeps_while_the_link_takes_nothing),
    cmocka_unit_test(pull__goes_on_by_a_piece_a_turn),
    cmocka_unit_test(idle_peers__say_nothing_and_live),
    cmocka_unit_test(waiting__asks_whether_the_peer_is_there),
    cmocka_unit_test(traffic__gives_its_memory_back),
    cmocka_unit_test(peers__that_are_lost_give_their_memory_back),
};
static const unit::Group group{"turn", cases};
