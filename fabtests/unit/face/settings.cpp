// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/settings.h"

#include "dpdkx/base/cpus.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <rdma/fi_errno.h>
#include <set>
#include <sstream>

#include "unit/unit.h"

using namespace dpdkx;

namespace {

std::map<std::string, std::string> given; // name: value

const char *from_given(const Setting &setting) {
  const auto found = given.find(setting.name);
  return found == given.end() ? nullptr : found->second.c_str();
}

int read(std::map<std::string, std::string> values, Settings &out, std::string &error) {
  given = std::move(values);
  return read_settings(from_given, out, error);
}

} // namespace

static void settings__defaults_are_valid(void **) {
  Settings settings;
  std::string error;
  assert_int_equal(read({}, settings, error), 0);
  assert_true(settings.devices.empty());
  assert_int_equal(settings.engine.rendezvous_host, 16384);
  assert_int_equal(settings.host.first_port, 49152);
  assert_int_equal(settings.progress_cpu, -1);
  assert_false(settings.offer);
  assert_true(settings.engine.session.key == wire::KeyDigest{});
}

// Two structures give their own defaults; users are told those of the table.
static void settings__defaults_are_those_of_the_rooms_below(void **) {
  Settings settings;
  std::string error;
  assert_int_equal(read({}, settings, error), 0);
  const engine::Config config;
  const link::HostOptions host;
  assert_int_equal(settings.engine.tx_size, config.tx_size);
  assert_int_equal(settings.engine.rx_size, config.rx_size);
  assert_int_equal(settings.engine.inject_size, config.inject_size);
  assert_int_equal(settings.engine.rendezvous_host, config.rendezvous_host);
  assert_int_equal(settings.engine.rendezvous_device, config.rendezvous_device);
  assert_int_equal(settings.engine.unexpected_pool, config.unexpected_pool);
  assert_int_equal(settings.engine.unexpected_peer, config.unexpected_peer);
  assert_true(settings.engine.connect_timeout == config.connect_timeout);
  assert_true(settings.engine.linger == config.linger);
  assert_int_equal(settings.engine.check, config.check);
  assert_true(settings.engine.session.peer_timeout == config.session.peer_timeout);
  assert_int_equal(settings.engine.session.window, config.session.window);
  assert_int_equal(settings.host.ring_bytes, host.ring_bytes);
  assert_int_equal(settings.host.last_port, host.last_port);
}

static void settings__values_arrive(void **) {
  Settings settings;
  std::string error;
  assert_int_equal(read({{"device", "veth0;0000:01:00.0"},
                         {"addr", "-;10.0.0.1/24"},
                         {"neighbors", "10.0.0.2=02:00:00:00:00:02"},
                         {"mtu", "9000"},
                         {"dscp", "46"},
                         {"memory", "512MiB"},
                         {"huge_pages", "always"},
                         {"port_range", "4000-4999"},
                         {"peer_timeout", "2s"},
                         {"pull", "no"},
                         {"progress_cpu", "1"},
                         {"auth_key", "secret"}},
                        settings, error),
                   0);
  const auto requests = settings.device_requests(net::Family::v4);
  assert_int_equal(requests.size(), 2);
  assert_string_equal(requests[0].spec.text.c_str(), "veth0");
  assert_false(requests[0].address.has_value());
  assert_true(requests[1].address.has_value());
  assert_int_equal(settings.device_options.neighbours.size(), 1);
  assert_int_equal(settings.device_options.mtu, 9000);
  assert_int_equal(settings.device_options.dscp, 46);
  assert_int_equal(settings.device_options.memory_mb, 512);
  assert_true(settings.device_options.huge_pages == link::HugePages::always);
  assert_int_equal(settings.ports().first, 4000);
  assert_int_equal(settings.ports().last, 4999);
  assert_true(settings.engine.session.peer_timeout == std::chrono::seconds(2));
  assert_false(settings.engine.pull);
  assert_int_equal(settings.progress_cpu, 1);
  assert_false(settings.engine.session.key == wire::KeyDigest{});
}

namespace {

void expect_told(const char *name, const std::string &value,
                 std::initializer_list<const char *> parts) {
  Settings settings;
  std::string error;
  if (read({{name, value}}, settings, error) != -FI_EINVAL)
    fail_msg("%s: '%s' is taken", name, value.c_str());
  std::string variable = "FI_DPDKX_";
  for (const char *c = name; *c; ++c)
    variable += static_cast<char>(std::toupper(*c));
  assert_true(error.starts_with(variable + ": "));
  assert_null(std::strchr(error.c_str(), '\n'));
  for (const char *part : {value.c_str(), "'; allowed: "})
    if (!std::strstr(error.c_str(), part))
      fail_msg("'%s' isn't in '%s'", part, error.c_str());
  for (const char *part : parts)
    if (!std::strstr(error.c_str(), part))
      fail_msg("'%s' isn't in '%s'", part, error.c_str());
}

} // namespace

// One of each kind, and those that are checked by hand.
static void settings__wrong_values_are_told(void **) {
  expect_told("rendezvous_size", "64KB", {"size, 64B to 1GiB", "KiB"});
  expect_told("peer_timeout", "10", {"time, 100ms to 1440min", "min"});
  expect_told("pull", "maybe", {"yes or no"});
  expect_told("port_range", "9-1", {"FIRST-LAST"});
  expect_told("huge_pages", "2M", {"one of auto, always, never"});
  expect_told("host_ring_size", "100000", {"a power of two"});
  expect_told("progress_cpu", "first", {"a processor that this process may use"});
  expect_told("neighbors", "10.0.0.2", {"MAC ''"});
  expect_told("addr", "10.0.0.1", {"prefix ''"});
  expect_told("device", "net_memif0,role=boss", {"role is 'boss'"});
}

static void settings__numbers_have_ranges_that_work(void **) {
  expect_told("mtu", "575", {"576 to 9978, or 0"});
  expect_told("mtu", "9979", {"576 to 9978, or 0"});
  expect_told("mbufs", "3", {"256 to 16777216, or 0"});
  expect_told("rx_descriptors", "65536", {"32 to 32768, or 0"});
  expect_told("tx_descriptors", "31", {"32 to 32768, or 0"});
  expect_told("rx_queues", "0", {"1 to 64"});
  expect_told("dscp", "64", {"0 to 63"});
  expect_told("tx_size", "0", {"16 to "});
  expect_told("window", "100", {"a multiple of 64"});
  expect_told("progress_cpu", "500", {allowed_cpus().c_str()});
}

// The values next to the bounds of each, which no table here has to repeat.
static void settings__bounds_are_kept_by_all(void **) {
  for (const Setting &setting : all_settings()) {
    const SettingBounds &bounds = setting.bounds;
    const bool is_number = setting.kind == SettingKind::number ||
                           setting.kind == SettingKind::size ||
                           setting.kind == SettingKind::duration;
    if (!is_number)
      continue;
    const std::string unit = setting.kind == SettingKind::duration ? "ns" : "";
    for (const std::uint64_t right : {bounds.min, bounds.max}) {
      Settings settings;
      std::string error;
      assert_int_equal(read({{setting.name, std::to_string(right) + unit}}, settings, error), 0);
    }
    expect_told(setting.name, std::to_string(bounds.max + 1) + unit, {});
    if (bounds.min > 1)
      expect_told(setting.name, std::to_string(bounds.min - 1) + unit, {});
    expect_told(setting.name, "-1" + unit, {});
    expect_told(setting.name, "many", {});
  }
}

static void settings__unknown_ones_are_found(void **) {
  const char *environment[] = {"HOME=/",          "FI_DPDKX_DEVCE=eth0", "FI_DPDKX_DEVICE=eth0",
                               "FI_DPDKX_=x",     "FI_DPDKX_device=a",   "FI_DPDKXX_DEVICE=a",
                               "FI_PROVIDER=tcp", "FI_DPDKX_MTU",        nullptr};
  const std::vector<std::string_view> found = unknown_settings(environment);
  assert_int_equal(found.size(), 3);
  assert_true(found[0] == "FI_DPDKX_DEVCE=eth0");
  assert_true(found[1] == "FI_DPDKX_=x");
  assert_true(found[2] == "FI_DPDKX_device=a");
}

static void settings__no_more_addresses_than_devices(void **) {
  Settings settings;
  std::string error;
  assert_int_equal(read({{"addr", "10.0.0.1/24"}}, settings, error), -FI_EINVAL);
  assert_string_equal(error.c_str(), "FI_DPDKX_ADDR: entry 1, '10.0.0.1/24', has no device; "
                                     "allowed: one for each entry of FI_DPDKX_DEVICE, which has 0");
}

static void settings__that_exclude_each_other(void **) {
  Settings settings;
  std::string error;
  assert_int_equal(read({{"device", "01:00.0"}, {"huge_pages", "never"}}, settings, error),
                   -FI_EINVAL);
  assert_string_equal(error.c_str(), "FI_DPDKX_HUGE_PAGES: 'never'; allowed for the PCI device "
                                     "'01:00.0': auto, always");
  assert_int_equal(read({{"device", "eth0"}, {"huge_pages", "never"}}, settings, error), 0);
  assert_int_equal(read({{"device", "eth0"}, {"peer_timeout", "150ms"}}, settings, error),
                   -FI_EINVAL);
  assert_string_equal(error.c_str(), "FI_DPDKX_SERVICE_TICK: 100ms; allowed: at most half of "
                                     "FI_DPDKX_PEER_TIMEOUT, which is 150ms");
  assert_int_equal(read({{"device", "eth0"}, {"peer_timeout", "150ms"}, {"service_tick", "75ms"}},
                        settings, error),
                   0);
  assert_int_equal(read({{"peer_timeout", "150ms"}}, settings, error), 0); // nobody ticks
}

// The page has each setting with its range and default, and no others.
static void settings__are_those_of_the_man_page(void **) {
  const char *top = std::getenv("top_srcdir");
  std::ifstream page(std::string(top ? top : ".") + "/man/fi_dpdkx.7");
  if (!page)
    skip();
  std::stringstream text;
  text << page.rdbuf();

  std::set<std::string> documented, in_code;
  for (std::string line; std::getline(text, line);)
    if (line.starts_with(".BR FI_DPDKX_") && line.find(" \"") != std::string::npos)
      documented.insert(line);
  for (const Setting &setting : all_settings()) {
    std::string line = ".BR " + environment_name(setting) + " \"" + " (" +
                       allowed_values(setting.kind, setting.bounds) +
                       "; default: " + (*setting.preset ? setting.preset : "none") + ")\"";
    for (std::size_t at = 0; (at = line.find('-', at)) != std::string::npos; at += 2)
      line.insert(at, "\\");
    in_code.insert(line);
  }
  for (const std::string &line : in_code)
    if (!documented.contains(line))
      fail_msg("not in the man page: %s", line.c_str());
  for (const std::string &line : documented)
    if (!in_code.contains(line))
      fail_msg("not in the code: %s", line.c_str());
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(settings__defaults_are_valid),
    cmocka_unit_test(settings__defaults_are_those_of_the_rooms_below),
    cmocka_unit_test(settings__values_arrive),
    cmocka_unit_test(settings__wrong_values_are_told),
    cmocka_unit_test(settings__numbers_have_ranges_that_work),
    cmocka_unit_test(settings__bounds_are_kept_by_all),
    cmocka_unit_test(settings__unknown_ones_are_found),
    cmocka_unit_test(settings__no_more_addresses_than_devices),
    cmocka_unit_test(settings__that_exclude_each_other),
    cmocka_unit_test(settings__are_those_of_the_man_page),
};
static const unit::Group group{"settings", cases};
