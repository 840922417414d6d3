// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/check/command/device.h"

#include "unit/daemon/text.h"
#include "unit/link_daemon/harness.h"

#include <cstdlib>
#include <thread>

using namespace dpdkx;
using link_daemon::FakeDaemon;

namespace {

struct Opened {
  bool well = false;
  std::shared_ptr<link::Device> device;
  std::string error;
};

Opened open(const Settings &settings) {
  Opened out;
  out.well = check::open_device(settings, out.device, out.error);
  return out;
}

// Of a dpdkxd with so many devices, which is asked so many times.
Opened open_of_daemon(std::uint32_t devices, int questions) {
  Settings settings;
  settings.daemon.socket = link_daemon::fresh_name();
  FakeDaemon daemon(settings.daemon.socket);
  Opened out;
  std::thread program([&] { out = open(settings); });
  for (int i = 0; i < questions; ++i) {
    link::host::Fd socket, memory;
    link::daemon::Request request;
    daemon.hear(socket, request, memory);
    link::daemon::Reply reply = link::daemon::make_reply(0);
    reply.count = devices;
    assert_int_equal(::send(socket.get(), &reply, sizeof(reply), MSG_NOSIGNAL), sizeof(reply));
    for (std::uint32_t k = 0; k < devices; ++k) {
      link::DeviceInfo info = link_daemon::device_info();
      info.link_name = "net" + std::to_string(k);
      const link::daemon::DeviceEntry entry = link::daemon::make_entry(info);
      assert_int_equal(::send(socket.get(), &entry, sizeof(entry), MSG_NOSIGNAL), sizeof(entry));
    }
  }
  program.join();
  return out;
}

} // namespace

static void environment__is_read_as_the_provider_does(void **) {
  Settings settings;
  std::string error;
  assert_int_equal(setenv("FI_DPDKX_DAEMON", "@elsewhere", 1), 0);
  assert_true(check::read_environment(settings, error));
  expect_equal(settings.daemon.socket, "@elsewhere");
  assert_int_equal(setenv("FI_DPDKX_MTU", "7", 1), 0);
  assert_false(check::read_environment(settings, error));
  expect_parts(error, {"FI_DPDKX_MTU", "'7'", "576"});
  unsetenv("FI_DPDKX_MTU");
  unsetenv("FI_DPDKX_DAEMON");
}

static void device__needs_one_or_dpdkxd(void **) {
  Settings settings;
  settings.use_daemon = false;
  Opened got = open(settings);
  assert_false(got.well);
  expect_equal(got.error,
               "FI_DPDKX_DEVICE is not set and FI_DPDKX_DAEMON is 'no'; allowed: a device, or "
               "dpdkxd");
  settings.use_daemon = true;
  settings.daemon.socket = link_daemon::fresh_name();
  got = open(settings);
  assert_false(got.well);
  expect_parts(got.error, {"FI_DPDKX_DEVICE is not set, and there is no dpdkxd: ",
                           settings.daemon.socket.c_str()});
}

static void device__is_the_first_of_dpdkxds(void **) {
  const Opened got = open_of_daemon(2, 2);
  assert_true(got.well);
  expect_equal(got.device->info().link_name, "net0");
}

static void device__of_a_dpdkxd_that_has_none(void **) {
  const Opened got = open_of_daemon(0, 1);
  assert_false(got.well);
  expect_parts(got.error, {"dpdkxd at @", " has no device"});
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(environment__is_read_as_the_provider_does),
    cmocka_unit_test(device__needs_one_or_dpdkxd),
    cmocka_unit_test(device__is_the_first_of_dpdkxds),
    cmocka_unit_test(device__of_a_dpdkxd_that_has_none),
};
static const unit::Group group{"device", cases};
