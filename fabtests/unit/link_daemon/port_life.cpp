// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Daemons go, and others come.
#include "unit/link_daemon/harness.h"

#include <cerrno>

using namespace link_daemon;

static void daemon__that_goes_is_succeeded(void **) {
  Scene scene;
  const PathId up = scene.open_up();
  PathId opening;
  assert_int_equal(scene.port->open_path(peer(3), opening), 0);
  scene.port->note_session(up, 1, 2);
  const PathId closed = scene.open_up(peer(4));
  scene.port->close_path(closed);
  scene.kill();
  assert_true(scene.events().empty()); // nobody need know
  assert_false(scene.send(up, "into the void"));
  PathId later;
  assert_int_equal(scene.port->open_path(peer(5), later), 0);
  scene.revive();
  assert_true(scene.events().empty());
  scene.port->flush();
  const std::vector<Record> told = scene.end.all();
  std::size_t opens = 0, sessions = 0;
  for (const Record &record : told) {
    opens += record.kind() == RecordKind::open;
    sessions += record.kind() == RecordKind::session;
    if (record.kind() == RecordKind::session)
      assert_int_equal(record.as<SessionOfPath>().local, 1);
    else
      scene.end.event(record.header.path, record.header.generation, PathEventKind::up);
  }
  assert_int_equal(opens, 3);
  assert_int_equal(sessions, 1);
  assert_int_equal(told.size(), 4);
  assert_true(scene.poll().empty());
  // The one that was up is no news.
  const std::vector<PathEvent> events = scene.events();
  assert_int_equal(events.size(), 2);
  for (const PathEvent &event : events)
    assert_true(event.kind == PathEventKind::up && event.path != up);
  for (const PathId id : {up, opening, later}) {
    assert_true(scene.send(id, "on"));
    scene.end.expect(RecordKind::data);
  }
}

static void daemon__that_came_many_times_is_as_the_first(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  for (int i = 0; i < 50; ++i) {
    scene.kill();
    scene.revive();
    scene.events();
    const std::uint16_t g = scene.end.expect(RecordKind::open).header.generation;
    scene.end.event(static_cast<std::uint32_t>(id), g, PathEventKind::up);
    assert_true(scene.end.give(RecordKind::data, static_cast<std::uint32_t>(id), g, "in"));
    assert_int_equal(scene.poll().size(), 1);
    assert_true(scene.send(id, "out"));
    assert_string_equal(scene.end.expect(RecordKind::data).text().c_str(), "out");
  }
}

// It may have acknowledged them.
static void ring__of_a_dead_daemon_is_read_to_its_end(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  const auto number = static_cast<std::uint32_t>(id);
  for (int i = 0; i < 20; ++i)
    assert_true(scene.end.give(RecordKind::data, number, scene.generation(id), std::to_string(i)));
  scene.kill();
  scene.daemon.emplace(scene.name);
  for (int i = 0; i < 5; ++i)
    assert_true(scene.events().empty());
  assert_false(scene.daemon->has_guest());
  RxDatagram got[20];
  assert_int_equal(scene.port->poll(got, 20), 20);
  scene.events();
  assert_false(scene.daemon->has_guest()); // they are still being looked at
  for (int i = 0; i < 20; ++i)
    assert_true(std::string(reinterpret_cast<const char *>(got[i].data), got[i].len) ==
                std::to_string(i));
  scene.port->release(got, 20);
  for (int i = 0; i < 10 && !scene.daemon->has_guest(); ++i)
    scene.events();
  scene.end = scene.daemon->attach();
  scene.events();
  scene.end.expect(RecordKind::open);
}

// What had been read before the fault was noticed lies in the old ring until it is released.
static void ring__that_is_corrupt_stays_until_its_datagrams_are_released(void **) {
  const LogCapture log;
  Scene scene;
  const PathId id = scene.open_up();
  assert_true(scene.end.give(RecordKind::data, static_cast<std::uint32_t>(id), scene.generation(id),
                             "whole"));
  // A word that no producer would write, where the next record begins.
  const host::RingMemory ring = scene.end.channel.segment.ring(host::End::opener);
  const std::uint64_t position = scene.end.channel.tx.position();
  auto *const word = reinterpret_cast<std::uint64_t *>(ring.bytes + (position & (ring.size - 1)));
  host::store_release(word, ~std::uint64_t{0});
  RxDatagram got[4];
  assert_int_equal(scene.port->poll(got, 4), 1);
  scene.daemon.reset();
  scene.daemon.emplace(scene.name);
  for (int i = 0; i < 3; ++i)
    scene.events();
  if (scene.daemon->has_guest()) {
    scene.end = scene.daemon->attach();
    scene.events();
  }
  assert_int_equal(log.count("has written over a ring"), 1);
  assert_memory_equal(got[0].data, "whole", 5);
  scene.port->release(got, 1);
  assert_int_equal(scene.port->poll(got, 4), 0);
  if (!scene.port->reserve(id, 1).data)
    scene.revive();
}

static void head__that_no_daemon_would_write_ends_the_attachment(void **) {
  const LogCapture log;
  Scene scene;
  const PathId id = scene.open_up();
  *scene.end.channel.segment.ring(host::End::acceptor).head += 1u << 20;
  int sent = 0;
  while (scene.send(id, std::string(1400, 'x')))
    ++sent;
  assert_true(sent < 100);
  assert_int_equal(log.count("has written over the head of a ring"), 1);
  scene.end.channel.socket.reset();
  scene.daemon.reset();
  scene.revive();
  scene.events();
  scene.end.expect(RecordKind::open);
}

// One that is no better each time it comes back.
static void daemon__that_writes_nonsense_again_is_complained_of_once(void **) {
  const LogCapture log;
  Scene scene;
  const PathId id = scene.open_up();
  for (int i = 0; i < 5; ++i) {
    assert_true(scene.end.give(RecordKind{99}, 0, 0, "nonsense"));
    assert_true(scene.poll().empty());
    scene.daemon.reset();
    scene.revive();
    scene.events();
  }
  assert_int_equal(log.count("is lost to"), 1);
  scene.end.expect(RecordKind::open);
  assert_true(scene.send(id, "on"));
}

static void path__that_was_up_and_fails_is_opened_again(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  const auto number = static_cast<std::uint32_t>(id);
  scene.port->note_session(id, 7, 8);
  scene.port->flush();
  scene.end.expect(RecordKind::session);
  for (int i = 0; i < 3; ++i)
    scene.end.event(number, scene.generation(id), PathEventKind::failed, -EHOSTUNREACH);
  assert_true(scene.poll().empty());
  std::vector<Record> told;
  for (int i = 0; i < 2000 && told.empty(); ++i) {
    assert_true(scene.events().empty()); // its session finds out whether the peer is gone
    told = scene.end.all();
  }
  // The daemon has forgotten the session with the path.
  assert_int_equal(told.size(), 2);
  assert_true(told[0].kind() == RecordKind::open);
  assert_true(told[1].kind() == RecordKind::session);
  assert_int_equal(told[1].as<SessionOfPath>().peer, 8);
}

static void path__opens_in_vain_while_there_is_no_daemon(void **) {
  Scene scene;
  scene.kill();
  scene.events();
  PathId id;
  assert_int_equal(scene.port->open_path(peer(), id), 0);
  std::vector<PathEvent> events;
  for (int i = 0; i < 4000; ++i) { // eight seconds
    events = scene.events();
    assert_true(events.empty());
  }
  for (int i = 0; i < 2000 && events.empty(); ++i)
    events = scene.events();
  assert_int_equal(events.size(), 1);
  assert_true(events[0].kind == PathEventKind::failed);
  assert_int_equal(events[0].error, -EHOSTUNREACH);
  scene.port->close_path(id);
}

static void successor__that_refuses_is_asked_again(void **) {
  const LogCapture log;
  Scene scene;
  const PathId id = scene.open_up();
  scene.kill();
  scene.daemon.emplace(scene.name);
  for (int i = 0; i < 1000 && !scene.daemon->has_guest(); ++i)
    scene.events();
  scene.daemon->refuse(-EADDRINUSE, "taken");
  for (int i = 0; i < 1000 && !scene.daemon->has_guest(); ++i)
    scene.events();
  { // One that closes without a word, one that answers nonsense.
    host::Fd socket, memory;
    Request request;
    scene.daemon->hear(socket, request, memory);
  }
  for (int i = 0; i < 1000 && !scene.daemon->has_guest(); ++i)
    scene.events();
  {
    host::Fd socket, memory;
    Request request;
    scene.daemon->hear(socket, request, memory);
    assert_int_equal(::send(socket.get(), "x", 1, MSG_NOSIGNAL), 1);
  }
  // And one that is silent.
  for (int i = 0; i < 1000 && !scene.daemon->has_guest(); ++i)
    scene.events();
  host::Fd silent, memory;
  Request request;
  scene.daemon->hear(silent, request, memory);
  for (int i = 0; i < 4000 && !scene.daemon->has_guest(); ++i)
    scene.events();
  scene.end = scene.daemon->attach();
  scene.events();
  scene.end.expect(RecordKind::open);
  assert_true(scene.send(id, "on"));
  assert_int_equal(log.count("can't attach again"), 1);
}

// Sessions have made their packets as large as the first one's device took them.
static void successor__with_smaller_datagrams_is_no_successor(void **) {
  const LogCapture log;
  Scene scene;
  const PathId id = scene.open_up();
  scene.kill();
  scene.revive(1000);
  scene.events();
  assert_false(scene.end.next().has_value());
  assert_false(scene.send(id, "x"));
  scene.revive(9000);
  scene.events();
  scene.end.expect(RecordKind::open);
  assert_true(scene.send(id, std::string(1472, 'x')));
}

static void port__that_ends_leaves_what_it_sent(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  const TxRoom room = scene.port->reserve(id, 4);
  std::memcpy(room.data, "last", 4);
  scene.port->commit(id, room, 4);
  scene.port.reset();
  assert_string_equal(scene.end.expect(RecordKind::data).text().c_str(), "last");
  host::Welcome unused;
  host::Note note;
  while ((note = host::receive_note(scene.end.channel.socket, unused)) == host::Note::wake) {
  }
  assert_true(note == host::Note::closed);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(daemon__that_goes_is_succeeded),
    cmocka_unit_test(daemon__that_came_many_times_is_as_the_first),
    cmocka_unit_test(ring__of_a_dead_daemon_is_read_to_its_end),
    cmocka_unit_test(ring__that_is_corrupt_stays_until_its_datagrams_are_released),
    cmocka_unit_test(head__that_no_daemon_would_write_ends_the_attachment),
    cmocka_unit_test(daemon__that_writes_nonsense_again_is_complained_of_once),
    cmocka_unit_test(path__that_was_up_and_fails_is_opened_again),
    cmocka_unit_test(path__opens_in_vain_while_there_is_no_daemon),
    cmocka_unit_test(successor__that_refuses_is_asked_again),
    cmocka_unit_test(successor__with_smaller_datagrams_is_no_successor),
    cmocka_unit_test(port__that_ends_leaves_what_it_sent),
};
static const unit::Group group{"port_life", cases};
