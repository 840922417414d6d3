// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Datagrams between two ports that behave.
#include "unit/link_host/harness.h"

#include <atomic>
#include <cstring>
#include <numeric>
#include <sched.h>
#include <thread>

using namespace link_host;

namespace {

void fill(std::byte *data, std::uint32_t len, std::uint32_t seed) {
  for (std::uint32_t i = 0; i < len; ++i)
    data[i] = static_cast<std::byte>((seed + i) * 167 >> 3);
}

bool matches(const std::byte *data, std::uint32_t len, std::uint32_t seed) {
  for (std::uint32_t i = 0; i < len; ++i)
    if (data[i] != static_cast<std::byte>((seed + i) * 167 >> 3))
      return false;
  return true;
}

} // namespace

static void path__carries_both_ways(void **) {
  Pair pair;
  assert_true(send(*pair.opener, pair.out, "there"));
  PathId from;
  assert_string_equal(receive(*pair.acceptor, &from).c_str(), "there");
  assert_true(from == pair.in);
  assert_true(send(*pair.acceptor, pair.in, "and back"));
  assert_string_equal(receive(*pair.opener, &from).c_str(), "and back");
  assert_true(from == pair.out);
}

static void path__knows_both_addresses(void **) {
  Pair pair;
  assert_true(pair.opener->peer_address(pair.out) == pair.acceptor->address());
  assert_true(pair.acceptor->peer_address(pair.in) == pair.opener->address());
  assert_true(send(*pair.opener, pair.out, "x"));
  RxDatagram datagram;
  assert_int_equal(pair.acceptor->poll(&datagram, 1), 1);
  assert_true(pair.acceptor->source(datagram) == pair.opener->address());
}

static void path__is_usable_before_it_is_accepted(void **) {
  const auto opener = open_port(), acceptor = open_port();
  PathId path;
  assert_int_equal(opener->open_path(acceptor->address(), path), 0);
  for (int i = 0; i < 50; ++i)
    assert_true(send(*opener, path, std::to_string(i)));
  await_event(*acceptor, PathEventKind::accepted);
  for (int i = 0; i < 50; ++i)
    assert_string_equal(receive(*acceptor).c_str(), std::to_string(i).c_str());
}

static void path__is_told_before_its_datagrams_come(void **) {
  const auto opener = open_port(), acceptor = open_port();
  PathId path;
  assert_int_equal(opener->open_path(acceptor->address(), path), 0);
  assert_true(send(*opener, path, "early"));
  assert_false(acceptor->arm()); // which looks at connections
  RxDatagram datagram;
  assert_int_equal(acceptor->poll(&datagram, 1), 0);
  await_event(*acceptor, PathEventKind::accepted);
  assert_string_equal(receive(*acceptor).c_str(), "early");
}

static void path__carries_every_size(void **) {
  Pair pair;
  const std::uint32_t most = pair.opener->traits().max_datagram;
  for (std::uint32_t len = 0; len <= most; ++len) {
    const TxRoom room = pair.opener->reserve(pair.out, len);
    assert_non_null(room.data);
    assert_true(room.capacity >= len);
    fill(room.data, len, len);
    pair.opener->commit(pair.out, room, len);
    RxDatagram datagram;
    assert_int_equal(pair.acceptor->poll(&datagram, 1), 1);
    assert_int_equal(datagram.len, len);
    assert_true(matches(datagram.data, len, len));
    pair.acceptor->release(&datagram, 1);
  }
}

static void path__cancelled_room_is_not_sent(void **) {
  Pair pair;
  const TxRoom room = pair.opener->reserve(pair.out, 100);
  fill(room.data, 100, 1);
  pair.opener->cancel(pair.out, room);
  pair.opener->flush();
  assert_true(send(*pair.opener, pair.out, "after"));
  assert_string_equal(receive(*pair.acceptor).c_str(), "after");
}

static void path__full_is_refused_and_counted(void **) {
  Pair pair;
  std::uint64_t sent = 0, received = 0;
  while (send(*pair.opener, pair.out, &sent, sizeof(sent)))
    ++sent;
  assert_int_equal(pair.opener->counters().tx_refused, 1);
  // Each burst that is released makes room for as many.
  while (received < 100000) {
    RxDatagram batch[16];
    const unsigned n = pair.acceptor->poll(batch, 16);
    assert_int_equal(n, 16);
    for (unsigned i = 0; i < n; ++i, ++received)
      assert_memory_equal(batch[i].data, &received, sizeof(received));
    pair.acceptor->release(batch, n);
    for (unsigned i = 0; i < n; ++i, ++sent)
      assert_true(send(*pair.opener, pair.out, &sent, sizeof(sent)));
    assert_false(send(*pair.opener, pair.out, &sent, sizeof(sent)));
  }
}

static void path__datagrams_stay_until_release(void **) {
  Pair pair;
  while (send(*pair.opener, pair.out, "kept", 4)) {
  }
  RxDatagram batch[64];
  assert_int_equal(pair.acceptor->poll(batch, 64), 64);
  assert_false(send(*pair.opener, pair.out, "no room", 7));
  for (const RxDatagram &datagram : batch)
    assert_memory_equal(datagram.data, "kept", 4);
  pair.acceptor->release(batch, 64);
  assert_true(send(*pair.opener, pair.out, "room", 4));
}

static void reply__goes_back_where_it_came_from(void **) {
  Pair pair;
  assert_true(send(*pair.opener, pair.out, "question"));
  RxDatagram datagram;
  assert_int_equal(pair.acceptor->poll(&datagram, 1), 1);
  const char answer[] = "answer";
  pair.acceptor->reply(datagram, std::as_bytes(std::span(answer, 6)));
  pair.acceptor->release(&datagram, 1);
  assert_string_equal(receive(*pair.opener).c_str(), "answer");
}

static void counters__count(void **) {
  Pair pair;
  assert_true(send(*pair.opener, pair.out, "12345"));
  assert_true(send(*pair.opener, pair.out, "678"));
  receive(*pair.acceptor);
  receive(*pair.acceptor);
  assert_int_equal(pair.opener->counters().tx_datagrams, 2);
  assert_int_equal(pair.opener->counters().tx_bytes, 8);
  assert_int_equal(pair.acceptor->counters().rx_datagrams, 2);
  assert_int_equal(pair.acceptor->counters().rx_bytes, 8);
}

static void self__path_leads_back(void **) {
  const auto port = open_port();
  PathId path, from;
  assert_int_equal(port->open_path(port->address(), path), 0);
  assert_true(await_event(*port, PathEventKind::up).path == path);
  assert_true(no_event(*port)); // one path: it isn't accepted as well
  for (int i = 0; i < 5000; ++i) {
    assert_true(send(*port, path, std::to_string(i)));
    assert_string_equal(receive(*port, &from).c_str(), std::to_string(i).c_str());
    assert_true(from == path);
  }
  port->close_path(path);
  std::unique_ptr<Port> any;
  std::string error;
  assert_int_equal(open_host_port(Address::v4(0, 0), {}, any, error), 0);
  assert_int_equal(any->open_path(loopback(any->address().port), path), 0);
  assert_true(send(*any, path, "me"));
  assert_string_equal(receive(*any).c_str(), "me");
}

static void word__replaces_the_one_before(void **) {
  Pair pair;
  assert_int_equal(pair.acceptor->told(pair.in), 0);
  pair.opener->tell(pair.out, 5);
  pair.opener->tell(pair.out, 7);
  assert_int_equal(pair.acceptor->told(pair.in), 7);
  assert_int_equal(pair.opener->told(pair.out), 0);
  pair.acceptor->tell(pair.in, 9);
  assert_int_equal(pair.opener->told(pair.out), 9);
  pair.opener.reset();
  assert_int_equal(pair.acceptor->told(pair.in), 7); // until the path is closed
}

static void word__to_oneself(void **) {
  const auto port = open_port();
  PathId path;
  assert_int_equal(port->open_path(port->address(), path), 0);
  port->tell(path, 3);
  assert_int_equal(port->told(path), 3);
}

static void path_ids__are_dense_and_reused(void **) {
  Pair pair;
  PathId second, third;
  assert_int_equal(pair.opener->open_path(pair.acceptor->address(), second), 0);
  assert_int_equal(static_cast<int>(second), 1);
  pair.opener->close_path(pair.out);
  assert_int_equal(pair.opener->open_path(pair.acceptor->address(), third), 0);
  assert_true(third == pair.out);
  assert_true(send(*pair.opener, second, "still"));
}

// An event of a closed path would be taken for one of the next with its id.
static void close_path__takes_its_events_along(void **) {
  const auto opener = open_port(), acceptor = open_port();
  PathId path;
  assert_int_equal(opener->open_path(acceptor->address(), path), 0);
  opener->close_path(path);
  assert_true(no_event(*opener));
}

static void many_paths__all_are_heard_beside_a_flood(void **) {
  constexpr int count = 130;
  const auto hub = open_port();
  std::vector<std::unique_ptr<Port>> ports;
  std::vector<PathId> paths(count);
  for (int i = 0; i < count; ++i) {
    ports.push_back(open_port());
    assert_int_equal(ports[i]->open_path(hub->address(), paths[i]), 0);
  }
  std::vector<int> owner(count);
  for (int i = 0; i < count; ++i) {
    const PathId in = await_event(*hub, PathEventKind::accepted).path;
    for (int p = 0; p < count; ++p)
      if (hub->peer_address(in) == ports[p]->address())
        owner[static_cast<int>(in)] = p;
  }
  for (int quiet = 1; quiet < count; ++quiet)
    assert_true(send(*ports[quiet], paths[quiet], "once"));
  std::vector<int> heard(count);
  int rounds = 0;
  for (int distinct = 0; distinct < count; ++rounds) {
    assert_true(rounds < 2 * count);
    while (send(*ports[0], paths[0], "flood")) { // always more than a burst
    }
    RxDatagram batch[32];
    const unsigned n = hub->poll(batch, 32);
    for (unsigned i = 0; i < n; ++i)
      distinct += ++heard[owner[static_cast<int>(batch[i].path)]] == 1;
    hub->release(batch, n);
  }
  for (int quiet = 1; quiet < count; ++quiet)
    assert_int_equal(heard[quiet], 1);
}

namespace {

struct Hammer {
  Port &port;
  PathId path;
  std::uint32_t count;
  std::uint32_t bad = 0;

  // Sends `count` numbered datagrams of varying size, and checks as many.
  void run() {
    std::uint32_t sent = 0, received = 0;
    while (sent < count || received < count) {
      for (int burst = 0; burst < 16 && sent < count; ++burst, ++sent) {
        const std::uint32_t len = 4 + sent * 7 % 200;
        const TxRoom room = port.reserve(path, len);
        if (room.data == nullptr)
          break;
        std::memcpy(room.data, &sent, 4);
        room.data[len - 1] = static_cast<std::byte>(sent);
        port.commit(path, room, len);
      }
      port.flush();
      RxDatagram batch[16];
      const unsigned n = port.poll(batch, 16);
      for (unsigned i = 0; i < n; ++i, ++received) {
        const std::uint32_t len = 4 + received * 7 % 200;
        bad += batch[i].len != len || (len > 4 && std::memcmp(batch[i].data, &received, 4) != 0) ||
               batch[i].data[len - 1] != static_cast<std::byte>(received);
      }
      port.release(batch, n);
      if (n == 0)
        sched_yield();
    }
  }
};

} // namespace

static void two_threads__hammer_each_other(void **) {
  Pair pair;
  Hammer a{*pair.opener, pair.out, 1'000'000}, b{*pair.acceptor, pair.in, 1'000'000};
  std::thread other([&] { b.run(); });
  a.run();
  other.join();
  assert_int_equal(a.bad, 0);
  assert_int_equal(b.bad, 0);
}

static void simultaneous_opens__make_two_paths(void **) {
  for (int round = 0; round < 200; ++round) {
    const std::unique_ptr<Port> ports[2] = {open_port(), open_port()};
    std::atomic<int> ready{0};
    int failures[2] = {};
    const auto side = [&](int me) {
      ++ready;
      while (ready != 2)
        sched_yield();
      PathId out;
      if (ports[me]->open_path(ports[1 - me]->address(), out) != 0 || !send(*ports[me], out, "hi"))
        failures[me] = 1;
      bool up = false, accepted = false;
      PathEvent event;
      for (int got = 0; !up || !accepted || got == 0;) {
        if (ports[me]->poll_events(&event, 1, now()) != 0)
          (event.kind == PathEventKind::up ? up : accepted) = true;
        RxDatagram datagram;
        if (ports[me]->poll(&datagram, 1) != 0) {
          ++got;
          failures[me] |= datagram.path == out;
          ports[me]->release(&datagram, 1);
        }
        sched_yield();
      }
    };
    std::thread other(side, 1);
    side(0);
    other.join();
    assert_int_equal(failures[0] + failures[1], 0);
  }
}

static void idle__rings_give_their_pages_back(void **) {
  HostOptions options;
  options.ring_bytes = 1 << 20;
  Pair pair(options);
  const auto traffic = [&] {
    std::vector<std::byte> bytes(16000, std::byte{1});
    for (int i = 0; i < 200; ++i) {
      assert_true(send(*pair.opener, pair.out, bytes.data(), 16000));
      assert_int_equal(receive(*pair.acceptor).size(), 16000);
    }
  };
  traffic();
  const std::size_t busy = ring_resident_bytes();
  assert_true(busy >= std::size_t{2} * options.ring_bytes);
  PathEvent event;
  for (int i = 1; i <= 3; ++i)
    pair.opener->poll_events(&event, 1, now() + i * (options.idle_trim + options.idle_trim / 8));
  const std::size_t idle = ring_resident_bytes();
  assert_true(idle < busy / 8);
  traffic();
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(path__carries_both_ways),
    cmocka_unit_test(path__knows_both_addresses),
    cmocka_unit_test(path__is_usable_before_it_is_accepted),
    cmocka_unit_test(path__is_told_before_its_datagrams_come),
    cmocka_unit_test(path__carries_every_size),
    cmocka_unit_test(path__cancelled_room_is_not_sent),
    cmocka_unit_test(path__full_is_refused_and_counted),
    cmocka_unit_test(path__datagrams_stay_until_release),
    cmocka_unit_test(reply__goes_back_where_it_came_from),
    cmocka_unit_test(counters__count),
    cmocka_unit_test(self__path_leads_back),
    cmocka_unit_test(word__replaces_the_one_before),
    cmocka_unit_test(word__to_oneself),
    cmocka_unit_test(path_ids__are_dense_and_reused),
    cmocka_unit_test(close_path__takes_its_events_along),
    cmocka_unit_test(many_paths__all_are_heard_beside_a_flood),
    cmocka_unit_test(two_threads__hammer_each_other),
    cmocka_unit_test(simultaneous_opens__make_two_paths),
    cmocka_unit_test(idle__rings_give_their_pages_back),
};
static const unit::Group group{"link_host.data", cases};
