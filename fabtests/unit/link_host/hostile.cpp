// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Peers that lie. Whatever one sends or writes, the port lives, its other paths
// work, and what was opened for the liar is closed again.
#include "unit/link_host/harness.h"

#include "dpdkx/link/host/handshake.h"
#include "dpdkx/link/host/names.h"
#include "dpdkx/link/host/segment.h"
#include "harness/passing.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <random>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace link_host;
using namespace dpdkx::link::host;
using harness::all_seals;

namespace {

constexpr std::uint32_t ring_size = 128 * 1024;

// Speaks to a port without being one.
class Liar {
public:
  explicit Liar(const Port &port) { assert_int_equal(connect_to(port.address(), socket_), 0); }

  Hello hello() const { return make_hello(loopback(9), ring_size, 1000, 0); }

  // Sends `bytes` with descriptors.
  void say(const void *bytes, std::size_t len, const std::vector<int> &fds = {}) const {
    const std::span body(static_cast<const std::byte *>(bytes), len);
    assert_int_equal(harness::send_passing(socket_.get(), body, fds, MSG_NOSIGNAL), len);
  }
  void say(const Hello &hello, const std::vector<int> &fds) const {
    say(&hello, sizeof(hello), fds);
  }

  // What the port answers: a Welcome's status, or 1 for nothing but the end.
  int answer() const {
    pollfd readable{socket_.get(), POLLIN, 0};
    assert_int_equal(::poll(&readable, 1, patience_ms), 1);
    Welcome welcome{};
    switch (receive_note(socket_, welcome)) {
    case Note::welcome:
      return welcome.status;
    case Note::closed:
      return 1;
    default:
      fail_msg("no answer");
      return 0;
    }
  }

  const Fd &socket() const { return socket_; }

private:
  Fd socket_;
};

// A path as the protocol would have it, whose memory the test then spoils.
struct Corrupted {
  std::unique_ptr<Port> port = open_port();
  Liar liar{*port};
  Segment segment;
  PathId path = PathId::none;

  Corrupted() {
    Fd memfd;
    assert_int_equal(Segment::create(ring_size, segment, memfd), 0);
    liar.say(liar.hello(), {memfd.get()});
    path = await_event(*port, PathEventKind::accepted).path;
    assert_int_equal(liar.answer(), 0);
  }

  std::byte *ring_to_port() const { return segment.ring(End::acceptor).bytes; }

  void expect_given_up() {
    PathEvent event{};
    const Time deadline = now() + std::chrono::milliseconds(patience_ms);
    while (port->poll_events(&event, 1, now()) == 0) {
      RxDatagram batch[16];
      port->release(batch, port->poll(batch, 16));
      assert_true(now() < deadline);
    }
    assert_int_equal(event.kind, PathEventKind::peer_gone);
    assert_int_equal(event.error, -EPROTO);
    assert_true(event.path == path);
    port->close_path(path);
  }
};

Fd memory_of(std::size_t bytes, int seals) {
  Fd out = harness::make_memory(bytes, seals);
  assert_true(static_cast<bool>(out));
  return out;
}

const std::size_t right_size = harness::memory_bytes(ring_size);

// The port refuses what `say` says, keeps nothing of it, and logs it once.
template <class Say> void expect_refusal(Say say, int status = -EPROTO) {
  const LogCapture log;
  const auto port = open_port();
  const std::size_t descriptors = open_descriptors();
  {
    const Liar liar(*port);
    say(liar);
    assert_true(no_event(*port));
    assert_int_equal(liar.answer(), status);
    assert_int_equal(liar.answer(), 1);
  }
  assert_int_equal(open_descriptors(), descriptors);
  assert_int_equal(ring_mappings(), 0);
  assert_int_equal(log.count("refuses a connection"), 1);
  const auto honest = open_port();
  PathId path;
  assert_int_equal(honest->open_path(port->address(), path), 0);
  await_event(*port, PathEventKind::accepted);
}

void expect_memory_refused(const Fd &memory) {
  expect_refusal([&](const Liar &liar) { liar.say(liar.hello(), {memory.get()}); });
}
void expect_memory_refused(int fd) {
  expect_refusal([&](const Liar &liar) { liar.say(liar.hello(), {fd}); });
  close(fd);
}

void expect_hello_refused(void (*spoil)(Hello &), int status = -EPROTO) {
  const Fd memory = memory_of(right_size, all_seals);
  expect_refusal(
      [&](const Liar &liar) {
        Hello hello = liar.hello();
        spoil(hello);
        liar.say(hello, {memory.get()});
      },
      status);
}

} // namespace

static void hello__honest_is_accepted(void **) { const Corrupted nothing_wrong; }

static void hello__of_any_bytes_is_refused(void **) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::uint8_t> bytes(1 + random() % 200);
    for (std::uint8_t &byte : bytes)
      byte = static_cast<std::uint8_t>(random());
    expect_refusal([&](const Liar &liar) { liar.say(bytes.data(), bytes.size()); });
  }
}

static void hello__of_another_length_is_refused(void **) {
  const Fd memory = memory_of(right_size, all_seals);
  for (const std::size_t len : {sizeof(Hello) - 1, std::size_t{1}, std::size_t{8}})
    expect_refusal([&](const Liar &liar) {
      const Hello hello = liar.hello();
      liar.say(&hello, len, {memory.get()});
    });
  expect_refusal([&](const Liar &liar) {
    char longer[sizeof(Hello) + 1] = {};
    const Hello hello = liar.hello();
    std::memcpy(longer, &hello, sizeof(hello));
    liar.say(longer, sizeof(longer), {memory.get()});
  });
}

static void hello__without_its_memory_is_refused(void **) {
  expect_refusal([](const Liar &liar) { liar.say(liar.hello(), {}); });
}

static void hello__with_more_descriptors_is_refused(void **) {
  const Fd memory = memory_of(right_size, all_seals);
  for (const std::size_t count : {2u, 6u})
    expect_refusal(
        [&](const Liar &liar) { liar.say(liar.hello(), std::vector<int>(count, memory.get())); });
}

static void hello__of_another_version_is_refused(void **) {
  expect_hello_refused([](Hello &hello) { ++hello.version; }, -EPROTONOSUPPORT);
}

static void hello__of_impossible_rings_is_refused(void **) {
  expect_hello_refused([](Hello &hello) { hello.ring_bytes = 0; });
  expect_hello_refused([](Hello &hello) { hello.ring_bytes = 100000; });
  expect_hello_refused([](Hello &hello) { hello.ring_bytes = 1u << 31; });
  expect_hello_refused([](Hello &hello) { hello.ring_bytes *= 2; }); // not the memory's
  expect_hello_refused([](Hello &hello) { hello.max_datagram = ring_size; });
  expect_hello_refused([](Hello &hello) { hello.max_datagram = 0; });
  expect_hello_refused([](Hello &hello) { hello.max_datagram = ~0u; });
  expect_hello_refused([](Hello &hello) { hello.start[0] = 8; });
  expect_hello_refused([](Hello &hello) { hello.start[1] = 63; });
}

static void memory__that_could_shrink_is_refused(void **) {
  expect_memory_refused(memory_of(right_size, 0));
  expect_memory_refused(memory_of(right_size, F_SEAL_GROW | F_SEAL_SEAL));
  expect_memory_refused(memory_of(right_size, F_SEAL_SHRINK | F_SEAL_SEAL));
}

static void memory__of_another_size_is_refused(void **) {
  expect_memory_refused(memory_of(0, all_seals));
  expect_memory_refused(memory_of(right_size - page_bytes(), all_seals));
  expect_memory_refused(memory_of(right_size + page_bytes(), all_seals));
}

static void memory__that_is_none_is_refused(void **) {
  expect_memory_refused(open("/dev/zero", O_RDWR));
  expect_memory_refused(open("/dev/null", O_RDWR));
  expect_memory_refused(open("/", O_RDONLY | O_DIRECTORY));
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  expect_memory_refused(ends[0]);
  close(ends[1]);
}

static void memory__that_is_read_only_is_refused(void **) {
  const Fd memory = memory_of(right_size, all_seals);
  const std::string path = "/proc/self/fd/" + std::to_string(memory.get());
  const int read_only = open(path.c_str(), O_RDONLY);
  assert_true(read_only >= 0);
  expect_refusal([&](const Liar &liar) { liar.say(liar.hello(), {read_only}); }, -EACCES);
  close(read_only);
}

static void guest__that_stays_silent_is_shown_out(void **) {
  const LogCapture log;
  const auto port = open_port();
  const Liar liar(*port);
  PathEvent event;
  const Time start = now();
  assert_int_equal(port->poll_events(&event, 1, start), 0);
  assert_int_equal(port->poll_events(&event, 1, start + std::chrono::seconds(9)), 0);
  assert_int_equal(log.lines().size(), 0);
  assert_int_equal(port->poll_events(&event, 1, start + std::chrono::seconds(11)), 0);
  assert_int_equal(liar.answer(), -ETIMEDOUT);
}

static void refusals__dont_fill_the_log(void **) {
  const LogCapture log;
  const auto port = open_port();
  Time time = now();
  for (int i = 0; i < 100; ++i) {
    const Liar liar(*port);
    liar.say("?", 1);
    PathEvent event;
    assert_int_equal(port->poll_events(&event, 1, time += std::chrono::milliseconds(2)), 0);
  }
  assert_int_equal(log.lines().size(), 10);
  assert_int_equal(port->counters().rx_dropped, 100);
}

static void notes__in_any_number_dont_hold_the_port(void **) {
  const Corrupted connected;
  for (int i = 0; i < 1000; ++i)
    if (::send(connected.liar.socket().get(), "garbage", 7, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
      break;
  assert_true(no_event(*connected.port));
  std::vector<char> zeros(100000);
  ::send(connected.liar.socket().get(), zeros.data(), zeros.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  assert_true(no_event(*connected.port));
}

static void word__of_garbage_ends_the_path_once(void **) {
  const LogCapture log;
  Corrupted spoilt;
  std::memset(spoilt.ring_to_port(), 0xff, ring_size);
  RxDatagram batch[4];
  assert_int_equal(spoilt.port->poll(batch, 4), 0);
  assert_int_equal(spoilt.port->poll(batch, 4), 0);
  spoilt.expect_given_up();
  assert_int_equal(log.lines().size(), 1);
  assert_true(log.contains(to_string(loopback(9))));
}

static void word__that_lies_about_length_ends_the_path(void **) {
  for (const std::uint32_t len : {1001u, ring_size, ring_size * 2, INT_MAX + 0u, ~0u - 1}) {
    Corrupted spoilt;
    const std::uint64_t word = publish_word(0, len);
    std::memcpy(spoilt.ring_to_port(), &word, 8);
    spoilt.expect_given_up();
  }
}

static void word__after_honest_datagrams_lets_them_through(void **) {
  Corrupted spoilt;
  RingProducer tx(spoilt.segment.ring(End::acceptor), 0);
  for (int i = 0; i < 3; ++i) {
    std::memcpy(tx.reserve(4), "good", 4);
    tx.commit(4);
  }
  *reinterpret_cast<std::uint64_t *>(spoilt.ring_to_port() + tx.position()) = 12345;
  RxDatagram batch[8];
  assert_int_equal(spoilt.port->poll(batch, 8), 3);
  PathEvent event;
  assert_int_equal(spoilt.port->poll_events(&event, 1, now()), 0); // they are still out
  assert_memory_equal(batch[2].data, "good", 4);
  spoilt.port->release(batch, 3);
  spoilt.expect_given_up();
}

static void head__of_garbage_ends_the_path(void **) {
  for (const std::uint64_t head : {~std::uint64_t{0}, std::uint64_t{1} << 40}) {
    Corrupted spoilt;
    while (link_host::send(*spoilt.port, spoilt.path, "fill it")) {
    }
    spoilt.segment.consumer_words(End::opener).head = head;
    assert_false(link_host::send(*spoilt.port, spoilt.path, "look at the head"));
    spoilt.expect_given_up();
  }
}

// Whatever is in the memory, at any time: no crash, and the port lives.
static void memory__of_random_bytes_harms_nobody(void **) {
  const std::uint32_t seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    Corrupted spoilt;
    std::byte *const base = reinterpret_cast<std::byte *>(
        &spoilt.segment.consumer_words(End::opener)); // the control page, then both rings
    RingProducer tx(spoilt.segment.ring(End::acceptor), 0);
    for (int step = 0; step < 200; ++step) {
      if (std::byte *const data = tx.reserve(100); data != nullptr) {
        std::memset(data, static_cast<int>(random()), 100);
        tx.commit(random() % 100);
      }
      if (random() % 16 == 0) {
        const std::size_t at = random() % 4 == 0 ? random() % 512 : random() % right_size;
        std::uint64_t value = random() % 2 ? random() : publish_word(at, random() % 2000);
        std::memcpy(base + at / 8 * 8, &value, 8);
      }
      link_host::send(*spoilt.port, spoilt.path, "traffic the other way");
      RxDatagram batch[16];
      const unsigned n = spoilt.port->poll(batch, 16);
      for (unsigned i = 0; i < n; ++i)
        assert_true(std::vector<std::byte>(batch[i].data, batch[i].data + batch[i].len).size() <=
                    1000);
      spoilt.port->release(batch, n);
      PathEvent event;
      spoilt.port->poll_events(&event, 1, now());
    }
  }
}

namespace {

// A listener that is no port, for openers to run into.
struct FalseAcceptor {
  Fd listener;
  Address address;
  Fd connection;

  FalseAcceptor() {
    std::string error;
    assert_int_equal(listen_at(loopback(), {50200, 50300}, listener, address, error), 0);
  }
  void accept_one() {
    const ForkHold hold;
    connection = Fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC), hold);
    assert_true(static_cast<bool>(connection));
  }
};

} // namespace

static void welcome__with_a_refusal_ends_the_path(void **) {
  const LogCapture log;
  for (const std::int32_t status : {-EPERM, -EPROTO, 77, INT_MIN}) {
    FalseAcceptor acceptor;
    const auto port = open_port();
    PathId path;
    assert_int_equal(port->open_path(acceptor.address, path), 0);
    await_event(*port, PathEventKind::up);
    acceptor.accept_one();
    send_welcome(acceptor.connection, status);
    const PathEvent event = await_event(*port, PathEventKind::peer_gone);
    assert_true(event.error < 0);
    if (status == -EPERM)
      assert_int_equal(event.error, -EPERM);
  }
  assert_int_equal(log.count("refuses a path"), 4);
}

static void welcome__of_garbage_is_ignored(void **) {
  FalseAcceptor acceptor;
  const auto port = open_port();
  PathId path;
  assert_int_equal(port->open_path(acceptor.address, path), 0);
  await_event(*port, PathEventKind::up);
  acceptor.accept_one();
  assert_int_equal(::send(acceptor.connection.get(), "0123456789abcdef", 16, MSG_NOSIGNAL), 16);
  assert_true(no_event(*port));
  assert_true(link_host::send(*port, path, "still"));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(hello__honest_is_accepted),
    cmocka_unit_test(hello__of_any_bytes_is_refused),
    cmocka_unit_test(hello__of_another_length_is_refused),
    cmocka_unit_test(hello__without_its_memory_is_refused),
    cmocka_unit_test(hello__with_more_descriptors_is_refused),
    cmocka_unit_test(hello__of_another_version_is_refused),
    cmocka_unit_test(hello__of_impossible_rings_is_refused),
    cmocka_unit_test(memory__that_could_shrink_is_refused),
    cmocka_unit_test(memory__of_another_size_is_refused),
    cmocka_unit_test(memory__that_is_none_is_refused),
    cmocka_unit_test(memory__that_is_read_only_is_refused),
    cmocka_unit_test(guest__that_stays_silent_is_shown_out),
    cmocka_unit_test(refusals__dont_fill_the_log),
    cmocka_unit_test(notes__in_any_number_dont_hold_the_port),
    cmocka_unit_test(word__of_garbage_ends_the_path_once),
    cmocka_unit_test(word__that_lies_about_length_ends_the_path),
    cmocka_unit_test(word__after_honest_datagrams_lets_them_through),
    cmocka_unit_test(head__of_garbage_ends_the_path),
    cmocka_unit_test(memory__of_random_bytes_harms_nobody),
    cmocka_unit_test(welcome__with_a_refusal_ends_the_path),
    cmocka_unit_test(welcome__of_garbage_is_ignored),
};
static const unit::Group group{"link_host.hostile", cases};
