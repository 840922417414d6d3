// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/daemon/client.h"

#include "unit/link_daemon/harness.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <pthread.h>
#include <thread>
#include <unistd.h>

using namespace link_daemon;

namespace {

// Answers one request with these messages, or with none.
void answer(FakeDaemon &daemon, const std::vector<std::string> &messages) {
  host::Fd socket, memory;
  Request request;
  daemon.hear(socket, request, memory);
  for (const std::string &message : messages)
    assert_int_equal(::send(socket.get(), message.data(), message.size(), MSG_NOSIGNAL),
                     message.size());
}

template <class T> std::string bytes_of(const T &value) {
  return {reinterpret_cast<const char *>(&value), sizeof(value)};
}

Reply reply_with(std::uint32_t count) {
  Reply reply = make_reply(0);
  reply.count = count;
  return reply;
}

struct Asked {
  int rc = 0;
  std::vector<DeviceInfo> devices;
  std::string error;
};

Asked ask_devices(const std::vector<std::string> &messages) {
  const std::string name = fresh_name();
  FakeDaemon daemon(name);
  Asked out;
  std::thread rank([&] { out.rc = daemon_devices(name, out.devices, out.error); });
  answer(daemon, messages);
  rank.join();
  return out;
}

bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

} // namespace

static void client__tells_that_there_is_no_daemon(void **) {
  std::vector<DeviceInfo> devices;
  std::string error;
  assert_int_equal(daemon_devices(fresh_name(), devices, error), -ECONNREFUSED);
  assert_true(contains(error, "no dpdkxd listens at @"));
  assert_int_equal(daemon_devices("/nonexistent/dpdkxd", devices, error), -ECONNREFUSED);
  assert_true(contains(error, "no dpdkxd listens at /nonexistent/dpdkxd"));
}

static void client__lists_devices(void **) {
  DeviceInfo second = link_daemon::device_info();
  second.link_name = "net1";
  const Asked got =
      ask_devices({bytes_of(reply_with(2)), bytes_of(make_entry(link_daemon::device_info())),
                   bytes_of(make_entry(second))});
  assert_int_equal(got.rc, 0);
  assert_int_equal(got.devices.size(), 2);
  assert_string_equal(got.devices[0].link_name.c_str(), "net0");
  assert_string_equal(got.devices[1].link_name.c_str(), "net1");
}

static void client__takes_no_answer_that_isnt_whole(void **) {
  const std::string entry = bytes_of(make_entry(link_daemon::device_info()));
  Asked got = ask_devices({bytes_of(reply_with(2)), entry});
  assert_int_equal(got.rc, -EPROTO);
  assert_true(contains(got.error, "broken off"));
  got = ask_devices({bytes_of(reply_with(1)), entry.substr(1)});
  assert_int_equal(got.rc, -EPROTO);
  got = ask_devices({});
  assert_int_equal(got.rc, -ECONNRESET);
  assert_true(contains(got.error, "closed the connection"));
  got = ask_devices({"hello"});
  assert_int_equal(got.rc, -EPROTO);
  assert_true(contains(got.error, "another version"));
  got = ask_devices({bytes_of(make_reply(-EPROTONOSUPPORT, "too old"))});
  assert_int_equal(got.rc, -EPROTONOSUPPORT);
  assert_true(contains(got.error, "too old"));
}

static void client__believes_in_no_device_that_cant_be(void **) {
  DeviceInfo wrong = link_daemon::device_info();
  wrong.mtu = 0;
  const Asked got =
      ask_devices({bytes_of(reply_with(2)), bytes_of(make_entry(link_daemon::device_info())),
                   bytes_of(make_entry(wrong))});
  assert_int_equal(got.rc, -EPROTO);
  assert_true(contains(got.error, "tells of a device that can't be: its MTU"));
}

static void client__reads_a_status_in_pieces(void **) {
  const std::string name = fresh_name(), text(text_piece + 17, 'j');
  FakeDaemon daemon(name);
  std::string json, error;
  int rc = 0;
  std::thread rank([&] { rc = daemon_status(name, json, error); });
  answer(daemon, {bytes_of(reply_with(static_cast<std::uint32_t>(text.size()))),
                  text.substr(0, text_piece), text.substr(text_piece)});
  rank.join();
  assert_int_equal(rc, 0);
  assert_true(json == text);
}

static void client__finds_its_device(void **) {
  const std::string name = fresh_name();
  FakeDaemon daemon(name);
  for (const char *wanted : {"net0", "net7"}) {
    std::shared_ptr<Device> device;
    std::string error;
    int rc = 0;
    std::thread rank([&] { rc = open_daemon_device({.socket = name}, wanted, device, error); });
    answer(daemon, {bytes_of(reply_with(1)), bytes_of(make_entry(link_daemon::device_info()))});
    rank.join();
    if (std::string_view(wanted) == "net0") {
      assert_int_equal(rc, 0);
      assert_string_equal(device->info().link_name.c_str(), "net0");
      assert_true(device->statistics().empty());
    } else {
      assert_int_equal(rc, -ENODEV);
      assert_string_equal(error.c_str(),
                          ("dpdkxd at " + name + ": no device 'net7'; allowed: net0").c_str());
    }
  }
}

static void client__gives_a_silent_daemon_up(void **) {
  const std::string name = fresh_name();
  const FakeDaemon daemon(name);
  std::vector<DeviceInfo> devices;
  std::string error;
  assert_int_equal(daemon_devices(name, devices, error, 50ms), -ETIMEDOUT);
  assert_true(contains(error, "doesn't answer"));
}

// An application's signals (a timer's, a debugger's) interrupt what waits.
static void client__waits_on_after_a_signal(void **) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &before);
  const std::string name = fresh_name();
  FakeDaemon daemon(name);
  Asked got;
  std::thread rank([&] { got.rc = daemon_devices(name, got.devices, got.error); });
  host::Fd socket, memory;
  Request request;
  daemon.hear(socket, request, memory);
  for (int i = 0; i < 20; ++i) {
    pthread_kill(rank.native_handle(), SIGUSR1);
    usleep(1000); // so that some of them come while it waits
  }
  const std::string whole = bytes_of(reply_with(0));
  (void)::send(socket.get(), whole.data(), whole.size(), MSG_NOSIGNAL);
  rank.join();
  sigaction(SIGUSR1, &before, nullptr);
  if (got.rc != 0)
    fail_msg("%s", got.error.c_str());
}

// Who is refused before it has been heard is told of a reset connection first.
static void client__hears_a_refusal_before_it_is_heard(void **) {
  const std::string name = fresh_name();
  FakeDaemon daemon(name);
  host::Fd rank;
  assert_int_equal(connect_to_daemon(name, rank), 0);
  assert_int_equal(::send(rank.get(), "x", 1, MSG_NOSIGNAL), 1);
  daemon.turn_away(-EMFILE, "no descriptors");
  Reply reply;
  std::string error;
  assert_int_equal(receive_reply(name, rank, reply, error, 1s), -EMFILE);
  assert_true(contains(error, "no descriptors"));
}

// Anybody may take the name while no daemon has it.
static void client__believes_root_and_its_own_user_alone(void **) {
  if (geteuid() != 0)
    skip();
  const std::string name = fresh_name();
  int ready[2], end[2];
  assert_int_equal(pipe(ready), 0);
  assert_int_equal(pipe(end), 0);
  const pid_t impostor = in_child([&] {
    if (seteuid(65534) != 0)
      return false;
    host::Fd listener;
    const bool listens = host::listen_at(host::SocketName::abstract(name.substr(1)), listener) == 0;
    char unused;
    close(end[1]);
    return write(ready[1], listens ? "y" : "n", 1) == 1 && read(end[0], &unused, 1) == 0 && listens;
  });
  char listens = 0;
  assert_int_equal(read(ready[0], &listens, 1), 1);
  assert_int_equal(listens, 'y');
  std::vector<DeviceInfo> devices;
  std::string error;
  assert_int_equal(daemon_devices(name, devices, error, 1s), -EPERM);
  assert_true(contains(error, "is a process of user 65534"));
  // To whom that user's own daemon is good.
  assert_true(succeeded(in_child([&] {
    return seteuid(65534) == 0 && daemon_devices(name, devices, error, 10ms) == -ETIMEDOUT;
  })));
  close(end[1]);
  assert_true(succeeded(impostor));
  for (const int fd : {ready[0], ready[1], end[0]})
    close(fd);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(client__tells_that_there_is_no_daemon),
    cmocka_unit_test(client__lists_devices),
    cmocka_unit_test(client__takes_no_answer_that_isnt_whole),
    cmocka_unit_test(client__believes_in_no_device_that_cant_be),
    cmocka_unit_test(client__reads_a_status_in_pieces),
    cmocka_unit_test(client__finds_its_device),
    cmocka_unit_test(client__gives_a_silent_daemon_up),
    cmocka_unit_test(client__waits_on_after_a_signal),
    cmocka_unit_test(client__hears_a_refusal_before_it_is_heard),
    cmocka_unit_test(client__believes_root_and_its_own_user_alone),
};
static const unit::Group group{"client", cases};
