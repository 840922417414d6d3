// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/server.h"

#include "dpdkx/link/host/segment.h"
#include "harness/passing.h"
#include "unit/daemon/fakes.h"

#include <atomic>
#include <barrier>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>

using namespace daemon_test;
using daemon::Guest;
using daemon::Server;
using link::daemon::Ask;
using link::daemon::Reply;
using link::daemon::Request;

namespace {

// A server, and connections to it that say what the test likes.
struct Lab {
  explicit Lab(const std::string &name_ = fresh_name()) : name(name_) {
    std::string error;
    if (server.listen(name, error) != 0)
      fail_msg("%s", error.c_str());
  }

  std::string name;
  std::vector<link::DeviceInfo> devices;
  std::string status;
  std::vector<Guest> attached;
  int attach_result = 0;
  Time now{1h};
  Server server{
      {.devices = [this]() -> const std::vector<link::DeviceInfo> & { return devices; },
       .status = [this] { return status; },
       .attach =
           [this](Guest &guest, const Request &, const link::host::Fd &memory, std::string &error) {
             assert_true(static_cast<bool>(memory));
             error = "as the test likes";
             if (attach_result == 0)
               attached.push_back(std::move(guest));
             return attach_result;
           }}};

  link::host::Fd connect() const {
    link::host::Fd out;
    assert_int_equal(link::daemon::connect_to_daemon(name, out), 0);
    return out;
  }
  link::host::Fd ask(std::string_view bytes) const {
    link::host::Fd out = connect();
    assert_int_equal(send(out.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), bytes.size());
    return out;
  }
  void look() { server.look(now); }
  // What it answers to bytes; with status 1 if it is no reply.
  Reply answer_to(std::string_view bytes) {
    const link::host::Fd socket = ask(bytes);
    look();
    return reply_at(socket);
  }
  // What it answers there, looking as often as that takes.
  Reply answer_at(const link::host::Fd &socket) {
    for (int i = 0; i < patience_ms && !readable(socket.get(), 1); ++i)
      look();
    return reply_at(socket);
  }
  static Reply reply_at(const link::host::Fd &socket) {
    Reply reply{};
    const ssize_t got = recv(socket.get(), &reply, sizeof(reply), MSG_DONTWAIT);
    if (got < 0 || !link::daemon::is_reply(reply, static_cast<std::size_t>(got)))
      reply.status = 1;
    return reply;
  }
};

Request attach_request() {
  Request request = link::daemon::make_request(Ask::attach);
  request.port = 1;
  request.ring_bytes = 64 * 1024;
  return request;
}

link::host::Fd some_memory() {
  link::host::Segment segment;
  link::host::Fd memory;
  assert_int_equal(link::host::Segment::create(64 * 1024, segment, memory), 0);
  return memory;
}

// As many descriptors as the system lets us have, while it exists.
class Descriptors {
public:
  explicit Descriptors(rlim_t wanted) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit now{std::min(wanted, before_.rlim_max), before_.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    got_ = now.rlim_cur;
  }
  ~Descriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  rlim_t got() const { return got_; }

private:
  rlimit before_{};
  rlim_t got_;
};

std::string path_name() { return "/tmp/" + fresh_name().substr(1); }

} // namespace

static void request__is_answered(void **) {
  Lab lab;
  lab.devices.resize(2);
  lab.devices[1].link_name = "net1";
  const link::host::Fd socket = lab.ask(bytes_of(link::daemon::make_request(Ask::devices)));
  lab.look();
  const Reply reply = Lab::reply_at(socket);
  assert_int_equal(reply.status, 0);
  assert_int_equal(reply.count, 2);
  link::daemon::DeviceEntry entry{};
  for (int i = 0; i < 2; ++i)
    assert_int_equal(recv(socket.get(), &entry, sizeof(entry), MSG_DONTWAIT), sizeof(entry));
  assert_string_equal(link::daemon::text_of(entry.link_name).c_str(), "net1");
  assert_int_equal(recv(socket.get(), &entry, sizeof(entry), MSG_DONTWAIT), 0);
  assert_false(lab.server.busy());
  assert_int_equal(lab.server.refused(), 0);
}

static void status__of_any_length_arrives(void **) {
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, link::daemon::text_piece,
                                   link::daemon::text_piece + 1, std::size_t{1} << 20}) {
    Lab lab;
    lab.status = std::string(length, 'j');
    const link::host::Fd socket = lab.ask(bytes_of(link::daemon::make_request(Ask::status)));
    lab.look();
    assert_int_equal(Lab::reply_at(socket).count, length);
    std::size_t got = 0;
    std::vector<char> piece(link::daemon::text_piece);
    for (ssize_t n; (n = recv(socket.get(), piece.data(), piece.size(), MSG_DONTWAIT)) > 0;)
      got += static_cast<std::size_t>(n);
    if (geteuid() == 0 || length < 200'000) // else the system's limit may cut it off
      assert_int_equal(got, length);
  }
}

static void nonsense__is_refused(void **) {
  Lab lab;
  Request request = link::daemon::make_request(Ask::devices);
  assert_int_equal(lab.answer_to("hello").status, -EPROTO);
  assert_int_equal(lab.answer_to(bytes_of(request) + "x").status, -EPROTO);
  assert_int_equal(lab.answer_to(bytes_of(request).substr(1)).status, -EPROTO);
  request.version = 99;
  assert_int_equal(lab.answer_to(bytes_of(request)).status, -EPROTONOSUPPORT);
  assert_int_equal(lab.answer_to(bytes_of(attach_request())).status, -EPROTO);
  assert_int_equal(lab.server.refused(), 5);
  { // Who says nothing and goes is no matter.
    const link::host::Fd gone = lab.connect();
  }
  lab.look();
  assert_int_equal(lab.server.refused(), 5);
  assert_false(lab.server.busy());
}

static void guest__that_attaches_is_handed_on(void **) {
  Lab lab;
  const link::host::Fd memory = some_memory();
  link::host::Fd socket = lab.connect();
  const Request request = attach_request();
  assert_int_equal(
      link::host::send_with_memory(socket, std::as_bytes(std::span(&request, 1)), memory), 0);
  lab.look();
  assert_int_equal(lab.attached.size(), 1);
  assert_int_equal(lab.attached[0].who.pid, getpid());
  assert_int_equal(lab.attached[0].who.uid, geteuid());
  assert_int_equal(Lab::reply_at(socket).status, 1); // who takes it over answers
  lab.attach_result = -EUSERS;
  socket = lab.connect();
  assert_int_equal(
      link::host::send_with_memory(socket, std::as_bytes(std::span(&request, 1)), memory), 0);
  lab.look();
  const Reply reply = Lab::reply_at(socket);
  assert_int_equal(reply.status, -EUSERS);
  assert_string_equal(link::daemon::text_of(reply.text).c_str(), "as the test likes");
}

static void guest__that_passes_several_descriptors_is_refused(void **) {
  for (const std::size_t count : {std::size_t{2}, std::size_t{4}, std::size_t{200}}) {
    Lab lab;
    const link::host::Fd memory = some_memory(), socket = lab.connect();
    const Request request = attach_request();
    const std::vector<int> fds(count, memory.get());
    assert_int_equal(harness::send_passing(socket.get(), std::as_bytes(std::span(&request, 1)), fds,
                                           MSG_NOSIGNAL),
                     sizeof(request));
    const int free_before = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(free_before);
    lab.look();
    assert_int_equal(Lab::reply_at(socket).status, -EPROTO);
    int free_after = -1; // it keeps none
    for (int i = 0; i < patience_ms && free_after != free_before; ++i) {
      free_after = open("/dev/null", O_RDONLY | O_CLOEXEC);
      close(free_after);
      usleep(1000);
    }
    assert_int_equal(free_after, free_before);
    assert_true(lab.attached.empty());
  }
}

// Who has nothing but time closes it: else this would wait for a minute.
static void guest__that_passes_what_takes_its_time_costs_none(void **) {
  Lab lab;
  Lingering one, another;
  link::host::Fd socket = lab.connect();
  const Request request = link::daemon::make_request(Ask::devices);
  assert_int_equal(
      link::host::send_with_memory(socket, std::as_bytes(std::span(&request, 1)), one.end), 0);
  one.end.reset();
  lab.look();
  assert_int_equal(Lab::reply_at(socket).status, -EPROTO); // it passes memory for nothing
  // And behind what is read.
  socket = lab.ask(bytes_of(request));
  assert_int_equal(
      link::host::send_with_memory(socket, std::as_bytes(std::span(&request, 1)), another.end), 0);
  another.end.reset();
  lab.look();
  assert_int_equal(Lab::reply_at(socket).status, 0);
  socket = lab.ask(bytes_of(request));
  lab.look();
  assert_int_equal(Lab::reply_at(socket).status, 0);
}

static void guest__that_says_nothing_is_given_up(void **) {
  Lab lab;
  const link::host::Fd socket = lab.connect();
  lab.look();
  assert_true(lab.server.busy());
  lab.now += 9s;
  lab.look();
  assert_true(lab.server.busy());
  lab.now += 2s;
  lab.look();
  assert_false(lab.server.busy());
  assert_int_equal(Lab::reply_at(socket).status, -ETIMEDOUT);
}

static void guests__that_say_nothing_keep_nobody_out(void **) {
  if (Descriptors(4096).got() < 2600)
    skip();
  const Descriptors descriptors(4096);
  Lab lab;
  std::vector<link::host::Fd> silent;
  for (int i = 0; i < 1200; ++i) {
    silent.push_back(lab.connect());
    if (i % 64 == 63)
      lab.look();
  }
  for (int i = 0; i < 10; ++i)
    lab.look();
  const link::host::Fd socket = lab.ask(bytes_of(link::daemon::make_request(Ask::devices)));
  lab.look();
  assert_int_equal(Lab::reply_at(socket).status, 0);
  assert_int_equal(Lab::reply_at(silent.front()).status, -ETIMEDOUT);
}

static std::size_t descriptors_below(int limit) {
  std::size_t n = 0;
  for (int fd = 0; fd < limit; ++fd)
    n += fcntl(fd, F_GETFD) >= 0;
  return n;
}

static void descriptors__that_run_out_are_told(void **) {
  constexpr int limit = 128;
  Lab lab;
  const std::size_t idle = descriptors_below(limit);
  link::host::Fd silent[] = {lab.connect(), lab.connect(), lab.connect()};
  lab.look();
  link::host::Fd asks = lab.ask(bytes_of(link::daemon::make_request(Ask::devices)));
  const Descriptors few(limit);
  std::vector<int> taken;
  const auto take_all = [&] {
    for (int fd; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;)
      taken.push_back(fd);
  };
  take_all();
  // Room is made by one who says nothing, as soon as another thread has closed its end.
  assert_int_equal(lab.answer_at(asks).status, 0);
  assert_int_equal(Lab::reply_at(silent[0]).status, -ETIMEDOUT);
  assert_int_equal(Lab::reply_at(silent[1]).status, 1);
  for (link::host::Fd &socket : silent)
    socket.reset();
  lab.look();
  assert_false(lab.server.busy());
  // Ours of `asks` is left.
  while (descriptors_below(limit) > idle + taken.size() + 1)
    std::this_thread::yield();
  asks = lab.ask(bytes_of(link::daemon::make_request(Ask::devices)));
  take_all();
  // And where nobody is, the one who has come is told.
  assert_int_equal(lab.answer_at(asks).status, -EMFILE);
  assert_true(lab.server.busy()); // to look again soon
  for (const int fd : taken)
    close(fd);
  asks = lab.ask(bytes_of(link::daemon::make_request(Ask::devices)));
  assert_int_equal(lab.answer_at(asks).status, 0);
  assert_false(lab.server.busy());
}

// Of whom there are more at once than descriptors.
static void descriptors__that_run_out_cost_nobody_an_answer(void **) {
  Lab lab;
  std::vector<link::host::Fd> sockets;
  for (int i = 0; i < 10; ++i)
    sockets.push_back(lab.ask(bytes_of(link::daemon::make_request(Ask::devices))));
  const Descriptors few(128);
  std::vector<int> taken;
  for (int fd; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;)
    taken.push_back(fd);
  for (int i = 0; i < 3; ++i, taken.pop_back())
    close(taken.back());
  for (const link::host::Fd &socket : sockets)
    assert_int_equal(lab.answer_at(socket).status, 0);
  for (const int fd : taken)
    close(fd);
  assert_int_equal(lab.server.refused(), 0);
}

// Neither of who has to go as there are none left, nor of who passes some then.
static void descriptors__that_run_out_are_not_waited_for(void **) {
  Lab lab;
  Lingering one, another;
  const link::host::Fd silent = lab.connect(), passes = lab.connect();
  lab.look();
  const Request request = attach_request();
  const auto pass = [&](const link::host::Fd &socket, link::host::Fd &end) {
    assert_int_equal(
        link::host::send_with_memory(socket, std::as_bytes(std::span(&request, 1)), end), 0);
    end.reset();
  };
  pass(passes, one.end);
  const link::host::Fd late = lab.connect(), later = lab.connect();
  pass(late, another.end);
  const Descriptors few(128);
  std::vector<int> taken;
  for (int fd; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;)
    taken.push_back(fd);
  const Time begin = SystemClock::instance().now();
  assert_int_equal(lab.answer_at(passes).status, -EMFILE);
  for (int i = 0; i < 10; ++i)
    lab.look();
  assert_true(SystemClock::instance().now() - begin < 10s); // and not a minute
  for (const int fd : taken)
    close(fd);
}

static void undertaker__closes_others_while_one_takes_its_time(void **) {
  daemon::Undertaker undertaker;
  std::string error;
  assert_int_equal(undertaker.start(error), 0);
  Lingering some[3];
  for (Lingering &one : some) {
    undertaker.take(std::move(one.end));
    usleep(20'000);
  }
  auto [ours, its] = socket_pair();
  undertaker.take(std::move(its));
  assert_true(readable(ours.get(), patience_ms));
}

// It has yet to read what it was answered, and what it asked lies unread, as who is refused knows.
static void undertaker__takes_nothing_back_from_the_other_end(void **) {
  for (const bool by_thread : {false, true}) {
    auto [ours, its] = socket_pair();
    for (int i = 0; i < 3; ++i)
      assert_int_equal(send(ours.get(), "ask", 3, 0), 3);
    assert_int_equal(send(its.get(), "no", 2, 0), 2);
    {
      daemon::Undertaker undertaker;
      std::string error;
      if (by_thread)
        assert_int_equal(undertaker.start(error), 0);
      undertaker.take_socket(std::move(its));
    } // and now it is closed
    char answer[4];
    assert_int_equal(recv(ours.get(), answer, sizeof(answer), MSG_DONTWAIT), 2);
    assert_int_equal(recv(ours.get(), answer, sizeof(answer), MSG_DONTWAIT), 0);
  }
}

static void many__at_once_are_all_served(void **) {
  Lab lab;
  std::vector<link::host::Fd> sockets;
  for (int i = 0; i < 300; ++i)
    sockets.push_back(lab.ask(bytes_of(link::daemon::make_request(Ask::devices))));
  for (int i = 0; i < 6; ++i)
    lab.look();
  for (const link::host::Fd &socket : sockets)
    assert_int_equal(Lab::reply_at(socket).status, 0);
}

static void name__that_is_none_is_refused(void **) {
  Lab lab;
  Server server({});
  std::string error;
  for (const char *name : {"", "dpdkxd", "@", "/"}) {
    assert_int_equal(server.listen(name, error), -EINVAL);
    assert_true(error.find("allowed: @NAME, or a path") != std::string::npos);
  }
  assert_int_equal(server.listen("/nonexistent/folder/s", error), -ENOENT);
  assert_int_equal(server.listen(lab.name, error), -EADDRINUSE);
  assert_true(error.find("another dpdkxd runs") != std::string::npos);
}

static void path__is_open_to_all_and_goes_with_its_server(void **) {
  const std::string path = path_name();
  struct stat status;
  {
    const Lab lab(path);
    assert_int_equal(stat(path.c_str(), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0666);
    Server second({});
    std::string error;
    assert_int_equal(second.listen(path, error), -EADDRINUSE);
  }
  assert_int_equal(stat(path.c_str(), &status), -1);
}

static void path__that_a_killed_daemon_has_left_is_taken_over(void **) {
  const std::string path = path_name();
  {
    link::host::Fd left;
    assert_int_equal(link::host::listen_at(link::host::SocketName::path(path), left), 0);
  }
  const Lab lab(path);
  assert_int_equal(Lab::reply_at(lab.ask("x")).status, 1);
}

// It is bound already, and doesn't listen yet: as one that was left.
static void path__that_another_is_taking_over_is_left_to_it(void **) {
  const std::string path = path_name(), lock = path + ".lock";
  const int locked = open(lock.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  assert_int_equal(flock(locked, LOCK_EX | LOCK_NB), 0);
  const link::host::SocketName name = link::host::SocketName::path(path);
  const link::host::Fd other = link::host::make_socket();
  assert_int_equal(bind(other.get(), name.get(), name.length), 0);
  {
    Server server({});
    std::string error;
    assert_int_equal(server.listen(path, error), -EADDRINUSE);
    assert_true(error.find("another dpdkxd has locked " + lock) != std::string::npos);
  }
  assert_int_equal(listen(other.get(), 1), 0);
  link::host::Fd rank;
  assert_int_equal(link::daemon::connect_to_daemon(path, rank), 0);
  close(locked);
  assert_int_equal(unlink(lock.c_str()), 0);
  assert_int_equal(unlink(path.c_str()), 0);
}

// Each finds that nobody listens there, at the same moment.
static void path__that_many_take_over_at_once_is_ones(void **) {
  constexpr int daemons = 8, rounds = 50;
  for (int round = 0; round < rounds; ++round) {
    const std::string path = path_name();
    {
      link::host::Fd left;
      assert_int_equal(link::host::listen_at(link::host::SocketName::path(path), left), 0);
    }
    std::vector<std::unique_ptr<Server>> servers;
    for (int i = 0; i < daemons; ++i)
      servers.push_back(std::make_unique<Server>(Server::Handlers{}));
    std::barrier start(daemons);
    std::atomic<int> listen = 0, others = 0;
    std::vector<std::thread> threads;
    for (const auto &server : servers)
      threads.emplace_back([&] {
        std::string error;
        start.arrive_and_wait();
        const int rc = server->listen(path, error);
        listen += rc == 0;
        others += rc == -EADDRINUSE;
      });
    for (std::thread &thread : threads)
      thread.join();
    assert_int_equal(listen, 1);
    assert_int_equal(others, daemons - 1);
    link::host::Fd rank; // and the one that listens is found
    assert_int_equal(link::daemon::connect_to_daemon(path, rank), 0);
  }
}

static void lock__of_a_path_goes_with_its_server(void **) {
  const std::string path = path_name(), lock = path + ".lock";
  struct stat status;
  {
    const Lab lab(path);
    assert_int_equal(stat(lock.c_str(), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    Server second({});
    std::string error;
    assert_int_equal(second.listen(path, error), -EADDRINUSE);
    assert_true(error.find(lock) != std::string::npos);
  }
  assert_int_equal(stat(lock.c_str(), &status), -1);
  // Of one that was killed, it stays, and says nothing.
  close(open(lock.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  const Lab next(path);
  assert_int_equal(Lab::reply_at(next.ask("x")).status, 1);
}

static void path__that_is_a_file_is_left_alone(void **) {
  const std::string path = path_name();
  close(open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  {
    Server server({});
    std::string error;
    assert_int_equal(server.listen(path, error), -EEXIST);
    assert_true(error.find("a file of another kind") != std::string::npos);
  }
  assert_int_equal(unlink(path.c_str()), 0);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(request__is_answered),
    cmocka_unit_test(status__of_any_length_arrives),
    cmocka_unit_test(nonsense__is_refused),
    cmocka_unit_test(guest__that_attaches_is_handed_on),
    cmocka_unit_test(guest__that_passes_several_descriptors_is_refused),
    cmocka_unit_test(guest__that_passes_what_takes_its_time_costs_none),
    cmocka_unit_test(guest__that_says_nothing_is_given_up),
    cmocka_unit_test(guests__that_say_nothing_keep_nobody_out),
    cmocka_unit_test(descriptors__that_run_out_are_told),
    cmocka_unit_test(descriptors__that_run_out_cost_nobody_an_answer),
    cmocka_unit_test(descriptors__that_run_out_are_not_waited_for),
    cmocka_unit_test(undertaker__closes_others_while_one_takes_its_time),
    cmocka_unit_test(undertaker__takes_nothing_back_from_the_other_end),
    cmocka_unit_test(many__at_once_are_all_served),
    cmocka_unit_test(name__that_is_none_is_refused),
    cmocka_unit_test(path__is_open_to_all_and_goes_with_its_server),
    cmocka_unit_test(path__that_a_killed_daemon_has_left_is_taken_over),
    cmocka_unit_test(path__that_another_is_taking_over_is_left_to_it),
    cmocka_unit_test(path__that_many_take_over_at_once_is_ones),
    cmocka_unit_test(lock__of_a_path_goes_with_its_server),
    cmocka_unit_test(path__that_is_a_file_is_left_alone),
};
static const unit::Group group{"server", cases};
