// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Sessions over a network that queues, loses, duplicates, reorders, corrupts:
// everything arrives once, and how fast.
#include "common/sanitized.h"
#include "unit/session/net.h"

#include <cstdio>

#include "unit/unit.h"

using namespace net;
using namespace std::chrono_literals;

namespace {

std::uint64_t fresh_seed() {
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

void assert_all_once(const Peer &p, std::uint64_t n) {
  assert_int_equal(p.arrived, n);
  assert_int_equal(p.received.size(), n);
  for (const std::uint64_t times : p.received)
    assert_int_equal(times, 1);
}

struct Result {
  Duration took;
  double gbit;
};

Result stream(const Profile &profile, std::uint64_t packets, std::uint64_t seed,
              const session::Params &params = {}) {
  Network n(profile, seed);
  Node a(n, 1, params, seed + 1), b(n, 2, params, seed + 2);
  a.send(2, packets);
  assert_true(n.run(20s, [&] { return a.peer(2).acked != 0; }));
  const Time start = n.now(); // of the stream; a handshake has timers of its own
  assert_true(n.run(20s, [&] { return a.peer(2).acked == packets; }));
  assert_all_once(b.peer(1), packets);
  assert_int_equal(a.peer(2).died_of, 0);
  assert_int_equal(b.outside, 0);
  const Duration took = n.now() - start;
  return {took, static_cast<double>(packets) * a.payload * 8 / static_cast<double>(took.count())};
}

// 10 Gbit/s, 20 us, a queue of 64: what is left of the line after loss.
void stream__keeps_its_goodput_under_loss(void **) {
  const std::uint64_t seed = fresh_seed();
  double clean = 0;
  std::printf("loss    goodput (Gbit/s; the line carries 9.4)\n");
  for (const double loss : {0.0, 0.01, 0.05, 0.1}) {
    Profile p;
    p.loss = loss;
    const Result r = stream(p, 20000, seed);
    std::printf("%4.0f %%  %.2f\n", loss * 100, r.gbit);
    if (loss == 0)
      clean = r.gbit;
    assert_true(r.gbit > clean * (1 - loss) * 0.8);
  }
  assert_true(clean > 9);
}

void stream__survives_everything_at_once(void **) {
  Profile p;
  p.loss = p.duplicate = p.reorder = p.corrupt = 0.05;
  session::Params near_wrap;
  near_wrap.first_number = 0xfffff000;
  const Result r = stream(p, 20000, fresh_seed(), near_wrap);
  std::printf("5 %% of loss, duplication, reordering, corruption each: %.2f Gbit/s\n", r.gbit);
  assert_true(r.gbit > 5);
}

// Late by more than a round trip, so that nothing can tell it from loss at first.
void stream__bears_reordering(void **) {
  Profile p;
  p.reorder = 0.05;
  const Result r = stream(p, 20000, fresh_seed());
  std::printf("5 %% reordering: %.2f Gbit/s\n", r.gbit);
  assert_true(r.gbit > 8.5);
}

void stream__fills_other_paths_too(void **) {
  if (fabtest::sanitized)
    skip();
  const struct {
    double gbit;
    Duration one_way;
    std::size_t queue;
    double loss, least;
  } paths[] = {{1, 25us, 64, 0, 0.85},   {1, 25us, 64, 0.05, 0.7},   {25, 2us, 64, 0.01, 18},
               {100, 10us, 256, 0, 60},  {100, 10us, 256, 0.01, 50}, {10, 100us, 64, 0.01, 4},
               {10, 100us, 64, 0.1, 2.5}};
  const std::uint64_t seed = fresh_seed();
  for (const auto &path : paths) {
    Profile p;
    p.gbit = path.gbit, p.one_way = path.one_way, p.queue = path.queue, p.loss = path.loss;
    const Result r = stream(p, 20000, seed);
    std::printf("%3.0f Gbit/s, %3lld us round trip, %2.0f %% loss: %.2f Gbit/s\n", path.gbit,
                static_cast<long long>(2 * path.one_way / 1us), path.loss * 100, r.gbit);
    assert_true(r.gbit > path.least);
  }
}

void stream__is_slowed_by_marks_before_it_loses(void **) {
  Profile p;
  p.mark_from = 16;
  const std::uint64_t seed = fresh_seed();
  Network n(p, seed);
  Node a(n, 1, {}, 1), b(n, 2, {}, 2);
  a.send(2, 20000);
  const Time start = n.now();
  assert_true(n.run(5s, [&] { return a.peer(2).acked == 20000; }));
  assert_all_once(b.peer(1), 20000);
  n.longest_queue = 0;
  a.send(2, 20000);
  assert_true(n.run(5s, [&] { return a.peer(2).acked == 40000; }));
  const double gbit = 40000.0 * 1400 * 8 / static_cast<double>((n.now() - start).count());
  std::printf("marked from 16 packets on: longest queue %zu, %.2f Gbit/s\n", n.longest_queue, gbit);
  assert_true(n.longest_queue < 40);
  assert_true(gbit > 8);
}

// --- many into one

struct Crowd {
  Crowd(const Profile &p, unsigned senders, std::uint64_t seed)
      : n(p, seed), sink(n, 100, {}, seed) {
    for (unsigned i = 0; i < senders; ++i)
      nodes.push_back(std::make_unique<Node>(n, static_cast<std::uint16_t>(i + 1),
                                             session::Params{}, seed + 1 + i));
  }
  std::vector<double> acked() {
    std::vector<double> v;
    for (auto &s : nodes)
      v.push_back(static_cast<double>(s->peer(100).acked));
    return v;
  }
  Network n;
  Node sink;
  std::vector<std::unique_ptr<Node>> nodes;
};

// Jain's index of what each sender got: 1 when equal, 1/n when one has all.
double fairness(const std::vector<double> &before, const std::vector<double> &after) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double d = after[i] - before[i];
    sum += d, squares += d * d;
  }
  return sum * sum / squares / static_cast<double>(before.size());
}

void incast__shares_the_receivers_queue(void **) {
  const std::uint64_t seed = fresh_seed();
  for (const double loss : {0.0, 0.01, 0.05}) {
    if (fabtest::sanitized && loss < 0.05)
      continue; // it takes a minute there
    Profile p;
    p.loss = loss;
    Crowd c(p, 8, seed);
    const Time start = c.n.now();
    for (auto &s : c.nodes)
      s->send(100, 10000);
    c.n.run(10ms, [] { return false; });
    const auto before = c.acked();
    c.n.run(20ms, [] { return false; });
    const double jain = fairness(before, c.acked());
    assert_true(c.n.run(10s, [&] {
      for (auto &s : c.nodes)
        if (s->peer(100).acked != 10000)
          return false;
      return true;
    }));
    const double gbit = 8.0 * 10000 * 1400 * 8 / static_cast<double>((c.n.now() - start).count());
    std::printf("8 into 1, %.0f %% loss: %.2f Gbit/s, fairness %.2f\n", loss * 100, gbit, jain);
    assert_true(gbit > 9 * (1 - loss) * 0.9);
    assert_true(jain > 0.5);
    for (std::uint16_t i = 1; i <= 8; ++i)
      assert_all_once(c.sink.peer(i), 10000);
  }
}

// One after the other: those that come late find a queue and take it for the path.
void incast__has_room_for_those_who_come_later(void **) {
  if (fabtest::sanitized)
    skip();
  Crowd c({}, 8, fresh_seed());
  for (std::size_t i = 0; i < 8; ++i) {
    Node *const s = c.nodes[i].get();
    c.n.at(c.n.now() + i * 1ms, [s] { s->send(100, 1000000); });
  }
  c.n.run(50ms, [] { return false; });
  const auto before = c.acked();
  c.n.run(100ms, [] { return false; });
  const auto after = c.acked();
  double sum = 0, least = 1e9;
  for (std::size_t i = 0; i < 8; ++i)
    sum += after[i] - before[i], least = std::min(least, after[i] - before[i]);
  std::printf("8 staggered: %.2f Gbit/s, fairness %.2f, least share %.2f of fair\n",
              sum * 1400 * 8 / 1e8, fairness(before, after), least / (sum / 8));
  assert_true(sum * 1400 * 8 / 1e8 > 9);
  assert_true(least > 0.1 * sum / 8);
}

// --- short exchanges

// A lost packet costs round trips, not milliseconds: the tail of a burst too.
void short_messages__are_repaired_within_round_trips(void **) {
  const std::uint64_t seed = fresh_seed();
  Profile p;
  Network n(p, seed);
  Node a(n, 1, {}, 1), b(n, 2, {}, 2);
  a.send(2, 50);
  assert_true(n.run(1s, [&] { return a.peer(2).acked == 50; }));
  for (unsigned lost = 0; lost < 8; ++lost) { // each packet of a burst of 8
    unsigned at = 0;
    n.drop = [&](const Bytes &d) { return std::to_integer<int>(d[1]) == 1 && at++ == lost; };
    const Time start = n.now();
    const std::uint64_t before = a.peer(2).acked;
    a.send(2, 8);
    assert_true(n.run(1s, [&] { return a.peer(2).acked == before + 8; }));
    assert_true(n.now() - start < 250us);
  }
}

// --- lives and deaths

void restart__works_at_once_and_never_sees_an_old_packet(void **) {
  const std::uint64_t seed = fresh_seed();
  Profile p;
  p.loss = p.duplicate = 0.02;
  p.reorder = 0.1;
  p.reorder_by = 3ms; // old packets arrive in the next life
  Network n(p, seed);
  Node a(n, 1, {}, seed + 1);
  auto b = std::make_unique<Node>(n, 2, session::Params{}, seed + 2);
  for (unsigned life = 0; life < 20; ++life) {
    const std::uint64_t acked = a.peer(2).acked;
    a.send(2, 1000000);
    assert_true(n.run(1s, [&] { return a.peer(2).acked > acked + 500; }));
    b.reset();
    b = std::make_unique<Node>(n, 2, session::Params{}, seed + 3 + life);
    // a notices by itself and gives up the old session's operations
    assert_true(n.run(5s, [&] { return a.peer(2).died_of != 0; }));
    a.peer(2).died_of = 0;
    const std::uint64_t first = a.peer(2).next_payload;
    a.send(2, 500);
    assert_true(n.run(1s, [&] { return b->peer(1).arrived == 500; }));
    Peer &got = b->peer(1);
    for (std::uint64_t i = 0; i < got.received.size(); ++i)
      assert_int_equal(got.received[i], i >= first);
    a.peer(2).to_send = 0;
  }
}

void both_at_once__makes_one_session(void **) {
  const std::uint64_t seed = fresh_seed();
  for (std::uint64_t i = 0; i < 50; ++i) {
    Profile p;
    p.loss = p.duplicate = p.reorder = 0.2;
    Network n(p, seed + i);
    Node a(n, 1, {}, 2 * i), b(n, 2, {}, 2 * i + 1);
    a.send(2, 100);
    b.send(1, 100);
    assert_true(n.run(5s, [&] { return a.peer(2).acked == 100 && b.peer(1).acked == 100; }));
    assert_all_once(a.peer(2), 100);
    assert_all_once(b.peer(1), 100);
    assert_int_equal(a.peer(2).died_of + b.peer(1).died_of, 0);
  }
}

void blackout__of_nine_seconds_is_survived_of_eleven_not(void **) {
  for (const Duration dark : {Duration(9s), Duration(11s)}) {
    Network n({}, fresh_seed());
    Node a(n, 1, {}, 1), b(n, 2, {}, 2);
    a.send(2, 100);
    assert_true(n.run(1s, [&] { return a.peer(2).acked == 100; }));
    n.drop = [](const Bytes &) { return true; };
    a.send(2, 100);
    n.run(dark, [] { return false; });
    n.drop = nullptr;
    if (dark < 10s) {
      assert_true(n.run(1s, [&] { return a.peer(2).acked == 200; }));
      assert_all_once(b.peer(1), 200);
    } else
      assert_int_equal(a.peer(2).died_of, -ETIMEDOUT);
  }
}

void path_mtu__is_found_under_traffic(void **) {
  Profile p;
  p.mtu = 1400;
  p.loss = 0.05;
  Network n(p, fresh_seed());
  Node a(n, 1, {}, 1, 8972), b(n, 2, {}, 2, 8972);
  a.payload = b.payload = 8000;
  a.send(2, 1000);
  b.send(1, 1000);
  assert_true(n.run(5s, [&] { return a.peer(2).acked == 1000 && b.peer(1).acked == 1000; }));
  assert_all_once(b.peer(1), 1000);
  assert_int_equal(a.peer(2).session->max_datagram(), 1232);
  assert_true(a.peer(2).session->path_limited());
}

// A peer that computes for less than the limit is not dead, and is soon back at speed.
void peer__that_computes_for_a_while_is_waited_for(void **) {
  Network n({}, fresh_seed());
  Node a(n, 1, {}, 1), b(n, 2, {}, 2);
  a.send(2, 1000);
  assert_true(n.run(1s, [&] { return a.peer(2).acked == 1000; }));
  b.answers = false;
  a.send(2, 10000);
  n.run(8s, [] { return false; });
  b.answers = true;
  const Time back = n.now();
  assert_true(n.run(1s, [&] { return a.peer(2).acked == 11000; }));
  assert_all_once(b.peer(1), 11000);
  assert_true(n.now() - back < 600ms); // max_rto, and the transfer
}

const CMUnitTest cases[] = {
    cmocka_unit_test(stream__keeps_its_goodput_under_loss),
    cmocka_unit_test(stream__survives_everything_at_once),
    cmocka_unit_test(stream__bears_reordering),
    cmocka_unit_test(stream__fills_other_paths_too),
    cmocka_unit_test(stream__is_slowed_by_marks_before_it_loses),
    cmocka_unit_test(incast__shares_the_receivers_queue),
    cmocka_unit_test(incast__has_room_for_those_who_come_later),
    cmocka_unit_test(short_messages__are_repaired_within_round_trips),
    cmocka_unit_test(restart__works_at_once_and_never_sees_an_old_packet),
    cmocka_unit_test(both_at_once__makes_one_session),
    cmocka_unit_test(blackout__of_nine_seconds_is_survived_of_eleven_not),
    cmocka_unit_test(path_mtu__is_found_under_traffic),
    cmocka_unit_test(peer__that_computes_for_a_while_is_waited_for),
};
const unit::Group group{"network", cases};

} // namespace
