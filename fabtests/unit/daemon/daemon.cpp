// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The whole of it, in a thread: ranks reach it by its socket, as they do dpdkxd.
#include "dpdkx/daemon/daemon.h"

#include "dpdkx/link/daemon/client.h"
#include "harness/hub.h"
#include "harness/passing.h"
#include "unit/daemon/fakes.h"

#include <atomic>
#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <functional>
#include <mutex>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>

using namespace daemon_test;
using daemon::Config;
using daemon::Daemon;
using harness::Hub;

namespace {

struct LogCapture {
  LogCapture() {
    lines().clear();
    set_log_sink([](LogLevel, std::string_view text) {
      const std::scoped_lock lock(mutex());
      lines().emplace_back(text);
    });
  }
  ~LogCapture() { set_log_sink(nullptr); }
  static std::vector<std::string> &lines() {
    static std::vector<std::string> all;
    return all;
  }
  static std::mutex &mutex() {
    static std::mutex one;
    return one;
  }
  static std::size_t count(std::string_view text) {
    const std::scoped_lock lock(mutex());
    std::size_t n = 0;
    for (const std::string &line : lines())
      n += line.find(text) != std::string::npos;
    return n;
  }
};

std::string describe(const daemon::Status &status) {
  std::uint64_t ranks = 0, dropped = 0;
  for (const daemon::DeviceStatus &device : status.devices)
    for (const daemon::RankStatus &rank : device.ranks) {
      ++ranks;
      dropped += rank.dropped_no_room;
    }
  return "version=" + status.version + " ranks=" + std::to_string(ranks) +
         " sleeps=" + std::to_string(status.sleeps) + " turns=" + std::to_string(status.turns) +
         " dropped=" + std::to_string(dropped) +
         " refused=" + std::to_string(status.ranks_refused) +
         " devices=" + std::to_string(status.devices.size()) + " ";
}

struct Running {
  explicit Running(Config config_ = {}, bool wakes = true) : config(std::move(config_)) {
    if (config.socket == "@dpdkxd")
      config.socket = fresh_name();
    config.devices.resize(1);
    std::string error;
    const int rc = Daemon::create(config, surroundings(wakes), daemon, error);
    if (rc != 0)
      fail_msg("%s", error.c_str());
    thread = std::thread([this] { daemon->run(); });
  }
  ~Running() {
    daemon->stop();
    thread.join();
  }
  static Daemon::Surroundings surroundings(bool wakes) {
    return {.open_device =
                [wakes](const daemon::DeviceConfig &, std::shared_ptr<link::Device> &device,
                        std::string &) {
                  device = std::make_shared<Hub>(wakes);
                  return 0;
                },
            .describe = describe,
            .version = "1"};
  }

  // What its status says of something.
  std::uint64_t told(std::string_view name) const {
    std::string text, error;
    assert_int_equal(link::daemon_status(config.socket, text, error), 0);
    const std::size_t at = text.find(std::string(name) + "=");
    assert_true(at != std::string::npos);
    return std::strtoull(text.c_str() + at + name.size() + 1, nullptr, 10);
  }
  bool comes_to(std::string_view name, std::uint64_t value) const {
    for (int i = 0; i < patience_ms; ++i) {
      if (told(name) == value)
        return true;
      usleep(1000);
    }
    return false;
  }
  std::shared_ptr<link::Device> device(std::uint32_t ring_bytes = 64 * 1024) const {
    std::shared_ptr<link::Device> out;
    std::string error;
    if (link::open_daemon_device({.socket = config.socket, .ring_bytes = ring_bytes}, "net0", out,
                                 error) != 0)
      fail_msg("%s", error.c_str());
    return out;
  }

  Config config;
  std::unique_ptr<Daemon> daemon;
  std::thread thread;
};

Time now() { return SystemClock::instance().now(); }

// A rank's endpoint with a path to another.
struct Endpoint {
  std::unique_ptr<link::Port> port;
  link::PathId path = link::PathId::none;
  bool up = false;
  unsigned received = 0;

  int open(link::Device &device, std::uint16_t number, std::string *why = nullptr) {
    std::string error;
    const int rc = device.open_port(Address::v4(0, number), {}, port, error);
    if (why != nullptr)
      *why = error;
    return rc;
  }
  bool reach(std::uint16_t number) {
    Address to = port->address();
    to.port = number;
    if (port->open_path(to, path) != 0)
      return false;
    port->flush();
    return wait_for([this] { return up; });
  }
  bool send(std::string_view text) {
    const auto len = static_cast<std::uint32_t>(text.size());
    const link::TxRoom room = port->reserve(path, len);
    if (room.data == nullptr)
      return false;
    std::memcpy(room.data, text.data(), len);
    port->commit(path, room, len);
    port->flush();
    return true;
  }
  unsigned look() {
    link::PathEvent event;
    while (port->poll_events(&event, 1, now()) == 1)
      up = event.kind == link::PathEventKind::up;
    link::RxDatagram got[32];
    const unsigned n = port->poll(got, 32);
    if (n != 0)
      port->release(got, n);
    received += n;
    return n;
  }
  bool wait_for(const std::function<bool()> &what, bool sleeps = false) {
    const Time until = now() + std::chrono::milliseconds(patience_ms);
    while (!what()) {
      if (look() != 0)
        continue;
      if (now() > until)
        return false;
      if (sleeps) {
        if (port->arm())
          (void)readable(port->wait_fd(), 1000);
        port->disarm();
      } else {
        sched_yield();
      }
    }
    return true;
  }
};

// To and fro so many times; how many came back.
int ping_pong(const Running &running, int rounds, bool sleep) {
  const auto device = running.device();
  Endpoint a, b;
  assert_int_equal(a.open(*device, 1), 0);
  assert_int_equal(b.open(*device, 2), 0);
  assert_true(a.reach(2));
  assert_true(b.reach(1));
  int back = 0;
  for (; back < rounds; ++back) {
    unsigned got = 0;
    for (Endpoint *from : {&a, &b}) {
      Endpoint &to = from == &a ? b : a;
      got = 0;
      if (!from->send("ball"))
        return back;
      const Time until = now() + std::chrono::milliseconds(patience_ms);
      while ((got = to.look()) == 0 && now() < until) {
        if (sleep) {
          if (to.port->arm() && !readable(to.port->wait_fd(), patience_ms))
            return back;
          to.port->disarm();
        } else {
          sched_yield();
        }
      }
      if (got == 0)
        return back;
    }
  }
  return back;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR *const dir = opendir("/proc/self/fd");
  while (readdir(dir) != nullptr)
    ++count;
  closedir(dir);
  return count;
}

// What a port does first, but for the answer.
void ask_to_attach(const Running &running, Rank &rank) {
  assert_int_equal(link::daemon::connect_to_daemon(running.config.socket, rank.channel.socket), 0);
  assert_int_equal(link::host::send_with_memory(rank.channel.socket,
                                                std::as_bytes(std::span(&rank.request, 1)),
                                                rank.memory),
                   0);
}

} // namespace

static void ranks__talk_through_it(void **) {
  const Running running;
  assert_int_equal(ping_pong(running, 2000, false), 2000);
}

static void sleepers__lose_no_wake(void **) {
  Config config;
  config.sleep_after = Duration::zero();
  const Running running(config);
  assert_int_equal(ping_pong(running, 3000, true), 3000);
  assert_true(running.told("sleeps") > 0); // how often is a matter of who is quicker
}

static void device__that_wakes_nobody_is_looked_at(void **) {
  Config config;
  config.sleep_after = Duration::zero();
  const Running running(config, false);
  assert_int_equal(ping_pong(running, 300, true), 300);
}

// A look at such a device isn't a turn, for which everybody is disarmed and armed again.
static void device__that_wakes_nobody_is_looked_at_alone(void **) {
  Config config;
  config.sleep_after = Duration::zero();
  const Running running(config, false);
  const auto device = running.device();
  Endpoint rank;
  assert_int_equal(rank.open(*device, 1), 0);
  std::uint64_t looks = 0, turns = 0;
  for (int i = 0; i < 100 && looks < 50; ++i) {
    const std::uint64_t looks_before = running.told("sleeps"), turns_before = running.told("turns");
    usleep(100'000);
    turns = running.told("turns") - turns_before;
    looks = running.told("sleeps") - looks_before;
  }
  assert_true(looks >= 50);
  assert_true(turns < looks / 2);
}

static void rank__is_refused_with_a_reason(void **) {
  const LogCapture log;
  Config config;
  config.max_ranks = 2;
  config.max_ring = 64 * 1024;
  const Running running(config);
  std::string why;
  Endpoint a, b, c;
  assert_int_equal(a.open(*running.device(128 * 1024), 1, &why), -EFBIG);
  assert_true(why.find("max-ring is 65536, its rings have 131072") != std::string::npos);
  const auto device = running.device();
  assert_int_equal(a.open(*device, 1), 0);
  assert_int_equal(b.open(*device, 1, &why), -EADDRINUSE);
  assert_int_equal(b.open(*device, 2), 0);
  assert_int_equal(c.open(*device, 3, &why), -EUSERS);
  assert_true(why.find("max-ranks is 2") != std::string::npos);
  b.port.reset();
  assert_true(running.comes_to("ranks", 1));
  assert_int_equal(c.open(*device, 3), 0);
  Config more = running.config;
  more.max_ranks = 3;
  running.daemon->reload(more);
  for (int i = 0; i < patience_ms && b.open(*device, 2) != 0; ++i)
    usleep(1000);
  assert_non_null(b.port.get());
  assert_int_equal(running.told("devices"), 1);
}

namespace {

// As another user than root.
int open_as(uid_t user, Endpoint &endpoint, link::Device &device, std::uint16_t port,
            std::string *why = nullptr) {
  assert_int_equal(seteuid(user), 0);
  const int rc = endpoint.open(device, port, why);
  assert_int_equal(seteuid(0), 0);
  return rc;
}

} // namespace

// So that none keeps the others out.
static void user__has_its_share(void **) {
  if (geteuid() != 0)
    skip();
  constexpr uid_t one = 65534, other = 65533;
  Config config;
  config.max_ranks = 5;
  const Running running(config);
  const auto device = running.device();
  Endpoint of_one[4], of_other[2], roots;
  std::string why;
  for (std::uint16_t i = 0; i < 3; ++i)
    assert_int_equal(open_as(one, of_one[i], *device, 2000 + i), 0);
  assert_int_equal(open_as(one, of_one[3], *device, 2003, &why), -EUSERS);
  assert_true(why.find("max-ranks-per-user is 3, and user 65534 has so many attached") !=
              std::string::npos);
  assert_int_equal(open_as(other, of_other[0], *device, 3000), 0);
  of_one[0].port.reset();
  assert_true(running.comes_to("ranks", 3));
  assert_int_equal(open_as(one, of_one[3], *device, 2003), 0);
  assert_int_equal(open_as(one, of_one[0], *device, 2000), -EUSERS);
  Config more = running.config;
  more.max_ranks_per_user = 1; // of those who come from now on
  running.daemon->reload(more);
  for (int i = 0; i < patience_ms && open_as(other, of_other[1], *device, 3001, &why) == 0; ++i) {
    of_other[1].port.reset();
    assert_true(running.comes_to("ranks", 4));
  }
  assert_true(why.find("max-ranks-per-user is 1, and user 65533") != std::string::npos);
  assert_int_equal(running.told("ranks"), 4);
  // Root's are limited by max-ranks alone.
  assert_int_equal(roots.open(*device, 1), 0);
}

// As the kernel has it.
static void low_ports__are_roots(void **) {
  if (geteuid() != 0)
    skip();
  const Running running;
  const auto device = running.device();
  Endpoint mine, others;
  std::string why;
  assert_int_equal(seteuid(65534), 0);
  const int low = others.open(*device, 1023, &why), free = others.open(*device, 1024);
  assert_int_equal(seteuid(0), 0);
  assert_int_equal(low, -EACCES);
  assert_true(why.find("UDP port 1023") != std::string::npos);
  assert_int_equal(free, 0);
  assert_int_equal(mine.open(*device, 1023), 0);
}

namespace {

// What is answered to a request that isn't a rank's.
int attach_status(const Running &running, const link::daemon::Request &request,
                  const link::host::Fd &memory) {
  link::host::Fd socket;
  assert_int_equal(link::daemon::connect_to_daemon(running.config.socket, socket), 0);
  assert_int_equal(
      link::host::send_with_memory(socket, std::as_bytes(std::span(&request, 1)), memory), 0);
  assert_true(readable(socket.get(), patience_ms));
  link::daemon::Reply reply{};
  assert_int_equal(recv(socket.get(), &reply, sizeof(reply), 0), sizeof(reply));
  return reply.status;
}

} // namespace

static void memory__that_could_fail_is_refused(void **) {
  const Running running;
  const std::size_t right = harness::memory_bytes(std::size_t{64} * 1024);
  const auto memory_of = [](std::size_t bytes, int seals) {
    link::host::Fd out = harness::make_memory(bytes, seals);
    assert_true(static_cast<bool>(out));
    return out;
  };
  constexpr int all = harness::all_seals;
  const Rank rank;
  assert_int_equal(attach_status(running, rank.request, memory_of(right, 0)), -EPROTO);
  assert_int_equal(attach_status(running, rank.request, memory_of(right - 4096, all)), -EPROTO);
  assert_int_equal(attach_status(running, rank.request, memory_of(right + 4096, all)), -EPROTO);
  link::host::Fd null;
  {
    const link::host::ForkHold hold;
    null = link::host::Fd(open("/dev/null", O_RDWR | O_CLOEXEC), hold);
  }
  assert_int_equal(attach_status(running, rank.request, null), -EPROTO);
  link::daemon::Request wrong = rank.request;
  wrong.ip[0] = 1;
  assert_int_equal(attach_status(running, wrong, rank.memory), -EADDRNOTAVAIL);
  assert_int_equal(attach_status(running, rank.request, memory_of(right, all)), 0);
  assert_true(running.comes_to("ranks", 0));
}

// It is a port of the device's as any other.
static void low_ports__are_roots_for_bulk_too(void **) {
  if (geteuid() != 0)
    skip();
  const Running running;
  Rank rank(64 * 1024, 5000);
  const auto status_of_others = [&](std::uint16_t bulk_port) {
    rank.request.bulk_port = bulk_port;
    assert_int_equal(seteuid(65534), 0);
    const int status = attach_status(running, rank.request, rank.memory);
    assert_int_equal(seteuid(0), 0);
    return status;
  };
  assert_int_equal(status_of_others(1023), -EACCES);
  assert_int_equal(status_of_others(1024), 0);
  assert_true(running.comes_to("ranks", 0));
  assert_int_equal(attach_status(running, rank.request, rank.memory), 0);
}

// The device's name comes from anybody, and goes into the log.
static void name__of_no_device_cant_forge_the_log(void **) {
  const LogCapture log;
  const Running running;
  Rank rank;
  link::daemon::put_text(rank.request.device, "x\nroot has logged in\x1b[2J");
  assert_int_equal(attach_status(running, rank.request, rank.memory), -ENODEV);
  for (int i = 0; i < patience_ms && log.count("root has logged in") == 0; ++i)
    usleep(1000);
  assert_int_equal(log.count("root has logged in"), 1);
  assert_int_equal(log.count("\n"), 0);
  assert_int_equal(log.count("\x1b"), 0);
}

// All want a port of the same range at the same time.
static void many__at_once_get_ports_of_their_own(void **) {
  constexpr int threads = 8, rounds = 5;
  const Running running;
  const auto device = running.device();
  for (int round = 0; round < rounds; ++round) {
    std::vector<Endpoint> endpoints(threads);
    std::vector<std::thread> running_threads;
    std::atomic<int> failed{0};
    for (Endpoint &endpoint : endpoints)
      running_threads.emplace_back([&] {
        std::string error;
        failed += device->open_port({}, {.first = 100, .last = 100 + threads - 1}, endpoint.port,
                                    error) != 0;
      });
    for (std::thread &thread : running_threads)
      thread.join();
    assert_int_equal(failed.load(), 0);
    std::set<std::uint16_t> numbers;
    for (const Endpoint &endpoint : endpoints)
      numbers.insert(endpoint.port->address().port);
    assert_int_equal(numbers.size(), threads);
  }
}

// While it finds a port taken and looks whether its owner has gone, others wait to be heard.
static void guests__that_want_a_port_that_is_taken_are_all_answered(void **) {
  Config config;
  config.socket = fresh_name();
  config.devices.resize(1);
  std::unique_ptr<Daemon> daemon;
  std::string error;
  assert_int_equal(Daemon::create(config, Running::surroundings(true), daemon, error), 0);
  std::vector<link::host::Fd> sockets(40);
  std::vector<std::unique_ptr<Rank>> ranks;
  const auto come = [&](std::size_t i) {
    ranks.push_back(std::make_unique<Rank>());
    assert_int_equal(link::daemon::connect_to_daemon(config.socket, sockets[i]), 0);
    assert_int_equal(
        link::host::send_with_memory(
            sockets[i], std::as_bytes(std::span(&ranks.back()->request, 1)), ranks.back()->memory),
        0);
  };
  for (std::size_t i = 0; i < sockets.size(); ++i)
    come(i);
  // Somebody who is silent makes the server busy.
  link::host::Fd silent;
  assert_int_equal(link::daemon::connect_to_daemon(config.socket, silent), 0);
  for (int i = 0; i < 10; ++i)
    daemon->turn(now() + std::chrono::seconds(i));
  int agreed = 0;
  for (const link::host::Fd &socket : sockets) {
    link::daemon::Reply reply{};
    assert_int_equal(recv(socket.get(), &reply, sizeof(reply), MSG_DONTWAIT), sizeof(reply));
    agreed += reply.status == 0;
    assert_true(reply.status == 0 || reply.status == -EADDRINUSE);
  }
  assert_int_equal(agreed, 1);
}

static void port__of_a_killed_rank_is_free_again(void **) {
  const Running running;
  const auto device = running.device();
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 30; ++i) {
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
      Endpoint endpoint;
      bool good = endpoint.open(*device, 7) == 0 && endpoint.reach(8);
      for (int k = 0; good && k < 100; ++k)
        good = endpoint.send("x");
      (void)!write(ready[1], good ? "y" : "n", 1);
      for (;;)
        pause();
    }
    char good = 0;
    assert_int_equal(read(ready[0], &good, 1), 1);
    assert_int_equal(good, 'y');
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, nullptr, 0), child);
    close(ready[0]);
    close(ready[1]);
    Endpoint next;
    assert_int_equal(next.open(*device, 7), 0);
  }
  assert_true(running.comes_to("ranks", 0));
  for (int i = 0; i < patience_ms && open_descriptors() > before; ++i)
    usleep(
        1000); // the daemon closes its end of the last question; so it may have done since before
  assert_true(open_descriptors() <= before);
}

static void rank__that_is_stopped_costs_others_nothing(void **) {
  const Running running;
  const auto device = running.device();
  int ready[2];
  assert_int_equal(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    Endpoint endpoint;
    const bool good = endpoint.open(*device, 7) == 0 && endpoint.reach(8);
    (void)!write(ready[1], good ? "y" : "n", 1);
    endpoint.wait_for([] { return false; });
    _exit(1);
  }
  char good = 0;
  assert_int_equal(read(ready[0], &good, 1), 1);
  assert_int_equal(good, 'y');
  kill(child, SIGSTOP);
  assert_int_equal(waitpid(child, nullptr, WUNTRACED), child);
  Endpoint flood;
  assert_int_equal(flood.open(*device, 8), 0);
  assert_true(flood.reach(7));
  for (int i = 0; i < 3000; ++i)
    while (!flood.send(std::string(100, 'x')))
      sched_yield();
  assert_int_equal(ping_pong(running, 500, false), 500);
  assert_true(running.told("dropped") > 0);
  kill(child, SIGKILL);
  assert_int_equal(waitpid(child, nullptr, 0), child);
  flood.port.reset();
  assert_true(running.comes_to("ranks", 0));
  close(ready[0]);
  close(ready[1]);
}

// The thread that forwards has no time for that.
static void rank__that_passes_what_takes_its_time_costs_others_nothing(void **) {
  const Running running;
  // To be read, or unread as the rank is gone by then.
  for (const bool stays : {true, false}) {
    Lingering one;
    Rank rank(64 * 1024, 7);
    ask_to_attach(running, rank);
    assert_true(running.comes_to("ranks", 1));
    const std::byte wake[1]{};
    assert_int_equal(link::host::send_with_memory(rank.channel.socket, wake, one.end), 0);
    one.end.reset();
    if (!stays)
      rank.channel.socket.reset();
    assert_true(running.comes_to("ranks", 0)); // it has no business to
    assert_int_equal(ping_pong(running, 100, false), 100);
  }
}

// Messages of one byte are, of another length not.
static void rank__that_sends_what_is_no_wake_is_thrown_out(void **) {
  const LogCapture log;
  const Running running;
  Rank rank(64 * 1024, 7);
  ask_to_attach(running, rank);
  assert_true(running.comes_to("ranks", 1));
  for (int i = 0; i < 100; ++i)
    assert_int_equal(send(rank.channel.socket.get(), "w", 1, MSG_NOSIGNAL), 1);
  assert_int_equal(ping_pong(running, 100, false), 100);
  assert_int_equal(running.told("ranks"), 1);
  assert_int_equal(send(rank.channel.socket.get(), "ww", 2, MSG_NOSIGNAL), 2);
  assert_true(running.comes_to("ranks", 0));
  assert_int_equal(LogCapture::count("has written a message that is no wake: it is detached"), 1);
}

static void rank__that_writes_nonsense_is_thrown_out(void **) {
  const LogCapture log;
  const Running running;
  const auto device = running.device();
  Endpoint good, other;
  assert_int_equal(good.open(*device, 1), 0);
  assert_int_equal(other.open(*device, 2), 0);
  assert_true(good.reach(2));
  for (int i = 0; i < 130; ++i) {
    Rank rank;
    ask_to_attach(running, rank);
    assert_true(readable(rank.channel.socket.get(), patience_ms));
    link::daemon::Reply reply{};
    assert_int_equal(recv(rank.channel.socket.get(), &reply, sizeof(reply), 0), sizeof(reply));
    assert_int_equal(reply.status, 0);
    assert_true(rank.raw(""));
    assert_true(readable(rank.channel.socket.get(), patience_ms));
    assert_int_equal(recv(rank.channel.socket.get(), &reply, sizeof(reply), 0), 0);
  }
  assert_int_equal(running.told("ranks"), 2);
  assert_true(good.send("still here"));
  assert_true(other.wait_for([&] { return other.received == 1; }));
  assert_int_equal(log.count("has written a record without a header"),
                   100); // anybody could fill a disk
}

// As a reload has it, and back to where it could run before.
static void processor__is_what_the_last_reload_says(void **) {
  const auto processors_of = [](pthread_t thread) {
    cpu_set_t set;
    assert_int_equal(pthread_getaffinity_np(thread, sizeof(set), &set), 0);
    return set;
  };
  const cpu_set_t all = processors_of(pthread_self());
  if (CPU_COUNT(&all) < 2)
    skip();
  std::size_t first = 0;
  while (!CPU_ISSET(first, &all))
    ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  Running running;
  const auto comes_to = [&](const cpu_set_t &expected) {
    for (int i = 0; i < patience_ms; ++i) {
      const cpu_set_t now = processors_of(running.thread.native_handle());
      if (CPU_EQUAL(&now, &expected))
        return true;
      usleep(1000);
    }
    return false;
  };
  for (int round = 0; round < 2; ++round)
    for (const bool pinned : {true, false}) {
      Config config = running.config;
      config.processor = pinned ? static_cast<int>(first) : -1;
      running.daemon->reload(config);
      assert_true(comes_to(pinned ? one : all));
    }
}

static void daemon__is_one_by_name(void **) {
  const Running running;
  std::unique_ptr<Daemon> second;
  std::string error;
  auto surroundings = Running::surroundings(true);
  surroundings.open_device = [](const daemon::DeviceConfig &, std::shared_ptr<link::Device> &,
                                std::string &) {
    fail_msg("%s", "the device is the first one's");
    return 0;
  };
  assert_int_equal(Daemon::create(running.config, surroundings, second, error), -EADDRINUSE);
  assert_true(error.find("another dpdkxd runs") != std::string::npos);
}

static void device__that_cant_be_opened_ends_it(void **) {
  Config config;
  config.socket = fresh_name();
  config.devices.resize(1);
  auto surroundings = Running::surroundings(true);
  surroundings.open_device = [](const daemon::DeviceConfig &, std::shared_ptr<link::Device> &,
                                std::string &error) {
    error = "no such device";
    return -ENODEV;
  };
  std::unique_ptr<Daemon> none;
  std::string error;
  assert_int_equal(Daemon::create(config, surroundings, none, error), -ENODEV);
  assert_string_equal(error.c_str(), "no such device");
}

// It is killed and started anew, and ranks find it.
static void successor__takes_over(void **) {
  auto running = std::make_unique<Running>();
  const Config config = running->config;
  const auto device = running->device();
  Endpoint a, b;
  assert_int_equal(a.open(*device, 1), 0);
  assert_int_equal(b.open(*device, 2), 0);
  assert_true(a.reach(2));
  assert_true(b.reach(1));
  for (int i = 0; i < 20; ++i) {
    running.reset();
    running = std::make_unique<Running>(config);
    bool arrived = false;
    assert_true(a.wait_for([&] {
      a.send("x");
      arrived |= b.look() != 0;
      return arrived;
    }));
    assert_true(b.wait_for([&] {
      b.send("x");
      return a.look() != 0;
    }));
  }
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(ranks__talk_through_it),
    cmocka_unit_test(sleepers__lose_no_wake),
    cmocka_unit_test(device__that_wakes_nobody_is_looked_at),
    cmocka_unit_test(device__that_wakes_nobody_is_looked_at_alone),
    cmocka_unit_test(rank__is_refused_with_a_reason),
    cmocka_unit_test(user__has_its_share),
    cmocka_unit_test(low_ports__are_roots),
    cmocka_unit_test(low_ports__are_roots_for_bulk_too),
    cmocka_unit_test(memory__that_could_fail_is_refused),
    cmocka_unit_test(name__of_no_device_cant_forge_the_log),
    cmocka_unit_test(many__at_once_get_ports_of_their_own),
    cmocka_unit_test(guests__that_want_a_port_that_is_taken_are_all_answered),
    cmocka_unit_test(port__of_a_killed_rank_is_free_again),
    cmocka_unit_test(rank__that_is_stopped_costs_others_nothing),
    cmocka_unit_test(rank__that_passes_what_takes_its_time_costs_others_nothing),
    cmocka_unit_test(rank__that_sends_what_is_no_wake_is_thrown_out),
    cmocka_unit_test(rank__that_writes_nonsense_is_thrown_out),
    cmocka_unit_test(processor__is_what_the_last_reload_says),
    cmocka_unit_test(daemon__is_one_by_name),
    cmocka_unit_test(device__that_cant_be_opened_ends_it),
    cmocka_unit_test(successor__takes_over),
};
static const unit::Group group{"daemon", cases};
