// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How the end of a peer is told, and that nothing it sent before is lost.
#include "unit/link_host/harness.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <random>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace link_host;

namespace {

// Opens a path to `address` and sends numbered datagrams of varying size: `count`
// of them, or until killed.
bool flood(const Address &address, std::uint64_t count) {
  std::unique_ptr<Port> port;
  std::string error;
  PathId path;
  if (open_host_port(loopback(), {}, port, error) != 0 || port->open_path(address, path) != 0)
    return false;
  for (std::uint64_t i = 0; i < count;) {
    const auto len = static_cast<std::uint32_t>(8 + i * 13 % 500);
    const TxRoom room = port->reserve(path, len);
    if (room.data == nullptr) {
      sched_yield();
      continue;
    }
    std::memcpy(room.data, &i, 8);
    std::memset(room.data + 8, static_cast<int>(i), len - 8);
    port->commit(path, room, len);
    port->flush();
    ++i;
  }
  return true;
}

// Counts datagrams as flood() sends them, each checked.
struct Checker {
  std::uint64_t received = 0;

  void poll(Port &port) {
    RxDatagram batch[16];
    const unsigned n = port.poll(batch, 16);
    for (unsigned i = 0; i < n; ++i, ++received) {
      assert_int_equal(batch[i].len, 8 + received * 13 % 500);
      assert_memory_equal(batch[i].data, &received, 8);
      for (std::uint32_t at = 8; at < batch[i].len; ++at)
        assert_true(batch[i].data[at] == static_cast<std::byte>(received));
    }
    port.release(batch, n);
  }
};

PathEvent poll_until_gone(Port &port, Checker &checker) {
  const Time deadline = now() + std::chrono::milliseconds(patience_ms);
  PathEvent event{};
  while (port.poll_events(&event, 1, now()) == 0) {
    checker.poll(port);
    assert_true(now() < deadline);
  }
  return event;
}

// Asked for by who makes no turns, which else would notice.
void lives__until_the_process_or_the_port_has_ended(void **) {
  {
    Pair p;
    assert_true(p.opener->lives(p.out, now()));
    assert_true(send(*p.opener, p.out, "nobody takes this"));
    p.acceptor.reset();
    assert_false(p.opener->lives(p.out, now() + std::chrono::milliseconds(1)));
    assert_null(p.opener->reserve(p.out, 8).data);
    assert_int_equal(await_event(*p.opener).error, -ECONNRESET);
  }
  const std::unique_ptr<Port> port = open_port();
  const pid_t child = in_child([&] {
    std::unique_ptr<Port> own;
    std::string error;
    PathId to;
    if (open_host_port(loopback(), {}, own, error) == 0 && own->open_path(port->address(), to) == 0)
      pause();
    return false;
  });
  const PathId path = await_event(*port, PathEventKind::accepted).path;
  assert_true(port->lives(path, now()));
  assert_true(send(*port, path, "nobody takes this"));
  kill_hard(child);
  assert_false(port->lives(path, now() + std::chrono::milliseconds(1)));
  assert_int_equal(await_event(*port, PathEventKind::peer_gone).error, -ECONNRESET);
}

// Who sends may look only when what it has sent is received, and its receiver gone: nothing failed.
void lives__for_what_was_taken_before_the_end(void **) {
  Pair p;
  assert_true(send(*p.opener, p.out, "taken"));
  assert_string_equal(receive(*p.acceptor).c_str(), "taken");
  p.acceptor.reset();
  assert_true(p.opener->lives(p.out, now() + std::chrono::milliseconds(1)));
  assert_false(send(*p.opener, p.out, "into the void"));
  await_event(*p.opener, PathEventKind::peer_gone);
}

} // namespace

static void close__is_told_after_all_was_polled(void **) {
  Pair pair;
  for (int i = 0; i < 100; ++i)
    assert_true(send(*pair.opener, pair.out, std::to_string(i)));
  pair.opener.reset();
  for (int i = 0; i < 100; ++i) {
    assert_true(no_event(*pair.acceptor));
    assert_string_equal(receive(*pair.acceptor).c_str(), std::to_string(i).c_str());
  }
  const PathEvent event = await_event(*pair.acceptor, PathEventKind::peer_gone);
  assert_true(event.path == pair.in);
  assert_int_equal(event.error, -ECONNRESET);
  assert_false(send(*pair.acceptor, pair.in, "into the void"));
}

static void close__waits_for_release_too(void **) {
  Pair pair;
  assert_true(send(*pair.opener, pair.out, "held"));
  RxDatagram datagram;
  assert_int_equal(pair.acceptor->poll(&datagram, 1), 1);
  pair.opener.reset();
  assert_true(no_event(*pair.acceptor));
  assert_memory_equal(datagram.data, "held", 4);
  pair.acceptor->release(&datagram, 1);
  await_event(*pair.acceptor, PathEventKind::peer_gone);
}

static void close_path__is_told_to_the_peer(void **) {
  Pair pair;
  assert_true(send(*pair.acceptor, pair.in, "last"));
  pair.acceptor->close_path(pair.in);
  assert_string_equal(receive(*pair.opener).c_str(), "last");
  assert_true(await_event(*pair.opener, PathEventKind::peer_gone).path == pair.out);
}

static void close__before_the_peer_ever_looked(void **) {
  const auto acceptor = open_port();
  auto opener = open_port();
  PathId path;
  assert_int_equal(opener->open_path(acceptor->address(), path), 0);
  assert_true(send(*opener, path, "hello and goodbye"));
  opener.reset();
  await_event(*acceptor, PathEventKind::accepted);
  assert_string_equal(receive(*acceptor).c_str(), "hello and goodbye");
  await_event(*acceptor, PathEventKind::peer_gone);
}

// A listener that goes takes the connections along that it never accepted.
static void close__of_a_port_that_never_looked(void **) {
  auto acceptor = open_port();
  const auto opener = open_port();
  PathId path;
  assert_int_equal(opener->open_path(acceptor->address(), path), 0);
  await_event(*opener, PathEventKind::up);
  acceptor.reset();
  await_event(*opener, PathEventKind::peer_gone);
}

static void exit__without_close_loses_nothing(void **) {
  const auto port = open_port();
  const pid_t child = in_child([&] { return flood(port->address(), 20000); });
  Checker checker;
  await_event(*port, PathEventKind::accepted);
  assert_int_equal(poll_until_gone(*port, checker).kind, PathEventKind::peer_gone);
  assert_int_equal(checker.received, 20000);
  assert_true(succeeded(child));
}

static void kill__at_any_point_leaves_the_survivor_whole(void **) {
  const std::uint32_t seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const auto port = open_port();
  const std::size_t descriptors = open_descriptors();
  for (int round = 0; round < 100; ++round) {
    const pid_t child = in_child([&] { return flood(port->address(), UINT64_MAX); });
    const PathId path = await_event(*port, PathEventKind::accepted).path;
    Checker checker;
    const std::uint64_t enough = random() % 3000;
    const Time deadline = now() + std::chrono::milliseconds(patience_ms);
    while (checker.received < enough) {
      checker.poll(*port);
      assert_true(now() < deadline);
    }
    // Then it has run into the full ring, or not yet.
    for (std::uint32_t spin = random() % 20000; spin != 0; --spin)
      asm volatile("");
    kill_hard(child);
    const PathEvent event = poll_until_gone(*port, checker);
    assert_int_equal(event.kind, PathEventKind::peer_gone);
    assert_true(event.path == path);
    port->close_path(path);
    assert_int_equal(ring_mappings(), 0);
    assert_int_equal(open_descriptors(), descriptors);
  }
}

static void kill__while_it_receives(void **) {
  const auto port = open_port();
  for (int round = 0; round < 20; ++round) {
    Signal ready;
    const pid_t child = in_child([&] {
      const auto own = open_port();
      ready.give(own->address().port);
      for (RxDatagram batch[16];;) {
        PathEvent event;
        own->poll_events(&event, 1, now());
        own->release(batch, own->poll(batch, 16));
      }
      return true;
    });
    PathId path;
    assert_int_equal(port->open_path(loopback(static_cast<std::uint16_t>(ready.await())), path), 0);
    await_event(*port, PathEventKind::up);
    for (int sent = 0; sent < 5000;)
      sent += send(*port, path, "to one who is about to die");
    kill_hard(child);
    PathEvent event{};
    while (port->poll_events(&event, 1, now()) == 0)
      send(*port, path, "into the void"); // full, or not: either is fine
    assert_int_equal(event.kind, PathEventKind::peer_gone);
    port->close_path(path);
  }
  assert_int_equal(ring_mappings(), 0);
}

static void restart__on_the_same_name_at_once(void **) {
  const auto observer = open_port();
  std::uint16_t number = 0;
  for (int round = 0; round < 20; ++round) {
    Signal ready;
    const pid_t child = in_child([&] {
      std::unique_ptr<Port> port;
      std::string error;
      if (open_host_port(loopback(number), {}, port, error) != 0)
        return false;
      ready.give(port->address().port);
      pause();
      return true;
    });
    number = static_cast<std::uint16_t>(ready.await());
    assert_int_not_equal(number, 0);
    PathId path;
    assert_int_equal(observer->open_path(loopback(number), path), 0);
    await_event(*observer, PathEventKind::up);
    kill_hard(child);
    await_event(*observer, PathEventKind::peer_gone);
    observer->close_path(path);
  }
}

// The copy keeps the socket open, as a forked child would that knew nothing of
// the link's fork handlers: the process' own end is what tells.
static void kill__is_told_although_a_copy_of_its_socket_lives(void **) {
  const auto port = open_port();
  Signal opened, over;
  const pid_t child = in_child([&] {
    const auto own = open_port();
    PathId path;
    if (own->open_path(port->address(), path) != 0 || !send(*own, path, "testament"))
      return false;
    if (_Fork() == 0) {
      alarm(3 * patience_ms / 1000); // longer than the test waits
      over.await();
      _exit(0);
    }
    opened.give();
    pause();
    return true;
  });
  assert_int_equal(opened.await(), 1);
  await_event(*port, PathEventKind::accepted);
  kill_hard(child);
  assert_string_equal(receive(*port).c_str(), "testament");
  await_event(*port, PathEventKind::peer_gone);
  over.give();
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(lives__until_the_process_or_the_port_has_ended),
    cmocka_unit_test(lives__for_what_was_taken_before_the_end),
    cmocka_unit_test(close__is_told_after_all_was_polled),
    cmocka_unit_test(close__waits_for_release_too),
    cmocka_unit_test(close_path__is_told_to_the_peer),
    cmocka_unit_test(close__before_the_peer_ever_looked),
    cmocka_unit_test(close__of_a_port_that_never_looked),
    cmocka_unit_test(exit__without_close_loses_nothing),
    cmocka_unit_test(kill__at_any_point_leaves_the_survivor_whole),
    cmocka_unit_test(kill__while_it_receives),
    cmocka_unit_test(restart__on_the_same_name_at_once),
    cmocka_unit_test(kill__is_told_although_a_copy_of_its_socket_lives),
};
static const unit::Group group{"link_host.ends", cases};
