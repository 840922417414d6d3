// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/link_sim/lab.h"

using namespace lab;

static void open_path__is_up_when_it_is_resolved(void **) {
  Profile profile = plain();
  profile.resolve = 3ms;
  Lab l(profile);
  const PathId path = Lab::open(*l.a, address(2));
  assert_true(l.a->peer_address(path) == address(2));
  l.run_for(2ms);
  assert_int_equal(l.events(*l.a).size(), 0);
  l.run_for(1ms);
  const auto events = l.events(*l.a);
  assert_int_equal(events.size(), 1);
  assert_true(events[0].kind == PathEventKind::up && events[0].path == path);
}

static void open_path__fails_where_nothing_resolves(void **) {
  Lab l;
  l.net.set_unresolvable(address(9), true);
  Lab::open(*l.a, address(9));
  l.run_for(0ns);
  const auto events = l.events(*l.a);
  assert_int_equal(events.size(), 1);
  assert_true(events[0].kind == PathEventKind::failed);
  assert_int_equal(events[0].error, -EHOSTUNREACH);
}

static void close_path__frees_its_number(void **) {
  Lab l;
  const PathId first = Lab::open(*l.a, address(2));
  Lab::open(*l.a, address(3));
  l.a->close_path(first);
  assert_true(Lab::open(*l.a, address(4)) == first);
  l.run_for(1ms); // the closed path's `up` must not come to the new one as well
  assert_int_equal(l.events(*l.a).size(), 2);
}

static void lossless__refuses_where_nobody_is(void **) {
  Lab l(Profile::host());
  PathId path;
  assert_int_equal(l.a->open_path(address(9), path), -ECONNREFUSED);
}

static void lossless__tells_the_peer_before_it_delivers(void **) {
  Lab l(Profile::host());
  const PathId path = Lab::open(*l.a, address(2));
  Lab::send(*l.a, path, "first");
  l.run_for(1ms);
  assert_int_equal(l.take(*l.b).size(), 0);
  const auto events = l.events(*l.b);
  assert_int_equal(events.size(), 1);
  assert_true(events[0].kind == PathEventKind::accepted);
  assert_true(l.b->peer_address(events[0].path) == address(1));
  const auto got = l.take(*l.b);
  assert_int_equal(got.size(), 1);
  assert_true(got[0].path == events[0].path);
  Lab::send(*l.b, events[0].path, "back");
  const auto back = l.drain(*l.a);
  assert_int_equal(back.size(), 1);
  assert_true(back[0].path == path);
}

static void lossless__peer_gone_comes_after_its_last_datagram(void **) {
  Lab l(Profile::host());
  const PathId path = Lab::open(*l.a, address(2));
  l.run_for(1ms);
  assert_true(l.events(*l.b)[0].kind == PathEventKind::accepted);
  Lab::send(*l.a, path, "last words");
  l.net.kill(address(1));
  l.run_for(1ms);
  assert_int_equal(l.events(*l.b).size(), 0);
  assert_int_equal(l.take(*l.b).size(), 1);
  const auto events = l.events(*l.b);
  assert_int_equal(events.size(), 1);
  assert_true(events[0].kind == PathEventKind::peer_gone);
  assert_false(Lab::send(*l.a, path, "dead"));
}

static void lossless__nothing_of_a_closed_path_is_delivered(void **) {
  Lab l(Profile::host());
  const PathId path = Lab::open(*l.a, address(2));
  l.run_for(1ms);
  const PathId accepted = l.events(*l.b)[0].path;
  Lab::send(*l.a, path, "arrived");
  l.run_for(1ms);
  Lab::send(*l.a, path, "under way");
  l.b->close_path(accepted);
  assert_int_equal(l.drain(*l.b).size(), 0);
  assert_true(l.events(*l.a).back().kind == PathEventKind::peer_gone);
}

static void pull__reads_across_pieces(void **) {
  Lab l(Profile::host());
  const PathId path = Lab::open(*l.a, address(2));
  char source[] = "abcdefgh", one[3], two[5];
  const iovec remote[] = {{source, 2}, {source + 2, 0}, {source + 2, 6}};
  const iovec local[] = {{one, 3}, {two, 5}};
  assert_int_equal(l.a->pull(path, local, remote), 0);
  assert_memory_equal(one, "abc", 3);
  assert_memory_equal(two, "defgh", 5);
  assert_int_equal(l.a->pull(path, local, std::span(remote, 2)), -EFAULT);
  l.b.reset();
  assert_int_equal(l.a->pull(path, local, remote), -ESRCH);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(open_path__is_up_when_it_is_resolved),
    cmocka_unit_test(open_path__fails_where_nothing_resolves),
    cmocka_unit_test(close_path__frees_its_number),
    cmocka_unit_test(lossless__refuses_where_nobody_is),
    cmocka_unit_test(lossless__tells_the_peer_before_it_delivers),
    cmocka_unit_test(lossless__peer_gone_comes_after_its_last_datagram),
    cmocka_unit_test(lossless__nothing_of_a_closed_path_is_delivered),
    cmocka_unit_test(pull__reads_across_pieces),
};
static const unit::Group group{"paths", cases};
