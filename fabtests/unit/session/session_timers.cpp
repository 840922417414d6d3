// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/session/side.h"

#include <cerrno>

#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::session;
using namespace side;
using namespace std::chrono_literals;

namespace {

const Time start(1000s);
const Duration timeout = Params{}.peer_timeout;

struct Pair {
  explicit Pair(bool lossless = false) : a(1, 1, {}, 1472, lossless), b(2, 2, {}, 1472, lossless) {
    connect(a, b, start);
    b.session->ack_sent(start);
  }
  // Runs a's timers, and answers its probes if told to; returns when it ended.
  Time run(Time from, Time until, bool answer) {
    Time now = from;
    while (a.session->state() != State::dead) {
      const Time next = std::max(a.session->deadline(), now + 1us);
      if (next > until)
        return until;
      now = next;
      a.session->on_time(now);
      while (TxPacket *p = a.session->next_resend(now)) {
        a.session->resent(p, now);
        ++resends;
      }
      a.say(now); // else it stays due
      if (a.session->probe_due(now)) {
        ++probes;
        if (answer)
          a.session->heard(now + 20us);
      }
    }
    return now;
  }
  Side a, b;
  unsigned probes = 0, resends = 0;
};

void silence__of_a_peer_nobody_waits_for_means_nothing(void **) {
  Pair p;
  assert_true(p.a.session->deadline() == never);
  p.a.session->on_time(start + std::chrono::hours(24));
  assert_true(p.a.session->established());
  assert_false(p.a.session->probe_due(start + std::chrono::hours(24)));
}

void silence__counts_from_when_the_waiting_began(void **) {
  Pair p;
  const Time waits = start + 60s; // long after it was heard last
  p.a.session->set_waiting(true, waits);
  p.a.session->set_waiting(true, waits + 5s); // no new beginning
  p.a.session->on_time(waits + timeout - 1ns);
  assert_true(p.a.session->established());
  p.a.session->on_time(waits + timeout);
  assert_true(p.a.session->state() == State::dead);
  assert_int_equal(p.a.session->error(), -ETIMEDOUT);
}

void silence__is_probed_before_it_is_death(void **) {
  Pair p;
  p.a.session->set_waiting(true, start);
  assert_true(p.run(start, never - 1s, false) == start + timeout);
  assert_in_range(p.probes, 6, 8);
}

// Whoever has confirmed and not spoken since is asked by a handshake, not probed: no deadline says
// otherwise, and stays in the past.
void silence__of_who_has_not_proven_itself_is_not_probed(void **) {
  Side a(1, 1), b(2, 2);
  b.hear(confirm_of(a, b, start), a, start);
  b.session->set_waiting(true, start);
  Time now = start;
  for (;;) {
    b.session->on_time(now);
    b.say(now);
    assert_false(b.session->probe_due(now));
    if (b.session->state() == State::dead)
      break;
    assert_true(b.session->deadline() > now);
    now = b.session->deadline();
  }
  assert_true(now == start + timeout);
}

void peer__that_answers_probes_lives_for_ever(void **) {
  Pair p;
  p.a.session->set_waiting(true, start);
  p.run(start, start + 600s, true);
  assert_true(p.a.session->established());
  assert_in_range(p.probes, 400, 600);
  p.a.session->set_waiting(false, start + 600s);
  assert_true(p.a.session->deadline() == never);
}

void peer__that_sends_is_not_probed(void **) {
  Pair p;
  p.a.session->set_waiting(true, start);
  for (int i = 1; i < 100; ++i) {
    p.a.session->heard(start + i * 1s);
    assert_false(p.a.session->probe_due(start + i * 1s + 1s));
    p.a.session->on_time(start + i * 1s + 1s);
  }
  assert_true(p.a.session->established());
}

void peer__that_does_not_acknowledge_dies_by_time_not_by_tries(void **) {
  Pair p;
  TxPacket packet;
  p.a.session->sent(&packet, 100, start);
  assert_true(p.run(start, never - 1s, false) == start + timeout);
  assert_int_equal(p.a.session->error(), -ETIMEDOUT);
  assert_in_range(p.resends, 20, 60); // backed off up to max_rto, and no further
  assert_ptr_equal(p.a.session->take_all(), &packet);
}

// A packet that waits for its peer to have room is no reason to give it up.
void peer__that_speaks_but_does_not_acknowledge_lives(void **) {
  Pair p;
  TxPacket packet;
  p.a.session->sent(&packet, 100, start);
  Time now = start;
  for (int i = 0; i < 60; ++i) {
    p.run(now, now + 1s, false);
    now += 1s;
    p.a.session->heard(now);
  }
  assert_true(p.a.session->established() && p.a.session->in_flight());
}

void waiting__ends_with_the_last_ack(void **) {
  Pair p;
  struct Sink final : AckSink {
    void acked(TxPacket *) override {}
  } sink;
  TxPacket packet;
  const PacketNumber pn = p.a.session->next_pn();
  p.a.session->sent(&packet, 100, start);
  p.b.session->accept(pn, 0, start);
  wire::AckBlock block{};
  p.b.session->fill(block, start);
  p.a.session->on_ack(block, false, start + 20us, sink);
  assert_true(p.a.session->deadline() == never);
  p.a.session->on_time(start + 100s);
  assert_true(p.a.session->established());
  // And what is sent after that pause has its whole time.
  p.a.session->sent(&packet, 100, start + 100s);
  p.a.session->on_time(start + 100s + timeout - 1ns);
  assert_true(p.a.session->established());
}

void lossless__leaves_death_to_the_link(void **) {
  Pair p(true);
  p.a.session->set_waiting(true, start);
  assert_true(p.a.session->deadline() == never);
  p.a.session->on_time(start + 1000s);
  assert_false(p.a.session->probe_due(start + 1000s));
  assert_true(p.a.session->established());
}

// A stopped process comes back: its peer may have been stopped, too.
void silence__while_this_side_stood_still_counts_once_resumed(void **) {
  for (const bool in_flight : {false, true}) {
    Pair p;
    TxPacket packet;
    if (in_flight)
      p.a.session->sent(&packet, 100, start);
    else
      p.a.session->set_waiting(true, start);
    p.run(start, start + 3s, false);
    const Time resumed = start + 60s;
    p.a.session->on_time(resumed);
    assert_true(p.a.session->established());
    assert_true(p.a.session->deadline() <= resumed + timeout / 8);
    assert_true(p.run(resumed, never - 1s, false) == resumed + timeout);
    assert_int_equal(p.a.session->error(), -ETIMEDOUT);
  }
}

void silence__is_excused_once(void **) {
  Pair p;
  p.a.session->set_waiting(true, start);
  for (Time now = start + 60s;; now += 60s) {
    p.run(now - 60s, now - 60s + 3s, false);
    p.a.session->on_time(now);
    assert_true(p.a.session->established());
    p.run(now, now + 3s, false);
    if (now == start + 180s) {
      p.a.session->on_time(now + 60s);
      assert_true(p.a.session->state() == State::dead);
      return;
    }
    p.a.session->heard(now + 3s); // which ends the spell
  }
}

void silence__of_a_side_that_had_nothing_to_look_for_is_no_excuse(void **) {
  Pair p;
  p.run(start, start + 1s, false);
  p.a.session->on_time(start + 1s);
  const Time waits = start + 100s;
  p.a.session->set_waiting(true, waits);
  assert_true(p.run(waits, never - 1s, false) == waits + timeout);
}

void handshake__goes_on_when_this_side_has_stood_still(void **) {
  Side a(1, 1);
  a.session->open(start);
  a.say(start);
  a.session->on_time(start + 1s);
  const Time resumed = start + 60s;
  a.session->on_time(resumed);
  assert_true(a.session->state() == State::hello_sent);
  assert_int_equal(a.say(resumed).size(), 1);
  for (Time now = resumed; now < resumed + timeout; now += 500ms)
    a.session->on_time(now);
  assert_true(a.session->state() == State::hello_sent);
  a.session->on_time(resumed + timeout);
  assert_int_equal(a.session->error(), -ETIMEDOUT);
}

void deadline__is_in_the_past_while_something_can_be_sent(void **) {
  Pair p;
  p.a.session->request_ack();
  assert_true(p.a.session->deadline() <= start);
  p.a.session->ack_sent(start);
  TxPacket packet;
  p.a.session->sent(&packet, 100, start);
  const Time due = p.a.session->deadline();
  assert_true(due > start && due < start + 10ms);
  p.a.session->on_time(due);
  assert_true(p.a.session->deadline() <= due); // the resend
  p.a.session->resent(p.a.session->next_resend(due), due);
  assert_true(p.a.session->deadline() > due);
  assert_int_equal(p.a.session->resends(), 1);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(silence__of_a_peer_nobody_waits_for_means_nothing),
    cmocka_unit_test(silence__counts_from_when_the_waiting_began),
    cmocka_unit_test(silence__is_probed_before_it_is_death),
    cmocka_unit_test(silence__of_who_has_not_proven_itself_is_not_probed),
    cmocka_unit_test(peer__that_answers_probes_lives_for_ever),
    cmocka_unit_test(peer__that_sends_is_not_probed),
    cmocka_unit_test(peer__that_does_not_acknowledge_dies_by_time_not_by_tries),
    cmocka_unit_test(peer__that_speaks_but_does_not_acknowledge_lives),
    cmocka_unit_test(waiting__ends_with_the_last_ack),
    cmocka_unit_test(lossless__leaves_death_to_the_link),
    cmocka_unit_test(silence__while_this_side_stood_still_counts_once_resumed),
    cmocka_unit_test(silence__is_excused_once),
    cmocka_unit_test(silence__of_a_side_that_had_nothing_to_look_for_is_no_excuse),
    cmocka_unit_test(handshake__goes_on_when_this_side_has_stood_still),
    cmocka_unit_test(deadline__is_in_the_past_while_something_can_be_sent),
};
const unit::Group group{"session_timers", cases};

} // namespace
