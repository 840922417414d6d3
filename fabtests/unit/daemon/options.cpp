// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/options.h"

#include "dpdkx/base/cpus.h"

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "unit/daemon/text.h"

using namespace dpdkx;
using namespace dpdkx::daemon;

namespace {

using Pairs = std::initializer_list<std::pair<const char *, const char *>>;

std::vector<Given> given(Pairs pairs, const std::string &where = "--") {
  std::vector<Given> out;
  for (const auto &[option, value] : pairs)
    out.push_back({option, value, where + option});
  return out;
}

Options read(Pairs pairs) {
  Options out;
  std::string error;
  if (!read_options(given(pairs), {}, out, error))
    fail_msg("%s", error.c_str());
  return out;
}

void expect_fault(Pairs pairs, const char *expected) {
  Options out;
  std::string error;
  assert_false(read_options(given(pairs), {}, out, error));
  expect_equal(error, expected);
}

} // namespace

// What the table says and what the rooms that use it begin with are the same.
static void options__presets_are_the_defaults_of_config(void **) {
  const Options options = read({{"device", "eth0"}});
  const Config preset;
  expect_equal(options.config.socket, preset.socket.c_str());
  assert_int_equal(options.config.max_ranks, preset.max_ranks);
  assert_int_equal(options.config.max_ranks_per_user, preset.max_ranks_per_user);
  assert_int_equal(options.config.max_ring, preset.max_ring);
  assert_int_equal(options.config.check_port, preset.check_port);
  assert_int_equal(options.config.processor, preset.processor);
  assert_true(options.config.sleep_after == preset.sleep_after);
  assert_true(options.config.blind_poll == preset.blind_poll);
  assert_true(options.config.acknowledge_after == preset.acknowledge_after);
  const DeviceConfig device;
  const DeviceConfig &read_device = options.config.devices.at(0);
  assert_int_equal(read_device.options.rx_queues, device.options.rx_queues);
  assert_int_equal(read_device.options.rule_queues, device.options.rule_queues);
  assert_true(read_device.request.family == device.request.family);
  assert_int_equal(read_device.options.mtu, device.options.mtu);
  assert_int_equal(read_device.options.memory_mb, device.options.memory_mb);
  assert_true(read_device.options.huge_pages == device.options.huge_pages);
  assert_true(read_device.options.resolve_timeout == device.options.resolve_timeout);
  assert_false(read_device.options.checksum_offload);
}

static void options__values_arrive(void **) {
  const Options options = read({{"device", "0000:01:00.0"},
                                {"device", "xdp:eth0"},
                                {"address", "10.0.0.1/24,10.0.0.254,7"},
                                {"address", "-"},
                                {"mtu", "9000"},
                                {"mtu", "0"},
                                {"rx-queues", "4"},
                                {"rule-queues", "12"},
                                {"family", "ipv6"},
                                {"neighbors", "10.0.0.2=02:00:00:00:00:02"},
                                {"dscp", "46"},
                                {"rx-descriptors", "2048"},
                                {"resolve-timeout", "3s"},
                                {"huge-pages", "always"},
                                {"memory", "1GiB"},
                                {"eal-args", "-l 0"},
                                {"socket", "/run/dpdkx/s"},
                                {"max-ranks", "7"},
                                {"max-ranks-per-user", "3"},
                                {"max-ring", "1MiB"},
                                {"check-port", "5000"},
                                {"sleep-after", "0"},
                                {"blind-poll", "1ms"},
                                {"acknowledge-after", "50us"},
                                {"metrics", "127.0.0.1:9100"},
                                {"log-level", "debug"}});
  const Config &config = options.config;
  assert_int_equal(config.devices.size(), 2);
  const DeviceConfig &one = config.devices[0], &two = config.devices[1];
  expect_equal(one.request.spec.bus_name, "0000:01:00.0");
  assert_int_equal(one.request.address->vlan, 7);
  assert_false(two.request.address.has_value());
  assert_int_equal(one.options.mtu, 9000);
  assert_int_equal(two.options.mtu, 0);
  for (const DeviceConfig &device : config.devices) {
    assert_int_equal(device.options.rx_queues, 4);
    assert_int_equal(device.options.rule_queues, 12);
    assert_true(device.request.family == net::Family::v6);
    assert_int_equal(device.options.neighbours.size(), 1);
    assert_int_equal(device.options.dscp, 46);
    assert_int_equal(device.options.rx_descriptors, 2048);
    assert_true(device.options.resolve_timeout == std::chrono::seconds(3));
    assert_true(device.options.huge_pages == link::HugePages::always);
    assert_int_equal(device.options.memory_mb, 1024);
    expect_equal(device.options.eal_args, "-l 0");
  }
  expect_equal(config.socket, "/run/dpdkx/s");
  assert_int_equal(config.max_ranks, 7);
  assert_int_equal(config.max_ranks_per_user, 3);
  assert_int_equal(config.max_ring, 1 << 20);
  assert_int_equal(config.check_port, 5000);
  assert_true(config.sleep_after == Duration::zero());
  assert_true(config.blind_poll == std::chrono::milliseconds(1));
  assert_true(config.acknowledge_after == std::chrono::microseconds(50));
  expect_equal(options.metrics, "127.0.0.1:9100");
  assert_true(options.log_level == LogLevel::debug);
}

static void options__the_command_line_comes_first(void **) {
  Options out;
  std::string error;
  assert_true(read_options(
      given({{"device", "eth0"}, {"mtu", "1400"}}),
      given({{"device", "eth1"}, {"device", "eth2"}, {"mtu", "1300"}, {"dscp", "1"}}), out, error));
  assert_int_equal(out.config.devices.size(), 1);
  expect_equal(out.config.devices[0].request.spec.interface, "eth0");
  assert_int_equal(out.config.devices[0].options.mtu, 1400);
  assert_int_equal(out.config.devices[0].options.dscp, 1);
}

static void options__wrong_values_are_told(void **) {
  expect_fault({{"mtu", "99"}}, "--mtu: '99'; allowed: number, 576 to 9978, or 0");
  expect_fault({{"max-ring", "1x"}},
               "--max-ring: '1x'; allowed: size, 64KiB to 1GiB (with B, KiB, MiB or GiB)");
  expect_fault({{"sleep-after", "5"}},
               "--sleep-after: '5'; allowed: time, 0 to 60min (with ns, us, ms, s or min)");
  expect_fault({{"log-level", "loud"}}, "--log-level: 'loud'; allowed: one of warn, info, debug");
  expect_fault({{"max-ranks", "1"}, {"max-ranks", "2"}},
               "--max-ranks: '2'; allowed: one value, of which there are 2");
  expect_fault({{"device", "eth0"}, {"mtu", "1400"}, {"mtu", "1500"}},
               "--mtu: '1500'; allowed: one value, or one for each device, of which there are 1");
  expect_fault({{"device", "eth0"}, {"address", "10.0.0.1/24"}, {"address", "10.0.1.1/24"}},
               "--address: '10.0.1.1/24'; allowed: an address for each device, of which there are "
               "1");
  expect_fault({{"device", "eth0"}, {"device", "eth0"}},
               "--device: 'eth0'; allowed: each device once; 'eth0' is the same");
  expect_fault({{"device", "01:00.0"}, {"huge-pages", "never"}},
               "--huge-pages: 'never'; allowed: auto, always for the PCI device '01:00.0'");
  expect_fault({{"socket", "dpdkxd"}}, "--socket: 'dpdkxd'; allowed: @NAME, or the path of a file "
                                       "from / on, of 107 characters at most");
  expect_fault({{"metrics", "10.0.0.1"}},
               "--metrics: '10.0.0.1'; allowed: address:port of this host alone, for example "
               "127.0.0.1:9100 or [::1]:9100");
}

// Texts of the parsers below, under the option's name.
static void options__faults_of_devices_are_in_own_words(void **) {
  Options out;
  std::string error;
  const auto fault = [&](Pairs pairs) {
    assert_false(read_options({}, given(pairs, "f:3: "), out, error));
    assert_true(error.find("FI_DPDKX") == std::string::npos);
    return error;
  };
  expect_parts(fault({{"device", "a/b"}}), {"f:3: device: 'a/b': not a device; allowed: a PCI"});
  expect_parts(fault({{"device", "eth0"}, {"address", "10.0.0.0/24"}}),
               {"f:3: address: '10.0.0.0/24': address '10.0.0.0'; allowed: one of 10.0.0.0/24"});
  expect_parts(fault({{"device", "eth0"}, {"neighbors", "10.0.0.1"}}),
               {"f:3: neighbors: '10.0.0.1': MAC ''; allowed: "});
}

static void options__unknown_ones_are_told_with_those_there_are(void **) {
  expect_fault({{"colour", "red"}}, ("--colour: no such option; allowed: " +
                                     [] {
                                       std::string names;
                                       for (const Option &option : all_options())
                                         (names += names.empty() ? "" : ", ") += option.name;
                                       return names;
                                     }())
                                        .c_str());
}

static void options__processors_are_those_it_may_use(void **) {
  assert_int_equal(read({{"processor", "any"}}).config.processor, -1);
  const std::string allowed = allowed_cpus();
  const int first = std::atoi(allowed.c_str());
  assert_int_equal(read({{"processor", std::to_string(first).c_str()}}).config.processor, first);
  expect_fault({{"processor", "99999"}}, ("--processor: '99999'; allowed: any, or a processor that "
                                          "dpdkxd may use, " +
                                          allowed)
                                             .c_str());
}

static void options__a_reload_changes_what_it_can(void **) {
  std::vector<std::string> left;
  const auto kept = what_reload_changes(
      given({{"device", "eth0"}, {"max-ranks", "5"}}, "f:1: "),
      given({{"device", "eth1"}, {"max-ranks", "6"}, {"rx-queues", "1"}, {"mtu", "1400"}}, "f:2: "),
      left);
  assert_int_equal(left.size(), 2);
  expect_equal(left[0], "f:2: device: 'eth1' takes a restart; stays 'eth0'");
  expect_equal(left[1], "f:2: mtu: '1400' takes a restart; stays '0'");
  Options out;
  std::string error;
  assert_true(read_options({}, kept, out, error));
  expect_equal(out.config.devices.at(0).request.spec.interface, "eth0");
  assert_int_equal(out.config.devices[0].options.mtu, 0);
  assert_int_equal(out.config.max_ranks, 6);
}

// Each option that is kept is told, with what it would be and what it is.
static void options__a_reload_tells_what_takes_a_restart(void **) {
  for (const Option &option : all_options()) {
    std::vector<std::string> left;
    const auto file = given({{option.name, "new"}}, "f:1: ");
    const auto kept = what_reload_changes({}, file, left);
    if (option.at_run_time) {
      assert_true(left.empty());
      assert_int_equal(kept.size(), 1);
      continue;
    }
    const std::string name = option.name;
    const std::string was = *option.preset ? "'" + std::string(option.preset) + "'" : "none";
    assert_int_equal(left.size(), 1);
    expect_equal(left[0], ("f:1: " + name + ": 'new' takes a restart; stays " + was).c_str());
    assert_true(kept.empty());
    // And back, by a file that says nothing of it.
    left.clear();
    assert_int_equal(what_reload_changes(file, {}, left).size(), 1);
    assert_int_equal(left.size(), 1);
    expect_equal(left[0], (name + ": " + was + " takes a restart; stays 'new'").c_str());
  }
}

// Another way to write the same is no change.
static void options__a_reload_compares_what_values_mean(void **) {
  std::vector<std::string> left;
  const auto changes = [&](Pairs running, Pairs read) {
    left.clear();
    (void)what_reload_changes(given(running, "f:1: "), given(read, "f:2: "), left);
    return !left.empty();
  };
  assert_false(changes({{"resolve-timeout", "1500ms"}}, {{"resolve-timeout", "1500000us"}}));
  assert_false(changes({{"resolve-timeout", "10000ms"}}, {}));
  assert_false(changes({}, {{"resolve-timeout", "10 s"}}));
  assert_false(changes({{"memory", "1GiB"}}, {{"memory", "1024MiB"}}));
  assert_false(changes({{"checksum-offload", "on"}}, {{"checksum-offload", "yes"}}));
  assert_false(changes({{"huge-pages", "AUTO"}}, {}));
  assert_false(changes({{"mtu", "1400"}, {"mtu", "1400"}}, {{"mtu", "01400"}}));
  assert_false(changes({{"device", "0000:01:00.0"}}, {{"device", "01:00.0"}}));
  assert_false(changes({{"device", "eth0; eth1"}}, {{"device", "eth0"}, {"device", "eth1"}}));
  assert_false(changes({{"address", "fd00::1/64"}}, {{"address", "fd00:0::1/64"}}));
  assert_false(changes({{"neighbors", "10.0.0.2=0a:00:00:00:00:02"}},
                       {{"neighbors", "10.0.0.2=0A:00:00:00:00:02"}}));
  assert_true(changes({{"resolve-timeout", "1500ms"}}, {{"resolve-timeout", "1500us"}}));
  assert_true(changes({{"checksum-offload", "on"}}, {}));
  assert_true(changes({{"mtu", "1400"}, {"mtu", "1500"}}, {{"mtu", "1400"}}));
  assert_true(changes({{"device", "eth0"}}, {{"device", "xdp:eth0"}}));
  assert_true(changes({{"device", "01:00.0,a=1"}}, {{"device", "01:00.0"}}));
  assert_true(
      changes({{"device", "eth0"}, {"device", "eth1"}}, {{"device", "eth1"}, {"device", "eth0"}}));
  assert_true(changes({{"address", "-"}}, {{"address", "10.0.0.1/24"}}));
  assert_true(changes({{"metrics", "127.0.0.1:1"}}, {{"metrics", "127.0.0.1:2"}}));
}

// The page has each option with its range and default, and no others.
static void options__are_those_of_the_man_page(void **) {
  const char *top = std::getenv("top_srcdir");
  std::ifstream page(std::string(top ? top : ".") + "/man/dpdkxd.8");
  if (!page)
    skip();
  std::set<std::string> documented, in_code;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with(".BR \\-\\-") && line.find("; default: ") != std::string::npos)
      documented.insert(line);
  for (const Option &option : all_options()) {
    std::string line = "--" + std::string(option.name) + " \" (" + allowed_of(option) +
                       "; default: " + (*option.preset ? option.preset : "none") + ")\"";
    for (std::size_t at = 0; (at = line.find('-', at)) != std::string::npos; at += 2)
      line.insert(at, "\\");
    in_code.insert(".BR " + line);
  }
  for (const std::string &line : in_code)
    if (!documented.contains(line))
      fail_msg("not in the man page: %s", line.c_str());
  for (const std::string &line : documented)
    if (!in_code.contains(line))
      fail_msg("not in the code: %s", line.c_str());
}

// What the example shows behind '#' may be uncommented: each option is there once or more, and its
// value is the default, where there is one.
static void options__are_those_of_the_example(void **) {
  const char *top = std::getenv("top_srcdir");
  std::ifstream page(std::string(top ? top : ".") + "/contrib/systemd/dpdkxd.conf");
  if (!page)
    skip();
  std::set<std::string> seen;
  for (std::string line; std::getline(page, line);) {
    if (line.size() < 2 || line[0] != '#' || line[1] == ' ')
      continue;
    std::vector<Given> values;
    std::string error;
    if (!parse_config(line.substr(1), "example", values, error))
      fail_msg("%s", error.c_str());
    assert_true(!values.empty());
    const Option *option = find_option(values[0].option);
    if (!option)
      fail_msg("%s: no such option", line.c_str());
    seen.insert(option->name);
    if (*option->preset)
      expect_equal(values[0].value, option->preset);
    Options out;
    const auto devices = given({{"device", "eth0"}, {"device", "eth1"}});
    if (!read_options(option->name == std::string("device") ? std::vector<Given>() : devices,
                      values, out, error))
      fail_msg("%s", error.c_str());
  }
  for (const Option &option : all_options())
    if (!seen.contains(option.name))
      fail_msg("not in the example: %s", option.name);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(options__presets_are_the_defaults_of_config),
    cmocka_unit_test(options__values_arrive),
    cmocka_unit_test(options__the_command_line_comes_first),
    cmocka_unit_test(options__wrong_values_are_told),
    cmocka_unit_test(options__faults_of_devices_are_in_own_words),
    cmocka_unit_test(options__unknown_ones_are_told_with_those_there_are),
    cmocka_unit_test(options__processors_are_those_it_may_use),
    cmocka_unit_test(options__a_reload_changes_what_it_can),
    cmocka_unit_test(options__a_reload_tells_what_takes_a_restart),
    cmocka_unit_test(options__a_reload_compares_what_values_mean),
    cmocka_unit_test(options__are_those_of_the_man_page),
    cmocka_unit_test(options__are_those_of_the_example),
};
static const unit::Group group{"options", cases};
