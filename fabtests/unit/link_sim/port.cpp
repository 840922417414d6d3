// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/link_sim/lab.h"

using namespace lab;

static void commit__leaves_with_flush(void **) {
  Lab l;
  const PathId path = Lab::open(*l.a, address(2));
  const TxRoom room = l.a->reserve(path, 10);
  assert_non_null(room.data);
  assert_int_equal(room.capacity, 10);
  std::memcpy(room.data, "hello", 5);
  l.a->commit(path, room, 5);
  assert_int_equal(l.drain(*l.b).size(), 0);
  l.a->flush();
  const auto got = l.drain(*l.b);
  assert_int_equal(got.size(), 1);
  assert_string_equal(got[0].text.c_str(), "hello");
  assert_true(got[0].source == address(1));
  assert_int_equal(l.net.counters().misuse, 0);
}

static void cancel__sends_nothing(void **) {
  Lab l;
  const PathId path = Lab::open(*l.a, address(2));
  const TxRoom room = l.a->reserve(path, 10);
  l.a->cancel(path, room);
  l.a->flush();
  assert_int_equal(l.drain(*l.b).size(), 0);
  assert_int_equal(l.net.counters().misuse, 0);
}

static void poll__names_the_path_to_the_source(void **) {
  Lab l;
  Lab::send(*l.a, Lab::open(*l.a, address(2)), "before");
  assert_true(l.drain(*l.b)[0].path == PathId::none);
  const PathId back = Lab::open(*l.b, address(1));
  Lab::send(*l.a, Lab::open(*l.a, address(2)), "after");
  assert_true(l.drain(*l.b)[0].path == back);
  l.b->close_path(back);
  Lab::send(*l.a, Lab::open(*l.a, address(2)), "closed");
  assert_true(l.drain(*l.b)[0].path == PathId::none);
}

static void reply__goes_to_the_source(void **) {
  Lab l;
  Lab::send(*l.a, Lab::open(*l.a, address(2)), "ask");
  l.run_for(1ms);
  RxDatagram d[2];
  assert_int_equal(l.b->poll(d, 2), 1);
  l.b->reply(d[0], std::as_bytes(std::span("answer", 6)));
  l.b->release(d, 1);
  const auto got = l.drain(*l.a);
  assert_int_equal(got.size(), 1);
  assert_string_equal(got[0].text.c_str(), "answer");
}

static void misuse__is_counted(void **) {
  Lab l;
  const PathId path = Lab::open(*l.a, address(2));
  std::uint64_t expected = 0;
  const auto counted = [&] { return l.net.counters().misuse; };

  assert_null(l.a->reserve(PathId(7), 10).data); // no such path
  assert_true(counted() > expected);
  expected = counted();
  assert_null(l.a->reserve(path, 1473).data); // larger than a datagram may be
  assert_int_equal(counted(), ++expected);
  const TxRoom room = l.a->reserve(path, 10);
  assert_null(l.a->reserve(path, 10).data); // one is open
  assert_int_equal(counted(), ++expected);
  l.a->commit(path, room, 11); // more than was reserved
  assert_int_equal(counted(), ++expected);
  l.a->commit(path, room, 10);
  l.a->flush();
  l.run_for(1ms);
  RxDatagram d[2];
  assert_int_equal(l.b->poll(d, 2), 1);
  assert_int_equal(l.b->poll(d, 2), 0); // not released
  assert_int_equal(counted(), ++expected);
  l.b->release(d, 0); // not all of it
  assert_int_equal(counted(), ++expected);
  l.b->release(d, 1);
  assert_int_equal(counted(), expected);
}

static void lossless__holds_so_much_until_it_is_released(void **) {
  Profile profile = Profile::host();
  profile.tx_ring = 3;
  Lab l(profile);
  const PathId path = Lab::open(*l.a, address(2));
  for (int i = 0; i < 3; ++i)
    assert_true(Lab::send(*l.a, path, "x"));
  assert_false(Lab::send(*l.a, path, "no"));
  l.run_for(1ms);
  assert_false(Lab::send(*l.a, path, "arrived, but not polled"));
  assert_int_equal(l.events(*l.b).size(), 1);
  std::vector<std::uint32_t> ready;
  l.net.take_ready(ready);
  ready.clear();
  assert_int_equal(l.take(*l.b).size(), 3);
  l.net.take_ready(ready); // the sender, who was refused
  assert_int_equal(ready.size(), 1);
  assert_int_equal(ready[0], 1);
  assert_true(Lab::send(*l.a, path, "yes"));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(commit__leaves_with_flush),
    cmocka_unit_test(cancel__sends_nothing),
    cmocka_unit_test(poll__names_the_path_to_the_source),
    cmocka_unit_test(reply__goes_to_the_source),
    cmocka_unit_test(misuse__is_counted),
    cmocka_unit_test(lossless__holds_so_much_until_it_is_released),
};
static const unit::Group group{"port", cases};
