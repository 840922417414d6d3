// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/session/congestion.h"

#include "unit/unit.h"

#include <cmath>

using namespace dpdkx;
using namespace dpdkx::session;
using namespace std::chrono_literals;

namespace {

const Params params;
constexpr Duration base = 20us;

struct Flow {
  Congestion c{params};
  Round round;
  Time now{1s};

  // A round trip in which the window was full: that many lost, the rest acked.
  void trip(Duration rtt, double lost = 0, double marked = 0, bool limited = true) {
    const std::uint32_t window = c.window();
    const auto n = static_cast<std::uint32_t>(std::lround(window * lost));
    const Time sent = now;
    now += rtt;
    round.limited |= limited;
    round.lost += n;
    const auto m = static_cast<std::uint32_t>(std::lround((window - n) * marked));
    if (m != 0)
      c.on_ack({m, sent - 1ns, rtt, true}, base, params, round, now);
    c.on_ack({window - n - m, sent, rtt, false}, base, params, round, now);
  }
  // Out of slow start, with about that window.
  void settle(std::uint32_t window) {
    while (c.slow_start())
      trip(base + params.target_delay / 2);
    while (c.window() < window)
      trip(base);
    while (c.window() > window)
      trip(base + 3 * params.target_delay);
    while (c.window() < window)
      trip(base);
  }
};

void window__doubles_until_a_queue_builds(void **) {
  Flow f;
  assert_int_equal(f.c.window(), params.initial_window);
  f.trip(base);
  f.trip(base);
  assert_int_equal(f.c.window(), 4 * params.initial_window);
  f.trip(base + params.target_delay / 2);
  assert_false(f.c.slow_start());
}

void window__grows_by_one_a_trip_below_the_target(void **) {
  Flow f;
  f.settle(40);
  const auto before = f.c.window();
  for (int i = 0; i < 10; ++i)
    f.trip(base + params.target_delay / 8);
  assert_int_equal(f.c.window(), before + 10);
}

void window__shrinks_in_proportion_above_the_target(void **) {
  Flow a, b;
  a.settle(100), b.settle(100);
  a.trip(base + params.target_delay);
  b.trip(base + 4 * params.target_delay);
  assert_true(a.c.window() < 100 && a.c.window() > 70);
  assert_true(b.c.window() < a.c.window());
  assert_true(b.c.window() >= 50); // half at most
}

void window__does_not_grow_unless_it_is_the_limit(void **) {
  Flow f;
  const auto before = f.c.window();
  for (int i = 0; i < 50; ++i)
    f.trip(base, 0, 0, false);
  assert_int_equal(f.c.window(), before);
}

// What no queue has caused costs next to nothing.
void loss__at_random_does_not_collapse_it(void **) {
  for (const double loss : {0.01, 0.05, 0.1}) {
    Flow f;
    f.settle(60);
    for (int i = 0; i < 200; ++i)
      f.trip(base + params.target_delay / 5, loss); // a queue in sight
    assert_true(f.c.window() >= 30);
    for (int i = 0; i < 50; ++i)
      f.trip(base, loss);
    assert_true(f.c.window() >= 60);
  }
}

void loss__with_a_queue_costs_more(void **) {
  Flow a, b;
  a.settle(100), b.settle(100);
  a.trip(base, 0.1);
  b.trip(base + params.target_delay / 2 - 1us, 0.1);
  assert_true(a.c.window() >= 100);
  assert_in_range(b.c.window(), 85, 92);
}

void loss__of_a_third_halves_it_whatever_the_delay(void **) {
  Flow f;
  f.settle(100);
  f.trip(base, 0.4);
  assert_true(f.c.window() <= 51);
}

void marks__reduce_by_half_their_share(void **) {
  Flow f;
  f.settle(100);
  f.trip(base, 0, 0.4);
  assert_in_range(f.c.window(), 78, 82);
}

void timeout__leaves_a_few_packets_and_starts_anew(void **) {
  Flow f;
  f.settle(100);
  f.c.on_timeout(params, f.round, f.now);
  assert_int_equal(f.c.window(), 4);
  assert_true(f.c.slow_start());
  f.trip(base);
  assert_int_equal(f.c.window(), 8);
}

void window__keeps_its_bounds(void **) {
  Flow f;
  for (int i = 0; i < 100; ++i)
    f.trip(base);
  assert_true(f.c.window() <= params.window);
  for (int i = 0; i < 100; ++i)
    f.trip(100 * base, 0.5);
  assert_true(f.c.window() >= 2);
}

// A flow that measures its base in others' queue would else keep that queue up.
void window__lets_the_queue_run_dry_now_and_then(void **) {
  Flow f;
  f.settle(64);
  unsigned drained = 0;
  for (int i = 0; i < 500; ++i) {
    const std::uint32_t before = f.c.window();
    f.trip(base + params.target_delay / 5);
    drained += f.c.window() < before / 2;
    assert_true(f.c.window() > before / 4);
  }
  assert_in_range(drained, 2, 5);
  assert_true(f.c.window() > 64); // and is back afterwards
}

const CMUnitTest cases[] = {
    cmocka_unit_test(window__doubles_until_a_queue_builds),
    cmocka_unit_test(window__grows_by_one_a_trip_below_the_target),
    cmocka_unit_test(window__shrinks_in_proportion_above_the_target),
    cmocka_unit_test(window__does_not_grow_unless_it_is_the_limit),
    cmocka_unit_test(loss__at_random_does_not_collapse_it),
    cmocka_unit_test(loss__with_a_queue_costs_more),
    cmocka_unit_test(loss__of_a_third_halves_it_whatever_the_delay),
    cmocka_unit_test(marks__reduce_by_half_their_share),
    cmocka_unit_test(timeout__leaves_a_few_packets_and_starts_anew),
    cmocka_unit_test(window__keeps_its_bounds),
    cmocka_unit_test(window__lets_the_queue_run_dry_now_and_then),
};
const unit::Group group{"congestion", cases};

} // namespace
