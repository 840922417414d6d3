// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "common/sanitized.h"
#include "unit/session/side.h"

#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::session;
using namespace side;
using namespace std::chrono_literals;

namespace {

const Time start(1000s);
constexpr Duration rto = 1ms;

// One frame of each, both ways: whether the numbers that were agreed are the right ones.
void assert_numbers_fit(Side &a, Side &b, Time now) {
  for (auto [from, to] : {std::pair{&a, &b}, {&b, &a}}) {
    session::TxPacket p;
    assert_true(from->session->room() != 0);
    const PacketNumber pn = from->session->next_pn();
    from->session->sent(&p, 100, now);
    assert_true(to->session->accept(pn, 0, now) == Accept::fresh);
    from->session->take_all();
    to->session->ack_sent(now);
    assert_true(from->session->first_mn() == to->session->peer_first_mn());
  }
}

void open__takes_two_round_trips(void **) {
  Side a(1, 1), b(2, 2);
  a.session->open(start);
  assert_true(a.session->state() == State::hello_sent);
  const auto hello = a.say(start);
  assert_true(hello.size() == 1 && hello[0].type == PacketType::hello &&
              hello[0].token == wire::Token::none && hello[0].hello.padding == 0);
  const auto challenge = b.hear(hello[0], a, start);
  assert_true(challenge.size() == 1 && challenge[0].type == PacketType::challenge);
  assert_true(b.session->state() == State::idle); // nothing is kept for a hello
  const auto confirm = a.hear(challenge[0], b, start + 20us);
  assert_true(a.session->state() == State::confirming);
  assert_true(confirm.size() == 1 && confirm[0].type == PacketType::confirm);
  const auto welcome = b.hear(confirm[0], a, start + 20us);
  assert_true(b.session->established());
  assert_true(welcome.size() == 1 && welcome[0].type == PacketType::welcome &&
              welcome[0].token == a.session->local_token());
  assert_true(a.hear(welcome[0], b, start + 40us).empty());
  assert_true(a.session->established() && a.session->ack_due(start + 40us));
  b.session->heard(start + 40us);
  assert_true(paired(a, b));
  assert_numbers_fit(a, b, start + 50us);
  assert_true(a.session->srtt() == 20us);
  assert_int_equal(a.session->peer_first_credit(), Params{}.first_credit);
  a.session->open(start + 1s); // idempotent
  assert_true(a.say(start + 1s).empty());
}

void bulk_port__is_told_by_whoever_loses_packets(void **) {
  for (const bool lossless : {false, true}) {
    Params with_one, with_other;
    with_one.bulk_port = 7001;
    with_other.bulk_port = 7002;
    Side a(1, 1, with_one, 1472, lossless), b(2, 2, with_other, 1472, lossless);
    a.session->open(start);
    const auto hello = a.say(start);
    const auto confirm = a.hear(b.hear(hello[0], a, start)[0], b, start);
    const auto welcome = b.hear(confirm[0], a, start);
    assert_int_equal(confirm[0].hello.bulk_port, lossless ? 0 : 7001);
    assert_int_equal(welcome[0].hello.bulk_port, lossless ? 0 : 7002);
    assert_true(b.session->same_life(confirm[0].hello));
    assert_false(a.session->same_life(welcome[0].hello)); // not yet
    a.hear(welcome[0], b, start);
    assert_true(a.session->same_life(welcome[0].hello));
    b.renew();
    wire::Hello other = welcome[0].hello;
    other.token = b.session->local_token(); // of the same endpoint, another session
    assert_false(a.session->same_life(other));
  }
}

void session__is_silent_until_its_peer_has_shown_to_be_there(void **) {
  Side a(1, 1), b(2, 2);
  a.session->open(start);
  talk(a, b, start);
  assert_true(paired(a, b));
  assert_true(a.session->room() != 0);
  assert_int_equal(b.session->room(), 0);
  b.session->heard(start); // a's ack
  assert_true(b.session->room() != 0);
  assert_true(b.session->deadline() == never);
}

void lost__each_message_in_turn_is_made_up_for(void **) {
  for (int lost = 0; lost < 4; ++lost) {
    Side a(1, 1), b(2, 2);
    a.session->open(start);
    std::vector<Message> m = a.say(start);
    for (int i = 0; i < lost; ++i) // the lost one is m
      m = i % 2 == 0 ? b.hear(m[0], a, start) : a.hear(m[0], b, start);
    const Time before = a.session->deadline();
    assert_true(before > start && before <= start + 3 * rto);
    assert_true(a.say(before - 1ns).empty());
    talk_and_prove(a, b, before);
    assert_true(paired(a, b));
    assert_numbers_fit(a, b, before);
  }
}

void hello__is_repeated_with_backoff_until_the_peer_is_dead(void **) {
  Side a(1, 1);
  a.session->open(start);
  unsigned hellos = static_cast<unsigned>(a.say(start).size());
  Duration waited{};
  Time now = start;
  while (a.session->state() != State::dead) {
    const Time next = a.session->deadline();
    assert_true(next > now);
    waited = std::max(waited, next - now);
    now = next;
    a.session->on_time(now);
    hellos += static_cast<unsigned>(a.say(now).size());
  }
  assert_int_equal(a.session->error(), -ETIMEDOUT);
  assert_true(now - start == Params{}.peer_timeout);
  assert_true(waited <= Params{}.max_rto);
  assert_in_range(hellos, 10, 40);
  assert_true(a.session->deadline() == never);
}

void lossless__waits_for_ever(void **) {
  Side a(1, 1, {}, 1 << 16, true), b(2, 2, {}, 1 << 16, true);
  a.session->open(start);
  Time now = start;
  unsigned hellos = static_cast<unsigned>(a.say(now).size());
  while (now < start + 100s) { // the peer computes
    now = a.session->deadline();
    a.session->on_time(now);
    hellos += static_cast<unsigned>(a.say(now).size());
  }
  assert_true(a.session->state() == State::hello_sent);
  assert_true(hellos < 40); // few, for they stay in a ring
  now = a.session->deadline();
  talk_and_prove(a, b, now);
  assert_true(paired(a, b));
  assert_int_equal(a.session->max_datagram(), 1 << 16);
}

// --- both at once, in every order

// All messages ever said stay in the air and may be delivered again at any
// time; `choice` decides which one is next.
struct Air {
  struct Flying {
    Message message;
    bool to_b;
    unsigned delivered = 0;
  };
  std::vector<Flying> flying;
  void add(const std::vector<Message> &said, bool to_b) {
    for (const Message &m : said)
      flying.push_back({m, to_b});
  }
};

template <class Choose> void run_crossing(Choose choose, unsigned steps, bool both_open) {
  Side a(1, 1), b(2, 2);
  Air air;
  Time now = start;
  a.session->open(now);
  air.add(a.say(now), true);
  if (both_open) {
    b.session->open(now);
    air.add(b.say(now), false);
  }
  wire::Token token_a = a.session->local_token(), token_b = b.session->local_token();
  for (unsigned i = 0; i < steps; ++i) {
    Air::Flying &f = air.flying[choose(air.flying.size())];
    ++f.delivered;
    const Message m = f.message;
    const bool to_b = f.to_b;
    now += 1us;
    air.add(to_b ? b.hear(m, a, now) : a.hear(m, b, now), !to_b);
  }
  // Never torn down, never with another than the one session.
  assert_int_equal(a.resets + b.resets, 0);
  assert_true(a.session->state() != State::dead && b.session->state() != State::dead);
  assert_true(a.session->local_token() == token_a && b.session->local_token() == token_b);
  // Whatever has happened: from here it takes no more than the rest, once.
  for (std::size_t i = 0; i < air.flying.size(); ++i)
    if (air.flying[i].delivered == 0) {
      ++air.flying[i].delivered;
      const Message m = air.flying[i].message;
      const bool to_b = air.flying[i].to_b;
      now += 1us;
      air.add(to_b ? b.hear(m, a, now) : a.hear(m, b, now), !to_b);
    }
  now += 10ms;
  talk(a, b, now);
  if (a.session->ack_due(now))
    b.session->heard(now);
  if (b.session->ack_due(now))
    a.session->heard(now);
  assert_true(paired(a, b));
  assert_numbers_fit(a, b, now);
  // Nor does any of it do harm afterwards.
  for (std::size_t i = 0; i < air.flying.size(); ++i) {
    const Message m = air.flying[i].message;
    air.flying[i].to_b ? b.hear(m, a, now) : a.hear(m, b, now);
  }
  assert_int_equal(a.resets + b.resets, 0);
  assert_true(paired(a, b));
  assert_true(a.session->room() != 0 && b.session->room() != 0);
}

// Every sequence of `steps` deliveries, repeats included.
void crossing__every_order_gives_the_same_session(void **) {
  for (const bool both : {false, true}) {
    const unsigned steps = (both ? 8 : 9) - (fabtest::sanitized ? 1 : 0);
    std::vector<std::size_t> digits(steps, 0), limits(steps, 1);
    unsigned long runs = 0;
    for (bool more = true; more; ++runs) {
      unsigned at = 0;
      run_crossing(
          [&](std::size_t n) {
            limits[at] = n;
            return digits[at++];
          },
          steps, both);
      unsigned i = steps;
      more = false;
      while (i-- > 0)
        if (++digits[i] < limits[i]) {
          more = true;
          break;
        } else
          digits[i] = 0;
    }
    std::printf("%lu orders\n", runs);
    assert_true(runs > 1000);
  }
}

void crossing__long_random_orders_give_the_same_session(void **) {
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 2000; ++i)
    run_crossing([&](std::size_t n) { return random() % n; }, 5 + random() % 40, i % 2 == 0);
}

// --- restarts

void restart__resets_the_peers_session(void **) {
  Side a(1, 1), b(2, 2);
  connect(a, b, start);
  Side again(1, 3);
  again.session->open(start + 1s);
  talk_and_prove(again, b, start + 1s);
  assert_int_equal(b.resets, 1);
  assert_true(paired(again, b));
  assert_numbers_fit(again, b, start + 1s);
}

// A session that its owner has given up and made anew, in the same life.
void new_session__of_the_same_life_resets_too(void **) {
  Side a(1, 1), b(2, 2);
  connect(a, b, start);
  a.renew();
  a.session->open(start + 1s);
  talk_and_prove(a, b, start + 1s);
  assert_int_equal(b.resets, 1);
  assert_true(paired(a, b));
}

void confirm__of_an_earlier_life_is_ignored(void **) {
  Side a(1, 1), b(2, 2);
  const Message confirm = confirm_of(a, b, start);
  b.hear(confirm, a, start);
  b.session->heard(start);

  Side again(1, 3);
  again.session->open(start + 1s);
  talk_and_prove(again, b, start + 1s);
  assert_int_equal(b.resets, 1);
  // The old confirm comes again, its cookie still good.
  assert_true(b.gate.cookie_fits(confirm.hello, a.address, start + 2s));
  b.hear(confirm, a, start + 2s);
  assert_int_equal(b.resets, 1);
  assert_true(paired(again, b));
}

// The same when it was the other side that asked.
void confirm__of_an_earlier_life_is_ignored_by_one_that_asked(void **) {
  Side a(1, 1), b(2, 2);
  const Message confirm = confirm_of(a, b, start);
  Side again(1, 3);
  b.session->open(start + 1s);
  talk_and_prove(b, again, start + 1s);
  assert_true(paired(again, b));
  b.hear(confirm, a, start + 2s);
  assert_int_equal(b.resets, 0);
  assert_true(paired(again, b));
}

// A delayed confirm of a dead life makes a session that nobody proves. It must
// not keep the living one out, nor take the first message along into the grave.
void confirm__of_a_dead_life_gives_way(void **) {
  Side a(1, 1), b(2, 2);
  const Message confirm = confirm_of(a, b, start);
  // a dies; its confirm comes late
  Side again(1, 3);
  b.hear(confirm, a, start + 1s);
  assert_true(b.session->established());
  assert_int_equal(b.session->room(), 0);
  // b asks by itself and finds the living one
  const Time later = b.session->deadline();
  assert_true(later < start + 2s);
  b.session->on_time(later);
  talk_and_prove(b, again, later);
  assert_int_equal(b.resets, 0);
  assert_true(paired(again, b));
  assert_numbers_fit(again, b, later);
}

void confirm__of_a_dead_life_with_nobody_there_times_out(void **) {
  Side a(1, 1), b(2, 2);
  const Message confirm = confirm_of(a, b, start);
  b.hear(confirm, a, start);
  Time now = start;
  while (b.session->state() != State::dead && now < start + 60s) {
    now = std::max(now + 1us, b.session->deadline());
    b.session->on_time(now);
    b.say(now);
  }
  assert_int_equal(b.session->error(), -ETIMEDOUT);
}

void answers__of_an_earlier_attempt_are_ignored(void **) {
  Side a(1, 1), b(2, 2);
  a.session->open(start);
  const auto old_challenge = b.hear(a.say(start)[0], a, start);
  const auto old_welcome = b.hear(a.hear(old_challenge[0], b, start)[0], a, start);
  talk(a, b, start, {}, old_welcome);
  b.session->heard(start);
  a.session->ack_sent(start);
  // a is told that its token is unknown, and asks anew
  reset_by(b, a, start + 1s);
  auto hello = a.say(start + 1s);
  assert_true(hello.size() == 1 && hello[0].type == PacketType::hello);
  assert_true(a.hear(old_challenge[0], b, start + 1s).empty());
  assert_true(a.hear(old_welcome[0], b, start + 1s).empty());
  talk(a, b, start + 1s, hello);
  assert_true(paired(a, b));
}

// --- resets

void reset__that_is_late_kills_nothing(void **) {
  Side a(1, 1), b(2, 2);
  connect(a, b, start);
  reset_by(b, a, start + 1s);
  assert_true(a.session->established() && a.session->room() != 0); // meanwhile too
  talk(a, b, start + 1s);
  assert_int_equal(a.resets + b.resets, 0);
  assert_true(paired(a, b));
  assert_numbers_fit(a, b, start + 1s);
}

void reset__of_other_tokens_is_ignored(void **) {
  Side a(1, 1), b(2, 2);
  connect(a, b, start);
  a.session->on_reset({wire::Token{123}, b.gate.incarnation()}, start);
  a.session->on_reset({a.session->local_token(), b.gate.incarnation()}, start);
  assert_true(a.say(start).empty());
}

void reset__of_a_restarted_peer_ends_the_session(void **) {
  Side a(1, 1), b(2, 2);
  connect(a, b, start);
  Side again(2, 3);
  reset_by(again, a, start + 1s);
  talk(a, again, start + 1s);
  assert_true(a.session->state() == State::dead);
  assert_int_equal(a.session->error(), -ECONNRESET);
  assert_true(a.session->peer_incarnation() == b.gate.incarnation());
}

void reset__of_a_peer_that_has_dropped_the_session_ends_it(void **) {
  Side a(1, 1), b(2, 2);
  connect(a, b, start);
  b.renew();
  reset_by(b, a, start + 1s);
  talk(a, b, start + 1s);
  assert_int_equal(a.session->error(), -ECONNRESET);
}

void reset__with_nobody_there_times_out(void **) {
  Side a(1, 1), b(2, 2);
  connect(a, b, start);
  reset_by(b, a, start + 1s);
  a.session->on_time(start + 1s + Params{}.peer_timeout);
  assert_int_equal(a.session->error(), -ETIMEDOUT);
}

void reset__is_forgotten_while_the_peer_speaks(void **) {
  Side a(1, 1), b(2, 2);
  connect(a, b, start);
  reset_by(b, a, start + 1s);
  a.say(start + 1s);
  a.session->heard(start + 5s);
  a.session->on_time(start + 1s + Params{}.peer_timeout);
  assert_true(a.session->established());
  assert_true(a.session->deadline() == never);
}

// --- features

void features__are_told_whoever_asks(void **) {
  Side a(1, 1), b(2, 2);
  a.session->open(start);
  const Message hello = a.say(start).at(0);
  const Message confirm = a.hear(b.hear(hello, a, start).at(0), b, start).at(0);
  const Message welcome = b.hear(confirm, a, start).at(0);
  for (const Message &m : {hello, confirm, welcome})
    assert_int_equal(m.hello.features, wire::feature::known);
}

// That the peer has these, and nothing else.
void assert_features(const Session &s, std::uint64_t features) {
  for (const std::uint64_t asked :
       {wire::feature::rma, wire::feature::atomics, wire::feature::rma | wire::feature::atomics})
    assert_int_equal(s.peer_has(asked), (features & asked) == asked);
  assert_true(s.peer_has(wire::feature::none));
}

void features__are_those_of_the_peer(void **) {
  for (std::uint64_t features = 0; features <= wire::feature::known; ++features) {
    Side a(1, 1), b(2, 2);
    Message confirm = confirm_of(a, b, start);
    assert_features(*a.session, 0);
    confirm.hello.features = features | ~wire::feature::known; // of a later version: unknown here
    Message welcome = b.hear(confirm, a, start).at(0);
    welcome.hello.features = wire::feature::known - features;
    a.hear(welcome, b, start);
    assert_true(paired(a, b));
    assert_features(*b.session, features);
    assert_features(*a.session, wire::feature::known - features);
  }
}

void features__are_those_of_the_life_that_is_there(void **) {
  Side a(1, 1), b(2, 2);
  Message confirm = confirm_of(a, b, start);
  confirm.hello.features = wire::feature::none;
  // a dies; its confirm comes late
  b.hear(confirm, a, start + 1s);
  assert_features(*b.session, 0);
  Side again(1, 3);
  const Time later = b.session->deadline();
  b.session->on_time(later);
  talk_and_prove(b, again, later);
  assert_true(paired(again, b));
  assert_features(*b.session, wire::feature::known);
}

// --- who can't talk

void challenge__of_another_key_or_version_ends_it(void **) {
  Params keyed;
  keyed.key[3] = std::byte{1};
  Side a(1, 1), b(2, 2, keyed);
  a.session->open(start);
  talk(a, b, start);
  assert_int_equal(a.session->error(), -EKEYREJECTED);
  assert_true(b.session->state() == State::idle);

  Side c(3, 3);
  c.session->open(start);
  auto challenge = b.hear(c.say(start)[0], c, start);
  challenge[0].challenge.key = {};
  challenge[0].challenge.version_min = challenge[0].challenge.version_max = 2;
  c.hear(challenge[0], b, start);
  assert_int_equal(c.session->error(), -EPROTONOSUPPORT);
}

void challenge__that_answers_another_hello_is_ignored(void **) {
  Side a(1, 1), b(2, 2);
  a.session->open(start);
  const Message good = b.hear(a.say(start)[0], a, start)[0];
  for (int field = 0; field < 3; ++field) {
    Message bad = good;
    if (field == 0)
      bad.challenge.peer_token = wire::Token{1};
    else if (field == 1)
      bad.challenge.peer_incarnation = wire::Incarnation{1};
    else
      ++bad.challenge.attempt;
    assert_true(a.hear(bad, b, start).empty());
    assert_true(a.session->state() == State::hello_sent);
  }
  a.hear(good, b, start);
  assert_true(a.session->state() == State::confirming);
}

// --- frame sizes

std::uint32_t size_of(const Message &m) {
  return static_cast<std::uint32_t>(wire::packet_header_size + wire::hello_size) + m.hello.padding;
}

// Drops what is larger than the path carries; returns how long it took.
Duration connect_through(Side &a, Side &b, std::uint32_t to_b, std::uint32_t to_a) {
  Time now = start;
  a.session->open(now);
  while (!a.session->established() && a.session->state() != State::dead) {
    now = std::max(now, a.session->deadline());
    a.session->on_time(now);
    std::vector<Message> from_a = a.say(now), from_b;
    while (!from_a.empty()) {
      from_b.clear();
      for (const Message &m : from_a)
        if (size_of(m) <= to_b)
          for (const Message &r : b.hear(m, a, now))
            from_b.push_back(r);
      from_a.clear();
      now += 20us;
      for (const Message &m : from_b)
        if (size_of(m) <= to_a)
          for (const Message &r : a.hear(m, b, now))
            from_a.push_back(r);
    }
  }
  b.session->heard(now);
  return now - start;
}

void mtu__is_the_smaller_sides(void **) {
  Side a(1, 1, {}, 8972), b(2, 2, {}, 1472);
  connect_through(a, b, 9000, 9000);
  assert_true(paired(a, b));
  assert_int_equal(a.session->max_datagram(), 1472);
  assert_int_equal(b.session->max_datagram(), 1472);
  assert_false(a.session->path_limited() || b.session->path_limited());
}

void mtu__first_confirm_and_welcome_fill_the_frame(void **) {
  Side a(1, 1, {}, 8972), b(2, 2, {}, 4000);
  const Message confirm = confirm_of(a, b, start);
  assert_int_equal(size_of(confirm), 4000);
  const auto welcome = b.hear(confirm, a, start);
  assert_int_equal(size_of(welcome[0]), 4000);
}

void mtu__black_holes_are_found_in_either_direction(void **) {
  for (const std::uint32_t path : {8971u, 1500u, 1472u, 1471u, 1300u, 1000u, 548u})
    for (int direction = 0; direction < 3; ++direction) {
      Side a(1, 1, {}, 8972), b(2, 2, {}, 8972);
      const std::uint32_t to_b = direction == 1 ? 9000 : path;
      const std::uint32_t to_a = direction == 0 ? 9000 : path;
      const Duration took = connect_through(a, b, to_b, to_a);
      assert_true(paired(a, b));
      for (const Side *s : {&a, &b}) {
        assert_true(s->session->max_datagram() <= path);
        assert_true(s->session->max_datagram() >= std::min(path, 548u) &&
                    s->session->path_limited());
        if (path >= 1472 && path < 4052)
          assert_int_equal(s->session->max_datagram(), 1472);
      }
      assert_true(took < 2s);
      assert_numbers_fit(a, b, start + 3s);
    }
}

// Nobody who follows the protocol tries less than every path carries, and nobody is believed.
void mtu__is_never_less_than_any_path_carries(void **) {
  for (const std::uint32_t padding : {4u, 100u, wire::min_datagram - 137, wire::min_datagram}) {
    Side a(1, 1), b(2, 2);
    Message confirm = confirm_of(a, b, start);
    confirm.hello.padding = padding;
    const std::uint32_t carried = size_of(confirm);
    b.hear(confirm, a, start);
    assert_int_equal(b.session->max_datagram(), carried < wire::min_datagram ? 1472 : carried);
  }
}

// One lost confirm is no black hole.
void mtu__loss_is_not_a_black_hole(void **) {
  for (unsigned losses = 1; losses <= 3; ++losses) {
    Side a(1, 1), b(2, 2);
    Time now = start;
    a.session->open(now);
    for (unsigned left = losses; left > 0;) {
      now = std::max(now, a.session->deadline());
      for (const Message &m : a.say(now))
        if (m.type == PacketType::hello)
          a.session->on_challenge(b.hear(m, a, now)[0].challenge, now);
        else
          --left;
    }
    now = std::max(now, a.session->deadline());
    talk_and_prove(a, b, now);
    assert_true(paired(a, b));
    assert_int_equal(a.session->max_datagram(), 1472);
    assert_int_equal(b.session->max_datagram(), 1472);
    assert_false(a.session->path_limited());
  }
}

// Nor is a peer that answers a hello, and then is away from its processor until much has come.
void mtu__peer_that_is_away_is_not_a_black_hole(void **) {
  Side a(1, 1), b(2, 2);
  Time now = start;
  a.session->open(now);
  std::vector<Message> come;
  for (Time back = now; !paired(a, b); back = now + 90ms) {
    assert_true(now < start + 1s);
    for (; a.session->deadline() < back; now = a.session->deadline())
      for (const Message &m : a.say(a.session->deadline()))
        come.push_back(m);
    now = back;
    for (const Message &m : a.say(now))
      come.push_back(m);
    for (const Message &m : std::exchange(come, {}))
      for (const Message &reply : b.hear(m, a, now))
        for (const Message &next : a.hear(reply, b, now))
          come.push_back(next);
  }
  assert_int_equal(a.session->max_datagram(), 1472);
  assert_int_equal(b.session->max_datagram(), 1472);
  assert_false(a.session->path_limited() || b.session->path_limited());
}

void mtu__lossless_links_are_believed(void **) {
  Side a(1, 1, {}, 16384, true), b(2, 2, {}, 16384, true);
  const Message confirm = confirm_of(a, b, start);
  assert_int_equal(confirm.hello.padding, 0);
  b.hear(confirm, a, start);
  assert_int_equal(b.session->max_datagram(), 16384);
}

void fail__is_the_end(void **) {
  Side a(1, 1), b(2, 2);
  connect(a, b, start);
  a.session->fail(-EHOSTUNREACH);
  a.session->fail(-EIO); // the first reason stays
  assert_int_equal(a.session->error(), -EHOSTUNREACH);
  assert_int_equal(a.session->room(), 0);
  assert_true(a.session->accept({0}, 0, start) == Accept::outside);
  assert_false(a.session->ack_due(start) || a.session->probe_due(start));
  assert_true(a.say(start).empty() && a.session->deadline() == never);
  a.session->on_reset({b.session->local_token(), b.gate.incarnation()}, start);
  a.session->on_time(start + 100s);
  assert_null(a.session->take_all());
}

const CMUnitTest cases[] = {
    cmocka_unit_test(open__takes_two_round_trips),
    cmocka_unit_test(bulk_port__is_told_by_whoever_loses_packets),
    cmocka_unit_test(session__is_silent_until_its_peer_has_shown_to_be_there),
    cmocka_unit_test(lost__each_message_in_turn_is_made_up_for),
    cmocka_unit_test(hello__is_repeated_with_backoff_until_the_peer_is_dead),
    cmocka_unit_test(lossless__waits_for_ever),
    cmocka_unit_test(crossing__every_order_gives_the_same_session),
    cmocka_unit_test(crossing__long_random_orders_give_the_same_session),
    cmocka_unit_test(restart__resets_the_peers_session),
    cmocka_unit_test(new_session__of_the_same_life_resets_too),
    cmocka_unit_test(confirm__of_an_earlier_life_is_ignored),
    cmocka_unit_test(confirm__of_an_earlier_life_is_ignored_by_one_that_asked),
    cmocka_unit_test(confirm__of_a_dead_life_gives_way),
    cmocka_unit_test(confirm__of_a_dead_life_with_nobody_there_times_out),
    cmocka_unit_test(answers__of_an_earlier_attempt_are_ignored),
    cmocka_unit_test(reset__that_is_late_kills_nothing),
    cmocka_unit_test(reset__of_other_tokens_is_ignored),
    cmocka_unit_test(reset__of_a_restarted_peer_ends_the_session),
    cmocka_unit_test(reset__of_a_peer_that_has_dropped_the_session_ends_it),
    cmocka_unit_test(reset__with_nobody_there_times_out),
    cmocka_unit_test(reset__is_forgotten_while_the_peer_speaks),
    cmocka_unit_test(features__are_told_whoever_asks),
    cmocka_unit_test(features__are_those_of_the_peer),
    cmocka_unit_test(features__are_those_of_the_life_that_is_there),
    cmocka_unit_test(challenge__of_another_key_or_version_ends_it),
    cmocka_unit_test(challenge__that_answers_another_hello_is_ignored),
    cmocka_unit_test(mtu__is_the_smaller_sides),
    cmocka_unit_test(mtu__first_confirm_and_welcome_fill_the_frame),
    cmocka_unit_test(mtu__black_holes_are_found_in_either_direction),
    cmocka_unit_test(mtu__is_never_less_than_any_path_carries),
    cmocka_unit_test(mtu__loss_is_not_a_black_hole),
    cmocka_unit_test(mtu__peer_that_is_away_is_not_a_black_hole),
    cmocka_unit_test(mtu__lossless_links_are_believed),
    cmocka_unit_test(fail__is_the_end),
};
const unit::Group group{"session_handshake", cases};

} // namespace
