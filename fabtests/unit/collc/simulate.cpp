// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Times that can be worked out by hand, and the model told once more in a plain way.
#include "collc/simulate/simulate.h"
#include "unit/property.h"

#include "collc/report/simulation.h"

#include <bit>

#include <nlohmann/json.hpp>

#include "unit/collc/slow_simulation.h"

using namespace collc;

namespace {

// In whole ns, so that sums are exact: L, o, g, G, O, S, F.
constexpr loggops plain{1000, 300, 100, 2, 1, 1 << 20, 50};
constexpr picoseconds L = 1000'000, o = 300'000, g = 100'000, G = 2000, O = 1000, F = 50'000;

request of_bytes(std::int64_t bytes) {
  request q;
  q.bytes = bytes;
  return q;
}

simulation simulated_as(const std::string &name, std::int64_t ranks, const request &q = {},
                        const loggops &how = plain) {
  unit::compiled c(name, ranks, {}, q);
  return simulate(*c, how);
}

void expect_times(const simulation &s, picoseconds triggered, picoseconds driven) {
  assert_int_equal(s.triggered->last, triggered);
  assert_int_equal(s.driven->last, driven);
}

std::string refused(const std::string &text, std::int64_t ranks, const loggops &how = plain) {
  return unit::complaint([&] {
    unit::compiled c(unit::text("collective " + text), ranks);
    simulate(*c, how);
  });
}

} // namespace

// k rounds, each of which is a signal there and one back.
static void simulate__barrier_of_a_power_of_two(void **) {
  for (const std::int64_t ranks : {2, 4, 8, 64, 1024}) {
    const auto k = static_cast<picoseconds>(std::bit_width(static_cast<std::uint64_t>(ranks)) - 1);
    for (const char *const name : {"barrier:butterfly", "barrier:dissemination"}) {
      const simulation s = simulated_as(name, ranks);
      expect_times(s, o + k * (F + L), k * (2 * o + L));
      assert_int_equal(s.triggered->first, s.triggered->last);
      assert_int_equal(s.triggered->median, s.triggered->last);
      assert_int_equal(s.triggered->messages, k * static_cast<std::uint64_t>(ranks));
    }
  }
}

// The root hears of all, by its port or its CPU; then its port, or its CPU and port, send to all.
static void simulate__flat_broadcast(void **) {
  for (const picoseconds n : {2, 3, 10, 100})
    for (const picoseconds bytes : {1, 8, 1000}) {
      const simulation s = simulated_as("broadcast:flat", static_cast<std::int64_t>(n),
                                        of_bytes(static_cast<std::int64_t>(bytes)));
      const picoseconds wire = (bytes - 1) * G, copied = (bytes - 1) * O;
      const picoseconds told = o + F + L + (n - 2) * g;
      const picoseconds heard = o + L + (n - 1) * o; // o > g
      expect_times(s, told + F + (n - 2) * (g + wire) + L + wire,
                   heard + o + copied + (n - 2) * std::max(o + copied, g + wire) + L + wire + o +
                       copied);
    }
}

// Down the longest way: one whose ranks hear before they tell, and each send is one behind others.
static void simulate__binomial_broadcast(void **) {
  for (const picoseconds k : {1, 2, 5, 10}) {
    const picoseconds n = picoseconds{1} << k;
    const simulation s = simulated_as("broadcast:binomial", static_cast<std::int64_t>(n));
    const picoseconds wire = 7 * G, copied = 7 * O;
    const picoseconds told = o + F + L + (n - 2) * g, heard = o + L + (n - 1) * o;
    // The i-th child of a rank gets it (i-1) sends later, and has k-i children: k times the first
    // child takes longest, where a hop takes longer than a send.
    expect_times(s, told + k * (F + L + wire), heard + k * (2 * (o + copied) + L + wire));
  }
}

// All segments one behind the other, and the last one all the way.
static void simulate__chain(void **) {
  for (const picoseconds n : {2, 5, 50})
    for (const picoseconds segments : {1, 3, 20}) {
      request q = of_bytes(static_cast<std::int64_t>(segments * 200));
      q.parameters["segments"] = static_cast<std::int64_t>(segments);
      const simulation s = simulated_as("broadcast:chain", static_cast<std::int64_t>(n), q);
      const picoseconds wire = 199 * G, copied = 199 * O;
      const picoseconds told = o + F + L + (n - 2) * g, heard = o + L + (n - 1) * o;
      // A rank between others receives and sends each segment: so its CPU sets the pace, or the
      // only port where there is none between.
      const picoseconds pace =
          n > 2 ? std::max(2 * (o + copied), g + wire) : std::max(o + copied, g + wire);
      expect_times(s, told + (n - 1) * (F + L + wire) + (segments - 1) * (g + wire),
                   heard + (n - 1) * (2 * (o + copied) + L + wire) + (segments - 1) * pace);
    }
}

// Each rank forwards a block in each of n-1 rounds; its sends don't catch up with what comes.
static void simulate__ring_allgather(void **) {
  for (const picoseconds n : {2, 3, 10, 50}) {
    const simulation s = simulated_as("allgather:ring", static_cast<std::int64_t>(n));
    const picoseconds wire = 7 * G, copied = 7 * O;
    // Triggered: the peer has said that it is ready; data, and what says that they are there,
    // which comes g behind them. Driven: n-1 sends and receives, and each waits for the one before.
    expect_times(s, o + F + L + (n - 1) * (F + g + wire + L) + copied,
                 copied + (n - 1) * (2 * (o + copied) + L + wire));
  }
}

// A request there, an answer back, and then the data. Who waits for them only later answers later.
static void simulate__rendezvous(void **) {
  loggops how = plain;
  how.rendezvous = 1000;
  const auto text = [](const std::string &size, const std::string &more) {
    return unit::text(
        "collective gather round 2 { if rank == 1 { send 0 input[0 : " + size +
        "] to output[0] } if rank == 0 { recv 1 output[0 : " + size + "] " + more +
        "} } if rank == 0 { round 1 { recv 2 } } if rank == 2 { round 1 { send 0 } }");
  };
  const auto last = [&](const std::string &size, const std::string &more, readiness ready) {
    request q = of_bytes(1000);
    q.ready = ready;
    unit::compiled c(text(size, more), 3, {}, q);
    return simulate(*c, how).driven->done[0];
  };
  // Rank 0 handles the signal of rank 2 and the request, which come at the same time.
  const picoseconds both = o + L + 2 * o, answered = both + o;
  const picoseconds data = answered + L + o + (o + 999 * O) + L + 999 * G + (o + 999 * O);
  assert_int_equal(last("1000", "", readiness::each), data);
  assert_int_equal(last("999", "", readiness::each),
                   o + 998 * O + L + 998 * G + (o + 998 * O)); // eager
  // Ready from the start, it answers before it handles the signal.
  assert_int_equal(last("1000", "", readiness::early), data - o);
}

static void simulate__combinations_and_copies(void **) {
  algorithm text = unit::text("collective reduce ready once scratch s[bytes] "
                              "start copy input[0:bytes] to s[0] round 1 { "
                              "combine input[0:bytes] to s[0] } "
                              "if rank == 0 { finish copy s[0:bytes] to output[0] }");
  unit::compiled c(std::move(text), 2, {}, of_bytes(104));
  const simulation s = simulate(*c, plain);
  const picoseconds copied = 103 * O, wire = 103 * G;
  expect_times(s, copied + o + std::max(F, F + wire) + copied, copied + (o + copied) + copied);
  assert_int_equal(s.driven->first, copied + (o + copied));
  assert_int_equal(s.driven->messages, 0);
}

// Told that it may send while it still copies: nothing leaves before it has started.
static void simulate__who_starts_late(void **) {
  unit::compiled c(unit::text("collective scatter ready early if rank == 0 { start copy "
                              "input[0 : 2 * bytes] to input[0] round 1 { send 1 input[0 : bytes] "
                              "to output[0] } } else { round 1 { recv 0 output[0 : bytes] } }"),
                   2, {}, of_bytes(1001));
  const picoseconds copied = 2001 * O, told = o + F + L;
  assert_true(copied + o > told); // else this shows nothing
  const picoseconds gone = copied + o + F + (1000 * G + g);
  expect_times(simulate(*c, plain), gone + L,
               copied + (o + 1000 * O) + L + 1000 * G + o + 1000 * O);
}

static void simulate__nobody_to_talk_to(void **) {
  for (const auto &b : builtins()) {
    const simulation s = simulated_as(std::string(b.name), 1);
    assert_int_equal(s.triggered->messages, 0);
    assert_int_equal(s.driven->messages, 0);
  }
  expect_times(simulated_as("barrier:butterfly", 1), 0, 0);
}

namespace {

std::string number(int n) { return std::to_string(n); }

// Rounds of several kinds, some of them on another path; always such that all of them end.
std::string random_text(int ranks) {
  using rc::gen::inRange;
  static const char *const ready[] = {"each", "early", "once", "never"};
  std::string out =
      std::string("collective allgather ready ") + ready[*inRange(0, 4)] + " scratch s[8192]\n";
  const auto pieces = [](int kind, const std::string &length) {
    return kind == 0   ? std::string()
           : kind == 1 ? " s[0 : " + length + "]"
           : kind == 2 ? " s[0 : " + length + "] combining"
                       : " s[0 : " + length + "], s[4096 : 7]";
  };
  if (*inRange(0, 2) == 1)
    out += "start copy input[0 : bytes] to output[0]\n";
  int round = 1;
  for (int blocks = *inRange(1, 5); blocks > 0; --blocks) {
    const std::string length = number(*rc::gen::element(0, 1, 8, 300, 4000));
    const std::string what = pieces(*inRange(0, 4), length);
    const std::string head = "round " + number(round++) + " { ";
    const std::string root = number(*inRange(0, ranks)), far = number(*inRange(1, ranks));
    std::string block;
    switch (*inRange(0, 5)) {
    case 0:
      block = head + "send (rank + " + far + ") % ranks" + what + " recv (rank - " + far +
              ") % ranks" + what + " }";
      break;
    case 1:
      block = head + "if rank == " + root + " { for i in 1 .. ranks - 1 { recv (" + root +
              " + i) % ranks" + what + " } } else { send " + root + what + " } }";
      break;
    case 2:
      block = head + "if rank == " + root + " { for i in 1 .. ranks - 1 { send (" + root +
              " + i) % ranks" + what + " } } else { recv " + root + what + " } }";
      break;
    case 3: { // a pipeline, whose segments differ in size
      const int first = round - 1, segments = *inRange(1, 6);
      round += segments;
      const std::string now = number(first) + " + i", segment = " s[i * 8 : 8 * (i % 3)]";
      block = "for i in 0 .. " + number(segments - 1) + " { round " + now +
              " { if rank > 0 { recv rank - 1" + segment +
              " } if rank < ranks - 1 { send rank + 1" + segment + " after " + now + " } } }";
      break;
    }
    default:
      block = head + "combine s[0 : " + length + "] to s[4096] }";
    }
    out += "path " + number(*inRange(0, 2)) + " { " + block + " }\n";
  }
  return out;
}

double random_ns() { return *rc::gen::element(0, 1, 3, 50, 100, 101, 1000, 2500) / 1.0; }

loggops random_model() {
  loggops how;
  how.latency = random_ns() + 0.001;
  how.overhead = random_ns();
  how.gap = random_ns();
  how.gap_per_byte = *rc::gen::inRange(0, 300) / 100.0;
  how.overhead_per_byte = *rc::gen::inRange(0, 300) / 100.0;
  how.rendezvous = *rc::gen::element<std::int64_t>(0, 2, 100, 1000, 1 << 30);
  how.fire = random_ns();
  return how;
}

void expect_as_slow(unit::compiled &c, const loggops &how) {
  const simulation s = simulate(*c, how);
  RC_ASSERT(s.triggered->done == unit::slow_triggered(*c, how));
  RC_ASSERT(s.driven->done == unit::slow_driven(*c, how));
}

} // namespace

// Loops whose first turn tells of all: for the ranks that run them with the same values.
static void simulate__loops_of_ranks_that_are_not_alike(void **) {
  const char *const texts[] = {
      // The same statements with other sizes, by a variable from outside.
      "for t in 0 .. 1 { if rank / 2 == t { for i in 0 .. 3 { let size = i * 8 + t * 100 "
      "round 1 + i { if rank % 2 == 0 { send rank + 1 s[0 : size] } else { recv rank - 1 s[0 : "
      "size] } } } } }",
      // Other numbers of turns.
      "let turns = 2 + rank / 2 for i in 1 .. turns { round i { if rank % 2 == 0 { send rank + 1 "
      "s[0 : i * 10] } else { recv rank - 1 s[0 : i * 10] } } }",
      // An inner loop, a peer that changes, backwards.
      "for i in 3 .. 1 step -1 { for k in 1 .. 3 { round 10 - 3 * i + k { send (rank + k) % ranks "
      "s[0 : i * k * 50] recv (rank - k) % ranks s[0 : i * k * 50] } } }",
      "for i in 1 .. 3 { round i { send (rank + i) % ranks s[0 : i] recv (rank - i) % ranks s[0 : "
      "i] } }"};
  for (const char *const text : texts) {
    lowering how;
    how.raise_for_branches = false;
    unit::compiled c(
        unit::text(std::string("collective allgather ready once scratch s[1000] ") + text), 4, how);
    const simulation s = simulate(*c, plain);
    assert_true(s.triggered->done == unit::slow_triggered(*c, plain));
    assert_true(s.driven->done == unit::slow_driven(*c, plain));
  }
}

static void simulate__is_as_the_plain_model_says(void **) {
  assert_true(unit::holds("random texts", [] {
    const int ranks = *rc::gen::inRange(2, 8);
    const std::string text = random_text(ranks);
    RC_LOG(text);
    lowering how;
    how.raise_for_branches = false;
    how.counted_writes = *rc::gen::inRange(0, 3) != 0;
    unit::compiled c(unit::text(text), ranks, how);
    try {
      unit::schedules(*c);
    } catch (const limit_error &) { // levels of more than 64 bits
      RC_DISCARD();
    }
    expect_as_slow(c, random_model());
  }));
}

static void simulate__built_in_is_as_the_plain_model_says(void **) {
  assert_true(unit::holds("built in", [] {
    const auto all = builtins();
    const auto &b = all[*rc::gen::inRange<std::size_t>(0, all.size())];
    const int ranks = *rc::gen::inRange(1, 14);
    request q = of_bytes(8 * *rc::gen::inRange(0, 40));
    const algorithm a = load(std::string(b.name));
    if (a.what == collective::broadcast || a.what == collective::reduce)
      q.root = *rc::gen::inRange(0, ranks);
    q.ready = *rc::gen::element<std::optional<readiness>>(std::nullopt, readiness::each,
                                                          readiness::early, readiness::once);
    if (a.what == collective::broadcast || a.what == collective::barrier)
      q.ready.reset();
    RC_LOG() << b.name << ' ' << ranks;
    lowering how;
    how.raise_for_branches = false;
    unit::compiled c(std::string(b.name), ranks, how, q);
    try {
      unit::schedules(*c);
    } catch (const error &) {
      RC_DISCARD(); // no power of two, levels of more than 64 bits
    }
    expect_as_slow(c, random_model());
  }));
}

static void simulate__refuses(void **) {
  const auto setting = [](double loggops::*what, double value) {
    loggops how = plain;
    how.*what = value;
    return refused("barrier", 2, how);
  };
  unit::expect_part(setting(&loggops::latency, 0),
                    "latency (L) is 0; allowed: 0.001 to 1000000000 ns");
  unit::expect_part(setting(&loggops::overhead, -1), "overhead (o) is -1; allowed: 0 to");
  unit::expect_part(setting(&loggops::gap, -0.5), "gap (g) is -0.5; allowed: 0 to");
  unit::expect_part(setting(&loggops::gap_per_byte, 1e9),
                    "gap per byte (G) is 1e+09; allowed: 0 to");
  unit::expect_part(setting(&loggops::overhead_per_byte, -2), "overhead per byte (O) is -2");
  unit::expect_part(setting(&loggops::fire, 1e10), "fire (F) is 1e+10");
  unit::expect_part(refused("barrier", (1 << 24) + 1), "ranks is 16777217; allowed");

  unit::expect_part(refused("barrier if rank == 0 { round 1 { send 1 } }", 2),
                    "message 1 from rank 0 to rank 1 is sent, but not received");
  unit::expect_part(refused("barrier if rank == 0 { round 1 { recv 1 } }", 2),
                    "message 1 from rank 1 to rank 0 is received, but not sent");
  unit::expect_part(
      refused("gather round 1 { if rank == 1 { send 0 input[0:8] to output[0] } else { "
              "recv 1 output[0:4] } }",
              2),
      "message 1 from rank 1 to rank 0 is 8 bytes, but is received as 4 bytes");
  unit::expect_part(
      refused("gather round 1 { if rank == 1 { send 0 } else { recv 1 output[0:4] } }", 2),
      "is a signal, but is received as 4 bytes");
  unit::expect_part(
      refused("barrier let peer = 1 - rank round 1 { recv peer } round 2 { send peer }", 2),
      "rank 0 waits for message 1 of rank 1, which never comes");
}

static void simulate__says_what_it_found(void **) {
  unit::compiled c("barrier:butterfly", 4);
  const simulation s = simulate(*c, plain);
  unit::expect_same(simulation_text(*c, plain, s),
                    "barrier:butterfly, 4 ranks, 8 bytes\n"
                    "L 1000 ns, o 300 ns, g 100 ns, G 2 ns/B, O 1 ns/B, S 1048576 B, F 50 ns\n"
                    "ns           triggered  CPU-driven\n"
                    "time              2400        3200\n"
                    "first rank        2400        3200\n"
                    "median rank       2400        3200\n"
                    "messages             8           8\n");
  const auto json = simulation_json(*c, plain, s);
  assert_true(json["triggered"]["time_ns"] == 2400.0 && json["driven"]["messages"] == 8);
  assert_true(json["model"]["rendezvous_bytes"] == 1 << 20);
  const simulation one = simulate(*c, plain, true, false);
  assert_false(simulation_json(*c, plain, one).contains("driven"));
  unit::expect_part(simulation_text(*c, plain, one), "ns           triggered\n");
}

static const CMUnitTest cases[] = {cmocka_unit_test(simulate__barrier_of_a_power_of_two),
                                   cmocka_unit_test(simulate__flat_broadcast),
                                   cmocka_unit_test(simulate__binomial_broadcast),
                                   cmocka_unit_test(simulate__chain),
                                   cmocka_unit_test(simulate__ring_allgather),
                                   cmocka_unit_test(simulate__rendezvous),
                                   cmocka_unit_test(simulate__combinations_and_copies),
                                   cmocka_unit_test(simulate__who_starts_late),
                                   cmocka_unit_test(simulate__nobody_to_talk_to),
                                   cmocka_unit_test(simulate__loops_of_ranks_that_are_not_alike),
                                   cmocka_unit_test(simulate__is_as_the_plain_model_says),
                                   cmocka_unit_test(simulate__built_in_is_as_the_plain_model_says),
                                   cmocka_unit_test(simulate__refuses),
                                   cmocka_unit_test(simulate__says_what_it_found)};
static const unit::Group group{"simulate", cases};
