// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/settings.h"

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
                         {"huge_pages", "never"},
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
  assert_true(settings.device_options.huge_pages == link::HugePages::never);
  assert_int_equal(settings.ports().first, 4000);
  assert_int_equal(settings.ports().last, 4999);
  assert_true(settings.engine.session.peer_timeout == std::chrono::seconds(2));
  assert_false(settings.engine.pull);
  assert_int_equal(settings.progress_cpu, 1);
  assert_false(settings.engine.session.key == wire::KeyDigest{});
}

// One of each kind, and those that are checked by hand.
static void settings__wrong_values_are_told(void **) {
  const std::pair<const char *, const char *> wrong[] = {
      {"rendezvous_size", "64KB"},  {"tx_size", "0"},
      {"peer_timeout", "10"},       {"pull", "maybe"},
      {"port_range", "9-1"},        {"huge_pages", "2M"},
      {"progress_cpu", "first"},    {"device", "a,b"},
      {"addr", "10.0.0.1"},         {"neighbors", "10.0.0.2"},
      {"host_ring_size", "100000"}, {"mtu", "575"},
  };
  for (const auto &[name, value] : wrong) {
    Settings settings;
    std::string error;
    assert_int_equal(read({{name, value}}, settings, error), -FI_EINVAL);
    std::string variable = "FI_DPDKX_";
    for (const char *c = name; *c; ++c)
      variable += static_cast<char>(std::toupper(*c));
    assert_true(error.starts_with(variable + ":"));
    assert_non_null(std::strstr(error.c_str(), std::string(value).substr(0, 2).c_str()));
    assert_non_null(std::strstr(error.c_str(), "allowed"));
    assert_null(std::strchr(error.c_str(), '\n'));
  }
}

static void settings__no_more_addresses_than_devices(void **) {
  Settings settings;
  std::string error;
  assert_int_equal(read({{"addr", "10.0.0.1/24"}}, settings, error), -FI_EINVAL);
  assert_true(error.starts_with("FI_DPDKX_ADDR:"));
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
    cmocka_unit_test(settings__no_more_addresses_than_devices),
    cmocka_unit_test(settings__are_those_of_the_man_page),
};
static const unit::Group group{"settings", cases};
