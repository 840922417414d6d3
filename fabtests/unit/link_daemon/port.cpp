// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Datagrams and paths, while one daemon lives.
#include "dpdkx/link/daemon/port.h"

#include "unit/link_daemon/harness.h"

#include <cerrno>

using namespace link_daemon;

static void port__is_where_it_asked_to_be(void **) {
  const Scene scene;
  assert_string_equal(to_string(scene.port->address()).c_str(), "10.1.0.1:4000");
  assert_string_equal(text_of(scene.end.request.device).c_str(), "net0");
  assert_int_equal(scene.end.request.port, 4000);
  assert_int_equal(scene.end.request.has_dscp, 0);
  const Traits &traits = scene.port->traits();
  assert_false(traits.lossless || traits.ordered || traits.can_pull);
  assert_true(traits.checksum);
  assert_int_equal(traits.max_datagram, 1472);
}

static void port__takes_the_next_number_where_one_is_taken(void **) {
  const std::string name = fresh_name();
  FakeDaemon daemon(name);
  DaemonDevice device({.socket = name, .ring_bytes = 64 * 1024}, link_daemon::device_info());
  std::unique_ptr<Port> port;
  std::string error;
  Attached end;
  const PortOptions options{.first = 5000, .last = 5002, .dscp = 46};
  assert_int_equal(open_port(device, {}, options, port, error,
                             [&] {
                               daemon.refuse(-EADDRINUSE, "taken");
                               daemon.refuse(-EADDRINUSE, "taken");
                               end = daemon.attach();
                             }),
                   0);
  assert_int_equal(port->address().port, 5002);
  assert_int_equal(end.request.has_dscp, 1);
  assert_int_equal(end.request.dscp, 46);
  std::unique_ptr<Port> none;
  assert_int_equal(open_port(device, {}, options, none, error,
                             [&] {
                               for (int i = 0; i < 3; ++i)
                                 daemon.refuse(-EADDRINUSE, "taken");
                             }),
                   -EADDRINUSE);
  assert_null(none.get());
  assert_int_equal(open_port(device, {}, options, none, error,
                             [&] { daemon.refuse(-EUSERS, "max-ranks is 1"); }),
                   -EUSERS);
  assert_true(error.find("max-ranks is 1") != std::string::npos);
  assert_int_equal(device.open_port(Address::v4(0x0a010009, 1), options, none, error),
                   -EADDRNOTAVAIL);
}

static void path__is_up_when_the_daemon_says_so(void **) {
  Scene scene;
  PathId id;
  assert_int_equal(scene.port->open_path(peer(), id), 0);
  assert_false(scene.send(id, "early"));
  scene.port->flush();
  const Record open = scene.end.expect(RecordKind::open);
  assert_true(origin_of(open.as<WireOrigin>()).source == peer());
  scene.end.event(static_cast<std::uint32_t>(id), open.header.generation, PathEventKind::up);
  assert_true(scene.poll().empty());
  const std::vector<PathEvent> events = scene.events();
  assert_int_equal(events.size(), 1);
  assert_true(events[0].kind == PathEventKind::up);
  assert_true(scene.send(id, "hello"));
  const Record data = scene.end.expect(RecordKind::data);
  assert_int_equal(data.header.path, static_cast<std::uint32_t>(id));
  assert_int_equal(data.header.generation, open.header.generation);
  assert_string_equal(data.text().c_str(), "hello");
  const PortCounters counters = scene.port->counters();
  assert_int_equal(counters.tx_datagrams, 1);
  assert_int_equal(counters.tx_bytes, 5);
  assert_int_equal(counters.tx_refused, 1);
}

static void path__that_fails_says_why_once(void **) {
  Scene scene;
  PathId id;
  assert_int_equal(scene.port->open_path(peer(), id), 0);
  const std::uint16_t g = scene.end.expect(RecordKind::open).header.generation;
  const auto number = static_cast<std::uint32_t>(id);
  scene.end.event(number, g, PathEventKind::failed, -ECONNREFUSED);
  scene.end.event(number, g, PathEventKind::failed, -EHOSTUNREACH);
  scene.end.event(number, g, PathEventKind::up); // it has failed: nobody is to think otherwise
  assert_true(scene.poll().empty());
  const std::vector<PathEvent> events = scene.events();
  assert_int_equal(events.size(), 1);
  assert_true(events[0].kind == PathEventKind::failed);
  assert_int_equal(events[0].error, -ECONNREFUSED);
  assert_false(scene.send(id, "x"));
  scene.port->close_path(id);
}

static void path__to_where_none_can_be_is_refused(void **) {
  Scene scene;
  PathId id;
  assert_int_equal(scene.port->open_path(Address::v4(0x0a010002, 0), id), -EINVAL);
  assert_int_equal(scene.port->open_path(Address::v4(0, 4000), id), -EINVAL);
  Address v6;
  v6.ip[0] = 0xfd;
  v6.ip[15] = 1;
  v6.port = 4000;
  assert_int_equal(scene.port->open_path(v6, id), -EHOSTUNREACH);
  assert_false(scene.end.next().has_value());
}

// A number that is used again: what was on its way for the old path is none of the new one's.
static void path__has_no_part_in_what_was_its_numbers(void **) {
  Scene scene;
  const PathId old = scene.open_up();
  const std::uint16_t old_generation = scene.generation(old);
  const auto number = static_cast<std::uint32_t>(old);
  assert_true(scene.end.give(RecordKind::data, number, old_generation, "old"));
  scene.end.event(number, old_generation, PathEventKind::failed, -EHOSTUNREACH);
  scene.port->close_path(old);
  PathId fresh;
  assert_int_equal(scene.port->open_path(peer(3), fresh), 0);
  assert_true(fresh == old);
  assert_true(scene.poll().empty());
  assert_true(scene.events().empty());
  const Record close = scene.end.expect(RecordKind::close);
  assert_int_equal(close.header.generation, old_generation);
  const Record open = scene.end.expect(RecordKind::open);
  assert_int_not_equal(open.header.generation, old_generation);
  assert_true(scene.end.give(RecordKind::data, number, old_generation, "late"));
  assert_true(scene.end.give(RecordKind::data, number, open.header.generation, "new"));
  const std::vector<std::string> got = scene.poll();
  assert_int_equal(got.size(), 1);
  assert_string_equal(got[0].c_str(), "new");
  assert_int_equal(scene.port->counters().rx_dropped, 2);
}

static void events__of_a_closed_path_are_forgotten(void **) {
  Scene scene;
  PathId id;
  assert_int_equal(scene.port->open_path(peer(), id), 0);
  const std::uint16_t g = scene.end.expect(RecordKind::open).header.generation;
  scene.end.event(static_cast<std::uint32_t>(id), g, PathEventKind::up);
  assert_true(scene.poll().empty());
  scene.port->close_path(id);
  assert_true(scene.events().empty());
}

static void session__is_told_with_its_tokens(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  scene.port->note_session(id, 11, 22);
  scene.port->flush();
  const Record record = scene.end.expect(RecordKind::session);
  const auto tokens = record.as<SessionOfPath>();
  assert_int_equal(tokens.local, 11);
  assert_int_equal(tokens.peer, 22);
  assert_int_equal(record.header.generation, scene.generation(id));
}

// Returns how many datagrams that took.
static std::size_t fill_ring(Scene &scene, PathId id) {
  std::size_t sent = 0;
  while (scene.send(id, std::string(1400, 'x')))
    ++sent;
  while (scene.send(id, "x"))
    ++sent;
  return sent;
}

static void notice__waits_for_room_and_data_go_behind_it(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  const std::size_t sent = fill_ring(scene, id);
  PathId second, third;
  assert_int_equal(scene.port->open_path(peer(3), second), 0);
  assert_int_equal(scene.port->open_path(peer(4), third), 0);
  scene.port->close_path(second); // its open has become pointless
  scene.port->note_session(id, 5, 6);
  std::vector<Record> got = scene.end.all();
  assert_int_equal(got.size(), sent);
  assert_true(scene.send(id, "behind"));
  got = scene.end.all();
  assert_int_equal(got.size(), 4);
  assert_true(got[0].kind() == RecordKind::open);
  assert_int_equal(got[0].header.path, static_cast<std::uint32_t>(third));
  assert_true(got[1].kind() == RecordKind::close);
  assert_true(got[2].kind() == RecordKind::session);
  assert_string_equal(got[3].text().c_str(), "behind");
}

static void notice__leaves_with_the_next_poll(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  fill_ring(scene, id);
  PathId second;
  assert_int_equal(scene.port->open_path(peer(3), second), 0);
  scene.end.all();
  assert_true(scene.poll().empty());
  assert_int_equal(scene.end.expect(RecordKind::open).header.path,
                   static_cast<std::uint32_t>(second));
}

static void stranger__can_be_answered_now_and_later(void **) {
  Scene scene;
  const Origin from{peer(9), {1, 2, 3, 4, 5, 6}};
  assert_true(scene.end.stranger(from, "who is there"));
  RxDatagram got;
  assert_int_equal(scene.port->poll(&got, 1), 1);
  assert_true(got.path == PathId::none);
  assert_int_equal(got.len, 12);
  assert_true(scene.port->source(got) == peer(9));
  Origin origin;
  assert_true(scene.port->origin(got, origin));
  assert_true(origin.hop == from.hop);
  const char answer[] = "I am";
  scene.port->reply(got, std::as_bytes(std::span(answer, 4)));
  scene.port->release(&got, 1);
  assert_true(scene.port->reply_to(origin, std::as_bytes(std::span(answer, 1))));
  const Record first = scene.end.expect(RecordKind::reply);
  assert_true(origin_of(first.as<WireOrigin>()).hop == from.hop);
  assert_int_equal(first.body.size(), sizeof(WireOrigin) + 4);
  assert_int_equal(scene.end.expect(RecordKind::reply).body.size(), sizeof(WireOrigin) + 1);
  const std::vector<std::byte> large(1473);
  assert_false(scene.port->reply_to(origin, large));
}

static void reply__on_a_path_goes_by_it(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  assert_true(scene.end.give(RecordKind::data, static_cast<std::uint32_t>(id), scene.generation(id),
                             "hello"));
  RxDatagram got;
  assert_int_equal(scene.port->poll(&got, 1), 1);
  assert_true(scene.port->source(got) == peer());
  Origin unused;
  assert_false(scene.port->origin(got, unused));
  scene.port->reply(got, std::as_bytes(std::span("yes", 3)));
  scene.port->release(&got, 1);
  assert_string_equal(scene.end.expect(RecordKind::data).text().c_str(), "yes");
}

static void datagram__that_is_too_large_finds_no_room(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  assert_true(scene.send(id, std::string(1472, 'x')));
  assert_false(scene.send(id, std::string(1473, 'x')));
}

// What was on its way for a path that has been closed.
static void record__of_no_path_is_dropped(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  const auto number = static_cast<std::uint32_t>(id);
  const std::uint16_t g = scene.generation(id);
  assert_true(scene.end.give(RecordKind::data, number + 1, g, "x"));
  assert_true(scene.end.give(RecordKind::data, UINT32_MAX, g, "x"));
  assert_true(scene.end.give(RecordKind::data, number, g + 1, "x"));
  assert_int_equal(scene.port->counters().rx_dropped, 0);
  assert_true(scene.poll().empty());
  assert_int_equal(scene.port->counters().rx_dropped, 3);
  scene.end.event(number + 1, g, PathEventKind::failed, -EIO);
  scene.end.event(number, g + 1, PathEventKind::failed, -EIO);
  assert_true(scene.poll().empty());
  assert_true(scene.events().empty());
  assert_true(scene.send(id, "still up"));
}

namespace {

// What is complained of when a daemon has written a record, and a good one behind it; the port
// believes neither.
std::size_t complaints_about(const std::function<void(Scene &, std::uint32_t path)> &write,
                             std::string_view text) {
  const LogCapture log;
  Scene scene;
  const PathId id = scene.open_up();
  write(scene, static_cast<std::uint32_t>(id));
  assert_true(scene.end.give(RecordKind::data, static_cast<std::uint32_t>(id), scene.generation(id),
                             "behind"));
  assert_true(scene.poll().empty());
  assert_true(scene.events().empty());
  assert_false(scene.send(id, "to a daemon of which nothing is known"));
  scene.revive(); // and its path is opened with the next one
  scene.events();
  scene.end.expect(RecordKind::open);
  return log.count(text);
}

void write_bare(Scene &scene, std::uint32_t len) {
  std::byte *const at = scene.end.channel.tx.reserve(len);
  assert_non_null(at);
  std::memset(at, 0xff, len);
  scene.end.channel.tx.commit(len);
}

} // namespace

static void record__that_no_daemon_writes_ends_the_attachment(void **) {
  for (const std::uint32_t len : {0u, 7u})
    assert_int_equal(
        complaints_about([len](Scene &scene, std::uint32_t) { write_bare(scene, len); },
                         "it has written a record without a header"),
        1);
  assert_int_equal(complaints_about([](Scene &scene, std::uint32_t) { write_bare(scene, 8); },
                                    "it has written a record of a kind that there isn't"),
                   1);
  for (const int kind : {0, 3, 4, 5, 6, 8, 255})
    assert_int_equal(complaints_about(
                         [kind](Scene &scene, std::uint32_t path) {
                           assert_true(scene.end.give(static_cast<RecordKind>(kind), path,
                                                      scene.generation(PathId{path}), "x"));
                         },
                         "it has written a record of a kind that there isn't"),
                     1);
  assert_int_equal(complaints_about(
                       [](Scene &scene, std::uint32_t path) {
                         assert_true(scene.end.give(RecordKind::stranger, path, 0, "short"));
                       },
                       "it has written a datagram without its origin"),
                   1);
  assert_int_equal(complaints_about(
                       [](Scene &scene, std::uint32_t path) {
                         assert_true(scene.end.give(RecordKind::event, path,
                                                    scene.generation(PathId{path}), "short"));
                       },
                       "it has written an event that isn't whole"),
                   1);
  for (const std::uint32_t kind : {0u, 3u, 4u, 255u, UINT32_MAX})
    assert_int_equal(complaints_about(
                         [kind](Scene &scene, std::uint32_t path) {
                           scene.end.event(path, scene.generation(PathId{path}),
                                           static_cast<PathEventKind>(kind), 7);
                         },
                         "it has written an event of a kind that there isn't"),
                     1);
}

// Who gets it makes an errno of it.
static void event__has_an_error_that_is_one(void **) {
  Scene scene;
  for (const int error : {0, 7, -4096, INT32_MIN}) {
    PathId id;
    assert_int_equal(scene.port->open_path(peer(), id), 0);
    scene.port->flush();
    const std::uint16_t g = scene.end.expect(RecordKind::open).header.generation;
    scene.end.event(static_cast<std::uint32_t>(id), g, PathEventKind::failed, error);
    assert_true(scene.poll().empty());
    const std::vector<PathEvent> got = scene.events();
    assert_int_equal(got.size(), 1);
    assert_int_equal(got[0].error, -EHOSTUNREACH);
    scene.port->close_path(id);
    scene.port->flush();
    scene.end.expect(RecordKind::close);
  }
}

static void port__of_a_daemon_that_tells_nonsense_isnt_opened(void **) {
  for (const std::uint32_t max_datagram : {0u, 100u, 65536u, UINT32_MAX}) {
    const std::string name = fresh_name();
    FakeDaemon daemon(name);
    DaemonDevice device({.socket = name, .ring_bytes = 64 * 1024}, link_daemon::device_info());
    std::unique_ptr<Port> port;
    std::string error;
    Attached end;
    assert_int_equal(open_port(device, Address::v4(0, 4000), {}, port, error,
                               [&] { end = daemon.attach(max_datagram); }),
                     -EPROTO);
    assert_null(port.get());
    assert_string_equal(error.c_str(), ("dpdkxd at " + name +
                                        " says datagrams of a length that "
                                        "can't be; allowed: 548 to 9950 bytes")
                                           .c_str());
  }
}

static void child__can_call_an_inherited_port_in_vain(void **) {
  Scene scene;
  const PathId id = scene.open_up();
  assert_true(succeeded(in_child([&] {
    RxDatagram got;
    PathEvent event;
    PathId unused;
    Port &port = *scene.port;
    const bool in_vain = port.poll(&got, 1) == 0 && port.reserve(id, 8).data == nullptr &&
                         port.open_path(peer(3), unused) == -ECHILD &&
                         port.poll_events(&event, 1, scene.now + 1s) == 0 && port.arm() &&
                         port.wait_fd() == -1 && !port.reply_to({peer(), {}}, {});
    port.flush();
    port.note_session(id, 1, 2);
    port.release(&got, 0);
    port.disarm();
    port.close_path(id);
    scene.port.reset();
    return in_vain;
  })));
  assert_false(scene.end.next().has_value());
  assert_true(scene.send(id, "the parent's"));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(port__is_where_it_asked_to_be),
    cmocka_unit_test(port__takes_the_next_number_where_one_is_taken),
    cmocka_unit_test(path__is_up_when_the_daemon_says_so),
    cmocka_unit_test(path__that_fails_says_why_once),
    cmocka_unit_test(path__to_where_none_can_be_is_refused),
    cmocka_unit_test(path__has_no_part_in_what_was_its_numbers),
    cmocka_unit_test(events__of_a_closed_path_are_forgotten),
    cmocka_unit_test(session__is_told_with_its_tokens),
    cmocka_unit_test(notice__waits_for_room_and_data_go_behind_it),
    cmocka_unit_test(notice__leaves_with_the_next_poll),
    cmocka_unit_test(stranger__can_be_answered_now_and_later),
    cmocka_unit_test(reply__on_a_path_goes_by_it),
    cmocka_unit_test(datagram__that_is_too_large_finds_no_room),
    cmocka_unit_test(record__of_no_path_is_dropped),
    cmocka_unit_test(record__that_no_daemon_writes_ends_the_attachment),
    cmocka_unit_test(event__has_an_error_that_is_one),
    cmocka_unit_test(port__of_a_daemon_that_tells_nonsense_isnt_opened),
    cmocka_unit_test(child__can_call_an_inherited_port_in_vain),
};
static const unit::Group group{"port", cases};
