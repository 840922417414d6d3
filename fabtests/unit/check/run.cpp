// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What is found on a network, for each fault that it can have.
#include "lab.h"

using namespace lab;

namespace {

void run__finds_that_all_is_well(void **) {
  Lab l;
  Run &a = l.start(1);
  l.start(2);
  const Result r = l.check(a, 2);
  assert_true(r.verdict == Verdict::well);
  assert_true(r.round_trip > 20us && r.round_trip < 30us);
  assert_int_equal(r.small.to.heard, 16);
  assert_int_equal(r.standard.size, 1472);
  assert_int_equal(r.jumbo.size, 8972);
  for (const Way &way : {r.standard.to, r.standard.fro, r.jumbo.to, r.jumbo.fro})
    assert_int_equal(way.heard, 8);
  assert_int_equal(r.unasked.heard, 1);
  assert_true(r.role == wire::ProbeRole::checker);
  assert_int_equal(r.max_datagram, 8972);
  assert_int_equal(l.net.counters().misuse, 0);
}

void run__tries_no_more_than_both_devices_carry(void **) {
  Lab l;
  Run &a = l.start(1), &b = l.start(2, jumbo(1472));
  const Result r = l.check(a, 2), back = l.check(b, 1);
  assert_true(r.verdict == Verdict::well && back.verdict == Verdict::well);
  assert_int_equal(r.standard.size, 1472);
  assert_int_equal(r.jumbo.size, 0);
  assert_int_equal(r.max_datagram, 1472);
  assert_int_equal(back.jumbo.size, 0);
}

void run__finds_nobody_to_resolve(void **) {
  Lab l;
  Run &a = l.start(1);
  l.net.set_unresolvable(address(9, default_port), true);
  const Result r = l.check(a, 9);
  assert_true(r.verdict == Verdict::unreachable);
  assert_int_equal(r.error, EHOSTUNREACH);
}

void run__gives_up_on_a_path_that_never_comes(void **) {
  Lab l;
  Profile slow = jumbo();
  slow.resolve = 1h;
  Run &a = l.start(1, slow);
  const std::size_t i = a.add(address(2, default_port));
  assert_false(l.finish(a, 1s));
  a.give_up_unreached();
  assert_true(a.done());
  assert_true(a.result(i).verdict == Verdict::unreachable);
}

void run__finds_nobody_who_answers(void **) {
  Lab l;
  Run &a = l.start(1);
  const Result r = l.check(a, 2);
  assert_true(r.verdict == Verdict::silent);
  assert_int_equal(r.small.to.heard, 0);
  assert_true(r.small.to.asked > 3 && r.small.to.asked < 10); // and doesn't try for ever
}

// --- Sizes

void run__finds_the_largest_datagram_that_passes(void **) {
  for (const std::uint32_t carried : {8968u, 4052u, 1500u, 1472u, 1471u, 1372u, 548u, 200u, 84u}) {
    Lab l;
    Run &a = l.start(1);
    l.start(2);
    for (const auto &[from, to] : {std::pair{1u, 2u}, std::pair{2u, 1u}})
      l.hinder(from, to, {.black_hole = carried});
    const Result r = l.check(a, 2);
    assert_true(r.verdict == Verdict::mtu);
    assert_int_equal(r.largest, probe_sized(carried));
    assert_int_equal(r.standard.to.heard != 0, carried >= 1472);
    assert_int_equal(r.jumbo.size != 0, 1); // known from the first answer
    assert_int_equal(r.jumbo.to.asked != 0, carried >= 1472);
  }
}

void run__finds_in_which_direction_large_ones_get_lost(void **) {
  for (const bool to : {true, false}) {
    Lab l;
    Run &a = l.start(1);
    l.start(2);
    l.hinder(to ? 1 : 2, to ? 2 : 1, {.black_hole = 1400});
    const Result r = l.check(a, 2);
    assert_true(r.verdict == Verdict::mtu);
    assert_int_equal(r.standard.to.heard != 0, !to);
    assert_int_equal(r.standard.fro.heard != 0, to);
    assert_int_equal(r.largest, 1400);
  }
}

// --- Directions

// Nothing of ours arrives. While the other side asks, too, we know which way is blocked; alone,
// we don't.
void run__finds_that_nothing_sent_arrives(void **) {
  Lab l;
  Run &a = l.start(1), &b = l.start(2);
  l.hinder(1, 2, {.loss = 1});
  assert_true(l.check(a, 2).verdict == Verdict::silent);
  const std::size_t mine = a.add(address(2, default_port)), its = b.add(address(1, default_port));
  assert_true(l.finish(a) && l.finish(b));
  const Result r = a.result(mine), back = b.result(its);
  assert_true(r.verdict == Verdict::one_way && r.hears_it);
  assert_true(back.verdict == Verdict::silent && !back.hears_it);
}

// A firewall here that lets nothing in but answers.
void run__finds_that_only_answers_come_in(void **) {
  Lab l;
  Run &a = l.start(1), &b = l.start(2);
  for (const std::uint16_t from : {asking, unasked, default_port})
    l.net.set_faults(address(2, from), address(1, unasked), {.loss = 1});
  l.net.set_faults(address(2, asking), address(1, default_port), {.loss = 1});
  const Result r = l.check(a, 2);
  assert_true(r.verdict == Verdict::one_way && !r.hears_it);
  assert_int_equal(r.small.to.heard, 16);
  assert_true(r.tried_unasked);
  assert_int_equal(r.unasked.heard, 0);
  assert_true(l.check(b, 1).verdict == Verdict::silent);
}

void run__knows_which_of_its_ports_heard(void **) {
  Lab l;
  Run &a = l.start(1);
  Run &b = l.start(2);
  std::vector<Address> who;
  b.on_question(
      [&](const Address &from, const wire::Probe &, std::uint32_t) { who.push_back(from); });
  assert_true(l.check(a, 2).verdict == Verdict::well);
  assert_int_equal(who.size(), 16 + 4 * 8 + 1);
  for (const Address &from : who)
    assert_true(from == address(1, asking));
}

// --- Losses

void run__bears_some_losses(void **) {
  Lab l;
  Run &a = l.start(1);
  l.start(2);
  l.net.set_faults({.loss = 0.02, .duplicate = 0.2, .reorder = 0.2, .reorder_delay = 3ms});
  const Result r = l.check(a, 2);
  assert_true(r.verdict == Verdict::well);
  for (const Way &way : {r.small.to, r.standard.to, r.standard.fro, r.jumbo.to, r.jumbo.fro})
    assert_true(way.heard <= way.asked); // a doubled answer counts once
}

void run__tells_of_many_losses(void **) {
  Lab l;
  Run &a = l.start(1);
  l.start(2);
  l.net.set_faults({.loss = 0.2});
  assert_true(l.check(a, 2).verdict == Verdict::lossy);
}

void run__believes_no_corrupted_answer(void **) {
  Lab l;
  Run &a = l.start(1);
  l.start(2);
  l.hinder(2, 1, {.corrupt = 1});
  assert_true(l.check(a, 2).verdict == Verdict::silent);
}

// --- Who is there

wire::KeyDigest key_of(std::byte b) {
  wire::KeyDigest key{};
  key.fill(b);
  return key;
}

void run__finds_another_key(void **) {
  Lab l;
  Run &a = l.start(1, jumbo(), key_of(std::byte{1}));
  l.start(2, jumbo(), key_of(std::byte{2}));
  l.start(3, jumbo(), key_of(std::byte{1}));
  assert_true(l.check(a, 2).verdict == Verdict::key);
  assert_true(l.check(a, 3).verdict == Verdict::well);
}

void run__cares_for_no_key_of_a_daemon(void **) {
  Lab l;
  Run &a = l.start(1, jumbo(), key_of(std::byte{1}));
  l.start(2);
  l.net.set_hook([](const Departure &d) {
    rewrite(d, [](wire::Probe &p) {
      if (p.kind == wire::ProbeKind::answer)
        p.role = wire::ProbeRole::daemon;
    });
    return link::sim::Verdict{};
  });
  const Result r = l.check(a, 2);
  assert_true(r.verdict == Verdict::well && r.role == wire::ProbeRole::daemon);
}

void run__finds_another_version(void **) {
  for (const std::uint8_t version : {std::uint8_t{2}, wire::no_version}) {
    Lab l;
    Run &a = l.start(1);
    l.start(2);
    l.net.set_hook([version](const Departure &d) {
      rewrite(d, [version](wire::Probe &p) {
        if (p.kind == wire::ProbeKind::answer)
          p.version_min = p.version_max = version;
      });
      return link::sim::Verdict{};
    });
    const Result r = l.check(a, 2);
    assert_true(r.verdict == Verdict::version);
    assert_int_equal(r.version_min, version);
    assert_int_equal(r.standard.to.asked, 0);
  }
}

void run__checks_many_at_once(void **) {
  Lab l;
  Run &a = l.start(1);
  std::vector<std::size_t> numbers;
  for (std::uint32_t host = 2; host < 40; ++host) {
    if (host % 2)
      l.start(host);
    numbers.push_back(a.add(address(host, default_port)));
  }
  const Time before = l.clock.now();
  assert_true(l.finish(a));
  assert_true(l.clock.now() - before < 5s);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    assert_true(a.result(numbers[i]).verdict == (i % 2 ? Verdict::well : Verdict::silent));
}

// Of somebody else's address, or id.
void run__takes_answers_from_who_was_asked_alone(void **) {
  Lab l;
  Run &a = l.start(1);
  const auto forger = l.net.attach(address(3, default_port), jumbo());
  const std::size_t i = a.add(address(2, default_port));
  for (unsigned n = 0; n < 50; ++n) {
    wire::Probe p;
    p.kind = wire::ProbeKind::answer;
    p.asker = 1001; // the seed's
    p.sequence = 0;
    p.length = wire::min_probe;
    std::byte d[wire::min_probe];
    wire::encode_datagram(d, p);
    l.net.inject(address(3, default_port), address(1, asking), d, n * 10us);
  }
  assert_true(l.finish(a));
  assert_true(a.result(i).verdict == Verdict::silent);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(run__finds_that_all_is_well),
    cmocka_unit_test(run__tries_no_more_than_both_devices_carry),
    cmocka_unit_test(run__finds_nobody_to_resolve),
    cmocka_unit_test(run__gives_up_on_a_path_that_never_comes),
    cmocka_unit_test(run__finds_nobody_who_answers),
    cmocka_unit_test(run__finds_the_largest_datagram_that_passes),
    cmocka_unit_test(run__finds_in_which_direction_large_ones_get_lost),
    cmocka_unit_test(run__finds_that_nothing_sent_arrives),
    cmocka_unit_test(run__finds_that_only_answers_come_in),
    cmocka_unit_test(run__knows_which_of_its_ports_heard),
    cmocka_unit_test(run__bears_some_losses),
    cmocka_unit_test(run__tells_of_many_losses),
    cmocka_unit_test(run__believes_no_corrupted_answer),
    cmocka_unit_test(run__finds_another_key),
    cmocka_unit_test(run__cares_for_no_key_of_a_daemon),
    cmocka_unit_test(run__finds_another_version),
    cmocka_unit_test(run__checks_many_at_once),
    cmocka_unit_test(run__takes_answers_from_who_was_asked_alone),
};
const unit::Group group{"run", cases};

} // namespace
