// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/attachment.h"

#include "unit/daemon/fakes.h"

using namespace daemon_test;

namespace {

// A rank that is attached to a port.
struct Scene {
  explicit Scene(std::uint32_t ring_bytes = 64 * 1024, std::uint64_t start = 0)
      : rank(ring_bytes, 4000, start) {
    auto sockets = socket_pair();
    rank.channel.socket = std::move(sockets.first);
    link::host::Segment segment;
    assert_int_equal(link::host::Segment::attach(rank.memory, ring_bytes, segment), 0);
    auto made = std::make_unique<FakePort>(Address::v4(0x0a010001, 4000));
    port = made.get();
    attachment = std::make_unique<daemon::Attachment>(
        daemon::Config{}, std::move(segment), std::move(sockets.second), link::host::Fd{},
        link::host::Peer{1, 1000}, rank.request, std::move(made), now);
  }

  Rank rank;
  FakePort *port;
  Time now{1h};
  std::unique_ptr<daemon::Attachment> attachment;

  bool turn() {
    now += 1us;
    const bool did = attachment->turn(now);
    assert_int_equal(port->unflushed, 0);
    return did;
  }
  // Until nothing moves any more.
  void settle() {
    for (int i = 0; i < 10'000 && turn(); ++i) {
    }
  }
  link::PathId open_up(std::uint32_t path = 0, std::uint16_t generation = 0,
                       const Address &to = peer(2)) {
    assert_true(rank.open(path, generation, to));
    settle();
    const std::optional<Record> up = rank.next();
    assert_true(up && up->kind() == RecordKind::event);
    assert_int_equal(up->as<WireEvent>().kind, static_cast<std::uint32_t>(link::PathEventKind::up));
    return link::PathId{port->next_path - 1};
  }
  daemon::RankStatus status() { return attachment->status(now); }
};

bool detached_by(std::string_view record) {
  Scene scene;
  scene.open_up();
  assert_true(scene.rank.raw(record));
  assert_true(scene.rank.data(0, 0, "behind"));
  scene.settle();
  // What comes behind it is no longer looked at.
  assert_int_equal(scene.port->sent.size(), scene.attachment->broken() ? 0 : 1);
  return scene.attachment->broken();
}

std::string record(int kind, std::string_view body, std::uint32_t path = 0,
                   std::uint16_t generation = 0) {
  return bytes_of(RecordHeader{static_cast<std::uint8_t>(kind), 0, generation, path}) +
         std::string(body);
}

} // namespace

static void datagrams__go_both_ways(void **) {
  for (const std::uint64_t start : {std::uint64_t{0}, std::uint64_t{4032}, ~std::uint64_t{63}}) {
    Scene scene(64 * 1024, start);
    const link::PathId id = scene.open_up(5, 3);
    assert_true(scene.port->peer_address(id) == peer(2));
    assert_true(scene.rank.data(5, 3, "out"));
    scene.port->arrivals.push_back({id, {}, "in"});
    assert_true(scene.turn());
    assert_int_equal(scene.port->sent.size(), 1);
    assert_true(scene.port->sent[0].path == id);
    assert_string_equal(scene.port->sent[0].text.c_str(), "out");
    const std::optional<Record> in = scene.rank.next();
    assert_true(in && in->kind() == RecordKind::data);
    assert_int_equal(in->header.path, 5);
    assert_int_equal(in->header.generation, 3);
    assert_string_equal(in->text().c_str(), "in");
    const daemon::RankStatus status = scene.status();
    assert_int_equal(status.to_network.packets, 1);
    assert_int_equal(status.to_network.bytes, 3);
    assert_int_equal(status.to_rank.bytes, 2);
    assert_int_equal(status.paths, 1);
    assert_int_equal(status.ring_used, 0);
  }
}

static void stranger__is_told_with_its_origin_and_answered(void **) {
  Scene scene;
  const link::Origin origin{peer(9), {1, 2, 3, 4, 5, 6}};
  scene.port->arrivals.push_back({link::PathId::none, origin, "hello"});
  scene.port->arrivals.push_back({link::PathId{7}, origin, "of no path of the rank's"});
  scene.settle();
  std::vector<Record> got = scene.rank.all();
  assert_int_equal(got.size(), 2);
  assert_true(got[0].kind() == RecordKind::stranger && got[1].kind() == RecordKind::stranger);
  const auto from = got[0].as<WireOrigin>();
  assert_true(link::daemon::origin_of(from).source == peer(9));
  assert_true(scene.rank.write(RecordKind::reply, UINT32_MAX, 0, bytes_of(from) + "welcome"));
  scene.settle();
  assert_int_equal(scene.port->replies.size(), 1);
  assert_true(scene.port->replies[0].first.hop == origin.hop);
  assert_string_equal(scene.port->replies[0].second.c_str(), "welcome");
}

static void path__that_fails_is_told_and_closed(void **) {
  Scene scene;
  scene.port->open_result = -EHOSTUNREACH;
  assert_true(scene.rank.open(0, 1, peer(2)));
  scene.settle();
  std::optional<Record> event = scene.rank.next();
  assert_true(event && event->header.generation == 1);
  assert_int_equal(event->as<WireEvent>().error, -EHOSTUNREACH);
  scene.port->open_result = 0;
  const link::PathId id = scene.open_up(0, 2);
  scene.port->events.push_back({link::PathEventKind::failed, id, -EHOSTUNREACH});
  scene.settle();
  event = scene.rank.next();
  assert_true(event && event->header.generation == 2);
  assert_true(scene.port->paths.empty());
  assert_int_equal(scene.status().paths, 0);
  assert_true(scene.rank.data(0, 2, "x"));
  assert_true(scene.rank.write(RecordKind::close, 0, 2, ""));
  scene.settle();
  assert_false(scene.attachment->broken());
  scene.open_up(0, 2); // again
}

static void path__has_no_part_in_what_was_its_numbers(void **) {
  Scene scene;
  const link::PathId old = scene.open_up(0, 0);
  assert_true(scene.rank.open(0, 1, peer(3))); // without a close, which is as good
  assert_true(scene.rank.data(0, 0, "late"));
  assert_true(scene.rank.write(RecordKind::close, 0, 0, ""));
  scene.port->arrivals.push_back({old, {peer(2), {}}, "from the old peer"});
  scene.settle();
  assert_true(scene.rank.data(0, 1, "new"));
  scene.settle();
  assert_int_equal(scene.port->sent.size(), 1);
  assert_string_equal(scene.port->sent[0].text.c_str(), "new");
  assert_int_equal(scene.port->paths.size(), 1);
  for (const Record &got : scene.rank.all())
    assert_true(got.kind() != RecordKind::data || got.header.generation != 1);
}

static void record__that_no_rank_writes_detaches_it(void **) {
  const std::string origin = bytes_of(WireOrigin{});
  assert_true(detached_by(""));
  assert_true(detached_by(std::string(7, 'x')));
  for (const int kind : {0, 2, 7, 8, 255})
    assert_true(detached_by(record(kind, "x")));
  assert_true(detached_by(record(1, std::string(1473, 'x'))));
  assert_true(detached_by(record(4, origin.substr(1))));
  assert_true(detached_by(record(4, origin, daemon::Attachment::max_paths)));
  assert_true(detached_by(record(4, origin, UINT32_MAX)));
  assert_true(detached_by(record(6, std::string(15, 'x'))));
  assert_true(detached_by(record(3, origin.substr(1))));
  assert_true(detached_by(record(3, origin + std::string(1473, 'x'))));
  // These are late, or for nothing.
  assert_false(detached_by(record(1, "x", 1)));
  assert_false(detached_by(record(1, "x", 0, 1)));
  assert_false(detached_by(record(1, "x", UINT32_MAX)));
  assert_false(detached_by(record(5, "", 77)));
  assert_false(detached_by(record(6, "", 77)));
}

static void ring__that_no_rank_would_leave_so_detaches_it(void **) {
  {
    Scene scene;
    const link::host::RingMemory ring = scene.rank.channel.segment.ring(link::host::End::acceptor);
    for (const std::uint64_t word :
         {~std::uint64_t{0}, std::uint64_t{1} << 32 | 1, std::uint64_t{70'000}}) {
      Scene fresh;
      const link::host::RingMemory memory =
          fresh.rank.channel.segment.ring(link::host::End::acceptor);
      link::host::store_release(reinterpret_cast<std::uint64_t *>(memory.bytes), word);
      fresh.settle();
      assert_true(fresh.attachment->broken());
    }
    (void)ring;
  }
  for (const std::uint64_t head : {std::uint64_t{0} - 4096, std::uint64_t{1} << 40}) {
    Scene scene;
    const link::PathId id = scene.open_up();
    *scene.rank.channel.segment.ring(link::host::End::opener).head += head;
    for (int i = 0; i < 100; ++i)
      scene.port->arrivals.push_back({id, {}, std::string(1400, 'x')});
    scene.settle();
    assert_true(scene.attachment->broken());
    assert_true(scene.status().ring_used <= 64 * 1024);
  }
}

static void device__without_room_loses_and_reorders_nothing(void **) {
  Scene scene;
  scene.open_up();
  int written = 0, turns = 0;
  for (; turns < 2000 && scene.port->sent.size() < 500; ++turns) {
    scene.port->room = turns % 3 == 0 ? turns % 7 : 0;
    while (written < 500 && scene.rank.data(0, 0, std::to_string(written)))
      ++written;
    scene.turn();
  }
  assert_int_equal(scene.port->sent.size(), 500);
  for (int i = 0; i < 500; ++i)
    assert_string_equal(scene.port->sent[static_cast<std::size_t>(i)].text.c_str(),
                        std::to_string(i).c_str());
  assert_true(scene.status().send_refused > 0);
}

static void rank__has_its_turn_and_no_more(void **) {
  Scene scene;
  const link::PathId id = scene.open_up();
  for (int i = 0; i < 1000; ++i) {
    scene.rank.data(0, 0, "x");
    scene.port->arrivals.push_back({id, {}, "x"});
  }
  scene.turn();
  assert_true(!scene.port->sent.empty() && scene.port->sent.size() <= 64);
  assert_true(scene.port->arrivals.size() >= 1000 - daemon::Attachment::datagrams_a_turn);
}

static void ring__that_is_full_drops_and_counts(void **) {
  Scene scene;
  const link::PathId id = scene.open_up();
  for (int i = 0; i < 200; ++i)
    scene.port->arrivals.push_back({id, {}, std::to_string(i) + std::string(1400, 'x')});
  scene.settle();
  const std::uint64_t dropped = scene.status().dropped_no_room;
  std::vector<Record> got = scene.rank.all();
  assert_int_equal(got.size() + dropped, 200);
  assert_true(dropped > 0 && got.size() > 30);
  assert_true(scene.status().ring_used == 0);
  scene.port->arrivals.push_back({id, {}, "there is room again"});
  scene.settle();
  assert_int_equal(scene.rank.all().size(), 1);
  assert_int_equal(scene.status().dropped_no_room, dropped);
}

static void event__waits_for_room(void **) {
  Scene scene;
  const link::PathId id = scene.open_up();
  for (int i = 0; i < 100; ++i)
    scene.port->arrivals.push_back({id, {}, std::string(1400, 'x')});
  for (int i = 0; i < 2000; ++i) // small ones fill the rest
    scene.port->arrivals.push_back({id, {}, "x"});
  scene.settle();
  assert_true(scene.rank.open(1, 4, peer(3)));
  scene.settle();
  std::vector<Record> got = scene.rank.all();
  scene.settle();
  for (Record &more : scene.rank.all())
    got.push_back(std::move(more));
  assert_true(got.back().kind() == RecordKind::event);
  assert_int_equal(got.back().header.path, 1);
  assert_int_equal(got.back().header.generation, 4);
  assert_true(scene.rank.data(1, 4, "up"));
  scene.settle();
  assert_string_equal(scene.port->sent.back().text.c_str(), "up");
}

// What it is to be told doesn't pile up in the daemon: who doesn't read isn't served.
static void rank__that_opens_and_never_reads_costs_no_memory(void **) {
  Scene scene;
  const link::PathId id = scene.open_up();
  for (int i = 0; i < 2100; ++i)
    scene.port->arrivals.push_back({id, {}, i < 100 ? std::string(1400, 'x') : "x"});
  scene.settle();
  scene.port->open_result = -EHOSTUNREACH;
  int written = 0;
  for (int i = 0; i < 5000; ++i) {
    written += scene.rank.open(1, 0, peer(3));
    scene.turn();
  }
  assert_true(written < 2500); // those that the ring holds, and not what came behind them
  // And nothing of it is lost.
  std::size_t told = 0;
  for (int i = 0; i < 5000; ++i) {
    scene.turn();
    for (const Record &got : scene.rank.all())
      told += got.kind() == RecordKind::event;
  }
  assert_int_equal(told, written);
}

static void end__sends_what_was_there(void **) {
  Scene scene;
  scene.open_up();
  for (int i = 0; i < 500; ++i)
    assert_true(scene.rank.data(0, 0, "x"));
  scene.port->room = 3;
  scene.turn();
  scene.port->room = 400;
  scene.attachment->end();
  // What the device has no room for then is lost; but it is not waited for.
  assert_int_equal(scene.port->sent.size(), 403);
  assert_int_equal(scene.port->unflushed, 0);
}

// The rank isn't there any more to be told of its paths.
static void end__isnt_kept_by_a_full_ring(void **) {
  Scene scene;
  const link::PathId id = scene.open_up();
  for (int i = 0; i < 2100; ++i)
    scene.port->arrivals.push_back({id, {}, i < 100 ? std::string(1400, 'x') : "x"});
  scene.settle();
  assert_true(scene.rank.open(1, 0, peer(3)));
  assert_true(scene.rank.open(2, 0, peer(4)));
  assert_true(scene.rank.data(0, 0, "last"));
  scene.turn();
  scene.attachment->end();
  assert_string_equal(scene.port->sent.back().text.c_str(), "last");
}

static void end__of_one_that_was_thrown_out_sends_nothing(void **) {
  Scene scene;
  scene.open_up();
  assert_true(scene.rank.raw(""));
  assert_true(scene.rank.data(0, 0, "x"));
  scene.settle();
  scene.attachment->end();
  assert_true(scene.port->sent.empty());
}

static void rank__that_sleeps_is_woken(void **) {
  Scene scene;
  const link::PathId id = scene.open_up();
  const int fd = scene.rank.channel.socket.get();
  scene.port->arrivals.push_back({id, {}, "x"});
  scene.settle();
  assert_false(readable(fd, 0));
  scene.rank.all();
  assert_true(scene.rank.channel.sleep());
  scene.port->arrivals.push_back({id, {}, "x"});
  scene.settle();
  assert_true(readable(fd, 0));
}

static void arm__answers_whether_there_is_something_to_do(void **) {
  Scene scene;
  scene.open_up();
  assert_true(scene.attachment->arm());
  assert_false(scene.attachment->waits_for_room());
  assert_true(scene.rank.data(0, 0, "x"));
  assert_true(readable(scene.attachment->socket().get(), 0)); // it was woken
  scene.attachment->disarm();
  assert_false(scene.attachment->arm());
  scene.settle();
  assert_true(scene.attachment->arm());
  scene.attachment->disarm();
  scene.port->room = 0;
  assert_true(scene.rank.data(0, 0, "x"));
  scene.settle();
  assert_true(scene.attachment->waits_for_room()); // it is to be tried again
}

// A rank that computes: what lies in its ring is acknowledged, before the daemon sleeps.
static void packets__in_the_ring_are_acknowledged(void **) {
  Scene scene;
  const link::PathId id = scene.open_up();
  assert_true(scene.rank.write(RecordKind::session, 0, 0, bytes_of(SessionOfPath{11, 22, 0, {}})));
  wire::PacketHeader header;
  header.type = wire::PacketType::ack;
  header.token = wire::Token{22};
  header.flags = wire::packet_flag::ack_block;
  wire::AckBlock block{};
  std::vector<std::byte> bytes(wire::packet_header_size + block.wire_size());
  wire::encode(wire::encode(bytes.data(), header), block);
  assert_true(scene.rank.data(0, 0, {reinterpret_cast<const char *>(bytes.data()), bytes.size()}));
  header = {};
  header.token = wire::Token{11};
  bytes.resize(wire::packet_header_size);
  wire::encode(bytes.data(), header);
  scene.settle();
  scene.port->sent.clear();
  scene.port->arrivals.push_back(
      {id, {}, {reinterpret_cast<const char *>(bytes.data()), bytes.size()}});
  scene.turn();
  assert_true(scene.port->sent.empty());
  assert_false(scene.attachment->arm()); // there is an acknowledgement to come
  scene.now += 200us;
  scene.turn();
  assert_int_equal(scene.port->sent.size(), 1);
  assert_true(scene.attachment->arm());
  const std::string &ack = scene.port->sent[0].text;
  std::span<const std::byte> in{reinterpret_cast<const std::byte *>(ack.data()), ack.size()};
  const auto got = wire::decode_header(in);
  assert_true(got && got->token == wire::Token{22});
  assert_true(wire::decode_ack(in, block));
  assert_int_equal(block.cumulative.value, 1);
  assert_int_equal(scene.status().acknowledged, 1);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(datagrams__go_both_ways),
    cmocka_unit_test(stranger__is_told_with_its_origin_and_answered),
    cmocka_unit_test(path__that_fails_is_told_and_closed),
    cmocka_unit_test(path__has_no_part_in_what_was_its_numbers),
    cmocka_unit_test(record__that_no_rank_writes_detaches_it),
    cmocka_unit_test(ring__that_no_rank_would_leave_so_detaches_it),
    cmocka_unit_test(device__without_room_loses_and_reorders_nothing),
    cmocka_unit_test(rank__has_its_turn_and_no_more),
    cmocka_unit_test(ring__that_is_full_drops_and_counts),
    cmocka_unit_test(event__waits_for_room),
    cmocka_unit_test(rank__that_opens_and_never_reads_costs_no_memory),
    cmocka_unit_test(end__sends_what_was_there),
    cmocka_unit_test(end__isnt_kept_by_a_full_ring),
    cmocka_unit_test(end__of_one_that_was_thrown_out_sends_nothing),
    cmocka_unit_test(rank__that_sleeps_is_woken),
    cmocka_unit_test(arm__answers_whether_there_is_something_to_do),
    cmocka_unit_test(packets__in_the_ring_are_acknowledged),
};
static const unit::Group group{"attachment", cases};
