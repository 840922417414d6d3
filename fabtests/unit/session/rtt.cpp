// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/session/rtt.h"

#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::session;
using namespace std::chrono_literals;

namespace {

const Params params;
const Time start(1000s);

RttEstimator settled(Duration rtt) {
  RttEstimator e;
  for (int i = 0; i < 100; ++i)
    e.add(rtt, start);
  return e;
}

void estimator__takes_the_first_sample_as_it_is(void **) {
  RttEstimator e;
  assert_false(e.measured());
  assert_true(e.srtt() == 0ns);
  e.add(30us, start);
  assert_true(e.measured() && e.srtt() == 30us && e.base() == 30us);
  e.add(46us, start);
  assert_true(e.srtt() == 32us && e.base() == 30us);
}

void timeout__is_the_initial_one_and_doubles_until_there_is_a_sample(void **) {
  RttEstimator e;
  assert_true(e.timeout(params) == params.initial_rto);
  e.back_off();
  assert_true(e.timeout(params) == 2 * params.initial_rto);
  for (int i = 0; i < 100; ++i)
    e.back_off();
  assert_true(e.timeout(params) == params.max_rto);
  e.add(20us, start);
  assert_true(e.timeout(params) < params.initial_rto);
}

// No fixed milliseconds: 2 round trips for a probe, then 4, 8, ... and the peer's ack delay.
void timeout__is_a_multiple_of_the_round_trip(void **) {
  for (const Duration rtt : {Duration(50us), Duration(200us), Duration(5ms)}) {
    RttEstimator e = settled(rtt);
    const Duration delay = e.ack_delay(params);
    assert_true(delay <= params.max_ack_delay && delay >= std::min<Duration>(rtt / 4, 50us));
    assert_true(e.timeout(params) == 2 * rtt + delay);
    e.back_off();
    assert_true(e.timeout(params) == 4 * rtt + delay);
    e.back_off();
    assert_true(e.timeout(params) == 2 * (4 * rtt + delay));
  }
}

void timeout__has_a_floor_and_a_ceiling(void **) {
  RttEstimator fast = settled(500ns);
  assert_true(fast.timeout(params) == params.min_rto + fast.ack_delay(params));
  RttEstimator slow = settled(3s);
  assert_true(slow.timeout(params) == params.max_rto);
}

void timeout__allows_for_variance(void **) {
  RttEstimator e;
  for (int i = 0; i < 200; ++i)
    e.add(i % 2 == 0 ? 20us : 180us, start);
  assert_true(e.timeout(params) > 350us);
}

// Until a sample says otherwise, a timer that was too short once stays long (Karn).
void back_off__lasts_until_a_sample(void **) {
  RttEstimator e = settled(50us);
  const Duration first = e.timeout(params);
  e.back_off();
  e.back_off();
  assert_true(e.timeout(params) > 3 * first);
  e.add(50us, start);
  assert_true(e.timeout(params) == first);
}

void base__is_measured_afresh_when_old(void **) {
  RttEstimator e;
  e.add(20us, start);
  e.add(90us, start + 5s);
  assert_true(e.base() == 20us);
  e.add(90us, start + 13s); // the route has become longer
  assert_true(e.base() == 90us);
  e.add(30us, start + 14s);
  assert_true(e.base() == 30us);
}

void reordering__grows_with_what_is_seen_and_not_without_end(void **) {
  RttEstimator e = settled(40us);
  assert_true(e.reordering(params) == 10us);
  e.reordering_seen();
  assert_true(e.reordering(params) == 20us);
  for (int i = 0; i < 1000; ++i)
    e.reordering_seen();
  assert_true(e.reordering(params) == 80us);
}

void estimator__bears_absurd_samples(void **) {
  RttEstimator e;
  e.add(-1s, start);
  e.add(std::chrono::hours(10), start);
  e.add(0s, start);
  assert_true(e.srtt() > 0ns && e.timeout(params) <= params.max_rto);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(estimator__takes_the_first_sample_as_it_is),
    cmocka_unit_test(timeout__is_the_initial_one_and_doubles_until_there_is_a_sample),
    cmocka_unit_test(timeout__is_a_multiple_of_the_round_trip),
    cmocka_unit_test(timeout__has_a_floor_and_a_ceiling),
    cmocka_unit_test(timeout__allows_for_variance),
    cmocka_unit_test(back_off__lasts_until_a_sample),
    cmocka_unit_test(base__is_measured_afresh_when_old),
    cmocka_unit_test(reordering__grows_with_what_is_seen_and_not_without_end),
    cmocka_unit_test(estimator__bears_absurd_samples),
};
const unit::Group group{"rtt", cases};

} // namespace
