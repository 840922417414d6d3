// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Its pace and patience; what it finds is in run.cpp.
#include "lab.h"

using namespace lab;

namespace {

struct Asked {
  explicit Asked(Prober::Plan plan = {.id = 7, .max_datagram = 1472}) : prober(plan) {}

  wire::Probe question() {
    const auto q = prober.next(now);
    assert_true(q.has_value());
    return *q;
  }
  void answer(const wire::Probe &q, std::uint32_t len = wire::min_probe) {
    wire::Probe a;
    a.kind = wire::ProbeKind::answer;
    a.sequence = q.sequence;
    a.asker = q.asker;
    a.length = wire::min_probe + q.padding;
    a.cookie = 5;
    a.max_datagram = 1472;
    prober.answered(a, len, false, now);
  }

  Time now = VirtualClock::start;
  Prober prober;
};

void prober__asks_one_after_the_other(void **) {
  Asked a;
  const wire::Probe first = a.question();
  assert_int_equal(first.asked, 0);
  assert_int_equal(first.cookie, 0);
  assert_int_equal(first.asker, 7);
  assert_false(a.prober.next(a.now).has_value());
  assert_true(a.prober.due() == a.now + 500ms);
  a.now += 10us;
  a.answer(first);
  assert_true(a.prober.due() == a.now + 1ms);
  assert_false(a.prober.next(a.now).has_value());
  a.now += 1ms;
  const wire::Probe second = a.question();
  assert_int_equal(second.sequence, first.sequence + 1);
  assert_int_equal(second.asked, 1);
  assert_int_equal(second.heard, 1);
  assert_int_equal(second.cookie, 5);
}

void prober__waits_no_longer_than_its_patience(void **) {
  Asked a;
  a.question();
  a.now += 500ms - 1ns;
  assert_false(a.prober.next(a.now).has_value());
  a.now += 1ns;
  assert_int_equal(a.question().heard, 0);
}

// Less, when it knows how long the others took.
void prober__learns_patience_from_round_trips(void **) {
  Asked a;
  const wire::Probe q = a.question();
  a.now += 100us;
  a.answer(q);
  a.now += 1ms;
  a.question();
  assert_true(a.prober.due() == a.now + 20ms);
  Asked far;
  const wire::Probe f = far.question();
  far.now += 50ms;
  far.answer(f);
  far.now += 1ms;
  far.question();
  assert_true(far.prober.due() == far.now + 200ms);
}

void prober__counts_late_answers(void **) {
  Asked a;
  const wire::Probe first = a.question();
  a.now += 500ms;
  a.question();
  a.answer(first);
  a.answer(first); // once
  a.now += 500ms;
  assert_int_equal(a.question().heard, 1);
}

void prober__ignores_what_answers_nothing(void **) {
  Asked a;
  wire::Probe q = a.question();
  a.answer(q, wire::min_probe + 4); // of another length
  q.padding = 4;
  a.answer(q); // to another question
  q.padding = 0;
  q.asker = 8;
  a.answer(q);
  q.asker = 7;
  q.sequence += 1;
  a.answer(q);
  q.sequence -= 2;
  a.answer(q);
  a.now += 500ms;
  assert_int_equal(a.question().heard, 0);
}

void prober__ends_with_its_path(void **) {
  Asked a;
  a.prober.path_failed(-ENETUNREACH);
  assert_true(a.prober.done());
  assert_false(a.prober.next(a.now).has_value());
  assert_true(a.prober.due() == never);
  assert_int_equal(a.prober.result().error, ENETUNREACH);
}

void probe_sized__fits_below(void **) {
  for (std::uint32_t n = 0; n < 9000; ++n) {
    const std::uint32_t sized = probe_sized(n);
    assert_true(sized >= wire::min_probe && sized % 4 == 0);
    assert_true(n < wire::min_probe || (sized <= n && n - sized < 4));
  }
}

const CMUnitTest cases[] = {
    cmocka_unit_test(prober__asks_one_after_the_other),
    cmocka_unit_test(prober__waits_no_longer_than_its_patience),
    cmocka_unit_test(prober__learns_patience_from_round_trips),
    cmocka_unit_test(prober__counts_late_answers),
    cmocka_unit_test(prober__ignores_what_answers_nothing),
    cmocka_unit_test(prober__ends_with_its_path),
    cmocka_unit_test(probe_sized__fits_below),
};
const unit::Group group{"prober", cases};

} // namespace
