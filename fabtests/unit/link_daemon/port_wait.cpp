// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/link_daemon/harness.h"

#include <atomic>
#include <thread>

using namespace link_daemon;

static void arm__sees_what_has_come(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  const int fd = scene.port->wait_fd();
  assert_true(fd >= 0);
  assert_true(scene.port->arm());
  assert_false(readable(fd));
  assert_true(
      scene.end.give(RecordKind::data, static_cast<std::uint32_t>(id), scene.generation(id), "x"));
  assert_true(readable(fd, patience_ms));
  scene.port->disarm();
  assert_false(scene.port->arm()); // it still lies there
  scene.port->disarm();
  assert_int_equal(scene.poll().size(), 1);
  assert_true(scene.port->arm());
  assert_false(readable(fd));
  scene.port->disarm();
}

static void arm__is_no_wake_for_who_polls(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  const int fd = scene.port->wait_fd();
  assert_true(
      scene.end.give(RecordKind::data, static_cast<std::uint32_t>(id), scene.generation(id), "x"));
  assert_false(readable(fd));
}

static void peer__that_sleeps_is_woken_once(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  scene.end.woken();
  assert_true(scene.end.channel.sleep());
  assert_true(scene.send(id, "x"));
  assert_true(scene.end.woken());
  assert_true(scene.send(id, "x"));
  assert_false(scene.end.woken());
}

// Who goes to sleep has told the daemon all it had to tell.
static void arm__leaves_nothing_untold(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  assert_true(scene.port->wait_fd() >= 0);
  scene.end.woken();
  assert_true(scene.end.channel.sleep());
  PathId second;
  assert_int_equal(scene.port->open_path(peer(3), second), 0);
  assert_true(scene.port->arm());
  assert_true(scene.end.woken());
  scene.port->disarm();
  (void)id;
}

static void wait__ends_with_the_daemon_and_comes_back_with_the_next(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  const int fd = scene.port->wait_fd();
  assert_true(scene.port->arm());
  assert_false(scene.port->blocked());
  scene.kill();
  assert_true(readable(fd, patience_ms));
  scene.port->disarm();
  assert_true(scene.events().empty());
  // There is nobody to wake it: it looks again by itself.
  assert_true(scene.port->arm());
  assert_true(scene.port->blocked());
  assert_true(readable(fd, patience_ms));
  scene.port->disarm();
  assert_false(readable(fd));
  assert_true(scene.port->arm());
  scene.revive(); // without disarm(), as who only polls events
  scene.events();
  const std::uint16_t g = scene.end.expect(RecordKind::open).header.generation;
  assert_false(scene.port->blocked());
  scene.end.event(static_cast<std::uint32_t>(id), g, PathEventKind::up);
  scene.port->disarm();
  assert_true(scene.poll().empty());
  assert_true(scene.port->arm());
  assert_false(readable(fd, 30)); // longer than the timer, which has had its day
  assert_true(scene.end.give(RecordKind::data, static_cast<std::uint32_t>(id), g, "x"));
  assert_true(readable(fd, patience_ms));
  scene.port->disarm();
}

// Two that sleep whenever they have nothing to do, and a fixed number of datagrams to and fro.
static void sleepers__lose_no_wake(void **) {
  constexpr int rounds = 20'000;
  Scene scene;
  const PathId id = scene.open_up();
  const auto number = static_cast<std::uint32_t>(id);
  const std::uint16_t g = scene.generation(id);
  const int fd = scene.port->wait_fd();
  std::atomic<bool> slept_through{false};
  std::thread daemon([&] {
    for (int i = 0; i < rounds && !slept_through;) {
      const std::byte *data = nullptr;
      std::uint32_t len = 0;
      if (scene.end.channel.rx.next(data, len) == host::RingConsumer::Next::datagram) {
        scene.end.channel.rx.release();
        ++i;
        std::byte *const at = scene.end.channel.tx.reserve(sizeof(RecordHeader) + 1);
        put(at, RecordHeader{static_cast<std::uint8_t>(RecordKind::data), 0, g, number});
        scene.end.channel.tx.commit(sizeof(RecordHeader) + 1);
        scene.end.channel.wake_peer();
        continue;
      }
      host::Welcome unused;
      while (host::receive_note(scene.end.channel.socket, unused) == host::Note::wake) {
      }
      if (scene.end.channel.sleep() && !readable(scene.end.channel.socket.get(), patience_ms))
        slept_through = true;
      scene.end.channel.set_sleep(host::Sleep::may_sleep);
    }
  });
  for (int i = 0; i < rounds && !slept_through; ++i) {
    assert_true(scene.send(id, "x"));
    RxDatagram got;
    while (scene.port->poll(&got, 1) == 0 && !slept_through) {
      if (scene.port->arm() && !readable(fd, patience_ms))
        slept_through = true;
      scene.port->disarm();
    }
    scene.port->release(&got, 1);
  }
  daemon.join();
  assert_false(slept_through);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(arm__sees_what_has_come),
    cmocka_unit_test(arm__is_no_wake_for_who_polls),
    cmocka_unit_test(peer__that_sleeps_is_woken_once),
    cmocka_unit_test(arm__leaves_nothing_untold),
    cmocka_unit_test(wait__ends_with_the_daemon_and_comes_back_with_the_next),
    cmocka_unit_test(sleepers__lose_no_wake),
};
static const unit::Group group{"port_wait", cases};
