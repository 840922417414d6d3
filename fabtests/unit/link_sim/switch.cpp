// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/link_sim/lab.h"

#include <algorithm>
#include <set>

using namespace lab;

static void transmit__takes_delay_and_twice_the_time_on_cable(void **) {
  Profile profile;
  profile.rate = 1'000'000'000; // 8 ns a byte
  profile.overhead = 66;
  Lab l(profile);
  assert_true(Lab::send(*l.a, Lab::open(*l.a, address(2)), std::string(934, 'x')));
  const auto got = l.drain(*l.b);
  assert_int_equal(got.size(), 1);
  assert_int_equal(got[0].at.count(), 10'000 + 2 * 8'000);
}

static void transmit__one_after_the_other_at_the_rate(void **) {
  Profile profile;
  profile.rate = 1'000'000'000;
  profile.overhead = 0;
  Lab l(profile);
  const PathId path = Lab::open(*l.a, address(2));
  for (int i = 0; i < 10; ++i)
    assert_true(Lab::send(*l.a, path, std::string(1000, char('0' + i))));
  const auto got = l.drain(*l.b);
  assert_int_equal(got.size(), 10);
  for (std::size_t i = 0; i < 10; ++i) {
    assert_int_equal(got[i].text[0], '0' + int(i));
    assert_int_equal(got[i].at.count(), 10'000 + 8'000 * (i + 2));
  }
}

static void ring__refuses_when_full_and_wakes_when_it_drains(void **) {
  Profile profile;
  profile.rate = 1'000'000'000;
  profile.overhead = 0;
  profile.tx_ring = 4;
  Lab l(profile);
  const PathId path = Lab::open(*l.a, address(2));
  l.run_for(0ns); // path is up
  std::vector<std::uint32_t> ready;
  l.net.take_ready(ready);
  for (int i = 0; i < 4; ++i)
    assert_true(Lab::send(*l.a, path, std::string(1000, 'x')));
  assert_false(Lab::send(*l.a, path, "no"));
  assert_int_equal(l.a->counters().tx_refused, 1);
  ready.clear();
  l.run_for(8us);
  l.net.take_ready(ready);
  assert_int_equal(ready.size(), 1);
  assert_int_equal(ready[0], 1);
  assert_true(Lab::send(*l.a, path, "yes"));
}

// Who sends to a bulk port that the peer has, and has it only where bulk is said.
static void bulk__waits_in_a_queue_of_its_own_and_comes_later(void **) {
  Profile profile = plain();
  profile.bulk_delay = 30us;
  Lab l(profile);
  const PathId path = Lab::open(*l.a, address(2));
  assert_true(l.b->bulk_port() != 0 && l.b->bulk_port() != l.b->address().port);
  assert_true(Lab::send(*l.a, path, "before", true)); // the path has none yet
  l.a->set_bulk_port(path, l.b->bulk_port());
  assert_true(Lab::send(*l.a, path, "bulk", true));
  assert_true(Lab::send(*l.a, path, "other"));
  const auto got = l.drain(*l.b);
  assert_int_equal(got.size(), 3);
  assert_true(got[0].text == "before" && got[0].at == 10us);
  assert_true(got[1].text == "other" && got[1].at == 10us);
  assert_true(got[2].text == "bulk" && got[2].at == 40us);
  assert_true(got[2].source == address(1)); // its own port
}

static void bulk__goes_nowhere_if_nobody_is_there(void **) {
  Profile profile = plain();
  profile.bulk_delay = 0us;
  Lab l(profile);
  const PathId path = Lab::open(*l.a, address(2));
  l.a->set_bulk_port(path, static_cast<std::uint16_t>(l.b->bulk_port() + 1));
  assert_true(Lab::send(*l.a, path, "bulk", true));
  assert_true(l.drain(*l.b).empty());
  assert_int_equal(l.net.counters().no_receiver, 1);
}

static void bulk__queue_fills_by_itself(void **) {
  Profile profile;
  profile.bulk_delay = 0us;
  profile.queue = 3;
  profile.rate = 1'000'000'000;
  Lab l(profile);
  std::vector<std::unique_ptr<Port>> senders;
  for (std::uint32_t i = 0; i < 8; ++i) {
    senders.push_back(l.net.attach(address(10 + i), profile));
    const PathId path = Lab::open(*senders.back(), address(2));
    senders.back()->set_bulk_port(path, l.b->bulk_port());
    assert_true(Lab::send(*senders.back(), path, "bulk", true));
    assert_true(i >= 3 || Lab::send(*senders.back(), path, "other"));
  }
  const auto got = l.drain(*l.b);
  assert_int_equal(std::ranges::count(got, "other", &Arrival::text), 3);
  assert_int_equal(l.net.counters().queue_full, 5);
}

static void bulk__a_lossless_port_has_none(void **) {
  Profile profile = Profile::host();
  profile.bulk_delay = 1us;
  Lab l(profile);
  assert_int_equal(l.a->bulk_port(), 0);
  const PathId path = Lab::open(*l.a, address(2));
  l.a->set_bulk_port(path, 7);
  assert_true(Lab::send(*l.a, path, "x", true));
  l.run_for(1ms);
  l.events(*l.b);
  assert_int_equal(l.drain(*l.b).size(), 1);
}

static void switch_queue__drops_the_tail_of_an_incast(void **) {
  Profile profile;
  profile.queue = 5;
  profile.delay = 0ns;
  profile.overhead = 0;
  Lab l(profile);
  std::vector<std::unique_ptr<Port>> senders;
  for (std::uint32_t i = 0; i < 8; ++i) {
    senders.push_back(l.net.attach(address(10 + i), profile));
    assert_true(Lab::send(*senders.back(), Lab::open(*senders.back(), address(2)), "12345678"));
  }
  assert_int_equal(l.drain(*l.b).size(), 5);
  assert_int_equal(l.net.counters().queue_full, 3);
}

static void rx_ring__drops_what_nobody_polls(void **) {
  Profile profile = plain();
  profile.rx_ring = 3;
  Lab l(profile);
  const PathId path = Lab::open(*l.a, address(2));
  for (int i = 0; i < 5; ++i)
    Lab::send(*l.a, path, "x");
  l.run_for(1ms);
  assert_int_equal(l.take(*l.b).size(), 3);
  assert_int_equal(l.net.counters().ring_full, 2);
}

// A thousand datagrams numbered by their first two bytes.
static std::vector<Arrival> thousand(Lab &l) {
  const PathId path = Lab::open(*l.a, address(2));
  std::vector<Arrival> got;
  const auto keep = [&](std::vector<Arrival> more) {
    got.insert(got.end(), more.begin(), more.end());
  };
  for (int i = 0; i < 1000; ++i) {
    Lab::send(*l.a, path, {char(i / 100), char(i % 100), 'd', 'a', 't', 'a'});
    l.run_for(1us);
    keep(l.take(*l.b));
  }
  keep(l.drain(*l.b));
  return got;
}

static int number(const Arrival &a) { return a.text[0] * 100 + a.text[1]; }

static void loss__drops_about_as_many(void **) {
  Lab l;
  l.net.set_faults({.loss = 0.1});
  const auto got = thousand(l);
  assert_in_range(got.size(), 850, 950);
  assert_int_equal(l.net.counters().lost, 1000 - got.size());
}

static void duplicate__delivers_copies(void **) {
  Lab l;
  l.net.set_faults({.duplicate = 0.1});
  const auto got = thousand(l);
  std::set<int> numbers;
  for (const Arrival &a : got)
    numbers.insert(number(a));
  assert_int_equal(numbers.size(), 1000);
  assert_in_range(got.size(), 1050, 1150);
  assert_int_equal(l.net.counters().duplicated, got.size() - 1000);
}

static void reorder__lets_others_overtake(void **) {
  Lab l;
  l.net.set_faults({.reorder = 0.1});
  const auto got = thousand(l);
  assert_int_equal(got.size(), 1000);
  int inversions = 0;
  for (std::size_t i = 1; i < got.size(); ++i)
    inversions += number(got[i]) < number(got[i - 1]);
  assert_in_range(inversions, 50, 150);
}

static void jitter__keeps_the_order(void **) {
  Lab l;
  l.net.set_faults({.jitter = 30us});
  const auto got = thousand(l);
  assert_int_equal(got.size(), 1000);
  Duration longest{};
  for (std::size_t i = 0; i < got.size(); ++i) {
    assert_int_equal(number(got[i]), i);
    longest = std::max(longest, got[i].at - Duration(1us) * int(i));
  }
  assert_true(longest > 35us && longest <= 41us);
}

static void corrupt__flips_one_to_three_bits(void **) {
  Lab l;
  l.net.set_faults({.corrupt = 1});
  const PathId path = Lab::open(*l.a, address(2));
  for (int i = 0; i < 100; ++i)
    Lab::send(*l.a, path, std::string(50, '\0'));
  for (const Arrival &a : l.drain(*l.b)) {
    int bits = 0;
    for (const char c : a.text)
      bits += __builtin_popcount(static_cast<unsigned char>(c));
    assert_in_range(bits, 1, 3);
  }
  assert_int_equal(l.net.counters().corrupted, 100);
}

static void black_hole__swallows_large_ones_only(void **) {
  Lab l;
  l.net.set_faults({.black_hole = 1000});
  const PathId path = Lab::open(*l.a, address(2));
  Lab::send(*l.a, path, std::string(1000, 'x'));
  Lab::send(*l.a, path, std::string(1001, 'x'));
  assert_int_equal(l.drain(*l.b).size(), 1);
  assert_int_equal(l.net.counters().black_holed, 1);
}

static void faults__of_one_direction_spare_the_other(void **) {
  Lab l;
  l.net.set_faults(address(1), address(2), {.loss = 1});
  Lab::send(*l.a, Lab::open(*l.a, address(2)), "lost");
  Lab::send(*l.b, Lab::open(*l.b, address(1)), "kept");
  assert_int_equal(l.drain(*l.a).size(), 1);
  assert_int_equal(l.take(*l.b).size(), 0);
}

static void same_seed__same_run(void **) {
  const auto run = [](std::uint64_t seed) {
    Lab l(plain(), seed);
    l.net.set_faults(
        {.loss = 0.1, .duplicate = 0.1, .reorder = 0.1, .corrupt = 0.1, .jitter = 5us});
    std::string all;
    for (const Arrival &a : thousand(l))
      all += a.text + std::to_string(a.at.count());
    return all;
  };
  assert_true(run(7) == run(7));
  assert_false(run(7) == run(8));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(transmit__takes_delay_and_twice_the_time_on_cable),
    cmocka_unit_test(transmit__one_after_the_other_at_the_rate),
    cmocka_unit_test(ring__refuses_when_full_and_wakes_when_it_drains),
    cmocka_unit_test(bulk__waits_in_a_queue_of_its_own_and_comes_later),
    cmocka_unit_test(bulk__goes_nowhere_if_nobody_is_there),
    cmocka_unit_test(bulk__queue_fills_by_itself),
    cmocka_unit_test(bulk__a_lossless_port_has_none),
    cmocka_unit_test(switch_queue__drops_the_tail_of_an_incast),
    cmocka_unit_test(rx_ring__drops_what_nobody_polls),
    cmocka_unit_test(loss__drops_about_as_many),
    cmocka_unit_test(duplicate__delivers_copies),
    cmocka_unit_test(reorder__lets_others_overtake),
    cmocka_unit_test(jitter__keeps_the_order),
    cmocka_unit_test(corrupt__flips_one_to_three_bits),
    cmocka_unit_test(black_hole__swallows_large_ones_only),
    cmocka_unit_test(faults__of_one_direction_spare_the_other),
    cmocka_unit_test(same_seed__same_run),
};
static const unit::Group group{"switch", cases};
