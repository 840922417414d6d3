// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/program.h"

#include "dpdkx/daemon/status_json.h"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

#include "unit/daemon/captured.h"
#include "unit/daemon/example.h"
#include "unit/daemon/fake_service.h"
#include "unit/daemon/notify_socket.h"
#include "unit/daemon/text.h"

using namespace dpdkx::daemon;

namespace {

struct Run {
  int code;
  std::string out, errors;
};

Run run(std::vector<const char *> arguments, Surroundings around) {
  Run result;
  const Captured errors(STDERR_FILENO);
  arguments.insert(arguments.begin(), "dpdkxd");
  if (!around.out)
    around.out = [&](std::string_view text) {
      result.out += text;
      return true;
    };
  result.code = run_program(static_cast<int>(arguments.size()), arguments.data(), around);
  result.errors = errors.text();
  return result;
}

int no_service(const Config &, std::unique_ptr<Service> &, std::string &error) {
  error = "FI_DPDKX_DEVICE: 'eth0': no";
  return -ENODEV;
}

int example(const std::string &socket, std::string &json, std::string &) {
  assert_string_equal(socket.c_str(), "@x");
  json = status_to_json(example_status());
  return 0;
}

int nobody(const std::string &socket, std::string &, std::string &error) {
  error = "socket: '" + socket + "': nobody";
  return -ECONNREFUSED;
}

// A file that is gone with it.
class File {
public:
  explicit File(const std::string &text)
      : path_(std::filesystem::temp_directory_path() / ("prog" + std::to_string(getpid()))) {
    write(text);
  }
  ~File() { std::filesystem::remove(path_); }
  void write(const std::string &text) const { std::ofstream(path_) << text; }
  const char *path() const { return path_.c_str(); }

private:
  std::filesystem::path path_;
};

} // namespace

static void program__tells_its_version(void **) {
  const Run r = run({"--version"}, {no_service, nobody, {}});
  assert_int_equal(r.code, 0);
  assert_true(r.out.starts_with("dpdkxd "));
}

static void program__what_is_not_allowed_is_2(void **) {
  Run r = run({"--mtu", "7", "--config", "/dev/null"}, {no_service, nobody, {}});
  assert_int_equal(r.code, 2);
  expect_equal(r.errors, "dpdkxd: --mtu: '7'; allowed: number, 576 to 9978, or 0\n");
  r = run({"--config", "/dev/null"}, {no_service, nobody, {}});
  assert_int_equal(r.code, 2);
  expect_parts(r.errors, {"dpdkxd: device: none; allowed: ", "/dev/null"});
  const File file("# one\nmtu = 7\n");
  r = run({"--config", file.path()}, {no_service, nobody, {}});
  assert_int_equal(r.code, 2);
  expect_parts(r.errors, {":2: mtu: '7'; allowed: "});
}

static void program__what_cannot_start_is_1(void **) {
  const Run r = run({"--device", "eth0", "--config", "/dev/null"}, {no_service, nobody, {}});
  assert_int_equal(r.code, 1);
  expect_equal(r.errors, "dpdkxd: device: 'eth0': no\n");
}

static void program__status_in_three_forms(void **) {
  Run r = run({"status", "--socket", "@x", "--config", "/dev/null"}, {no_service, example, {}});
  assert_int_equal(r.code, 0);
  expect_parts(r.out, {"dpdkxd 0.1.0, pid 99", "10.0.0.1:49152"});
  r = run({"status", "--json", "--socket", "@x", "--config", "/dev/null"},
          {no_service, example, {}});
  assert_int_equal(r.code, 0);
  expect_parts(r.out, {"\n  \"pid\": 99,\n"});
  r = run({"metrics", "--socket", "@x", "--config", "/dev/null"}, {no_service, example, {}});
  assert_int_equal(r.code, 0);
  expect_parts(r.out, {"# TYPE dpdkxd_turns_total counter\n"});
}

// What is missing depends on where the test runs; what is wrong here doesn't.
static void program__check_of_what_is_not_there_is_1(void **) {
  const Run r =
      run({"check", "--device", "ffff:ff:1f.7", "--config", "/dev/null"}, {no_service, nobody, {}});
  assert_int_equal(r.code, 1);
  expect_parts(r.out, {"missing  ffff:ff:1f.7: device: 'ffff:ff:1f.7': no such PCI device",
                       "dpdkxd would not start\n"});
}

static void program__status_of_nobody_is_1(void **) {
  for (const char *command : {"status", "metrics"}) {
    const Run r = run({command, "--config", "/dev/null"}, {no_service, nobody, {}});
    assert_int_equal(r.code, 1);
    expect_equal(r.errors, "dpdkxd: socket: '@dpdkxd': nobody\n");
  }
}

static void program__who_asks_needs_the_socket_alone(void **) {
  const File file("socket = \"@x\"\nprocessor = 99999\n");
  Run r = run({"status", "--config", file.path()}, {no_service, example, {}});
  assert_int_equal(r.code, 0);
  r = run({"status", "--socket", "@x", "--config", "/does/not/exist"}, {no_service, example, {}});
  assert_int_equal(r.code, 0);
  r = run({"status", "--config", "/does/not/exist"}, {no_service, example, {}});
  assert_int_equal(r.code, 2);
}

static void program__watches_until_nobody_is_there(void **) {
  int asked = 0;
  const auto ask = [&](const std::string &socket, std::string &json, std::string &error) {
    Status status = example_status();
    status.up += std::chrono::seconds(asked);
    json = status_to_json(status);
    return ++asked < 3 ? 0 : nobody(socket, json, error);
  };
  const Run r = run({"status", "--watch", "0.1", "--config", "/dev/null"}, {no_service, ask, {}});
  assert_int_equal(r.code, 1);
  assert_int_equal(asked, 3);
  expect_parts(r.out, {"turns 1000000", "turns/s 0"});
}

static void program__output_that_fails_is_told(void **) {
  const Run r = run({"--version"}, {no_service, nobody, [](std::string_view) {
                                      errno = ENOSPC;
                                      return false;
                                    }});
  assert_int_equal(r.code, 1);
  expect_parts(r.errors, {"dpdkxd: standard output: No space left"});
}

// Its whole life as a service: ready, read again, again with a fault, stopped.
static void program__serves_reloads_and_stops(void **) {
  const NotifySocket systemd;
  const File file("device = eth0\nmax-ranks = 5\n");
  FakeWorld world;
  Run r;
  {
    // Signals are the process's: other threads must not take them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::thread life([&] {
      r = run({"--config", file.path(), "--mtu", "1400"}, {open_fake(world), nobody, {}});
    });
    expect_equal(systemd.next(), "READY=1");
    world.wait([&] { return world.running; });

    file.write("device = eth1\nmax-ranks = 6\nmtu = 1500\n");
    kill(getpid(), SIGHUP);
    assert_true(systemd.next().starts_with("RELOADING=1\n"));
    expect_equal(systemd.next(), "READY=1");

    file.write("max-ranks = lots\n");
    kill(getpid(), SIGHUP);
    assert_true(systemd.next().starts_with("RELOADING=1\n"));
    expect_equal(systemd.next(), "READY=1");

    kill(getpid(), SIGTERM);
    expect_equal(systemd.next(), "STOPPING=1");
    life.join();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  assert_int_equal(r.code, 0);
  assert_true(world.gone);
  assert_int_equal(world.configs.size(), 2); // the reload with a fault has changed nothing
  assert_int_equal(world.configs[0].max_ranks, 5);
  assert_int_equal(world.configs[1].max_ranks, 6);
  const DeviceConfig &device = world.configs[1].devices.at(0);
  expect_equal(device.request.spec.interface, "eth0");
  assert_int_equal(device.options.mtu, 1400);
  expect_parts(r.errors, {":1: device: 'eth1' takes a restart; stays 'eth0'\n",
                          ":1: max-ranks: 'lots'; allowed: ", "(nothing has changed)\n",
                          "dpdkxd: stops: Terminated\n"});
  assert_true(r.errors.find("mtu") == std::string::npos); // which the command line gives
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(program__tells_its_version),
    cmocka_unit_test(program__what_is_not_allowed_is_2),
    cmocka_unit_test(program__what_cannot_start_is_1),
    cmocka_unit_test(program__status_in_three_forms),
    cmocka_unit_test(program__check_of_what_is_not_there_is_1),
    cmocka_unit_test(program__status_of_nobody_is_1),
    cmocka_unit_test(program__who_asks_needs_the_socket_alone),
    cmocka_unit_test(program__watches_until_nobody_is_there),
    cmocka_unit_test(program__output_that_fails_is_told),
    cmocka_unit_test(program__serves_reloads_and_stops),
};
static const unit::Group group{"program", cases};
