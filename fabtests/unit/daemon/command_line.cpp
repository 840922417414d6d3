// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/command_line.h"

#include "dpdkx/daemon/options.h"

#include "unit/daemon/text.h"

using namespace dpdkx::daemon;

namespace {

CommandLine parse(std::initializer_list<const char *> arguments) {
  std::vector<const char *> argv{"dpdkxd"};
  argv.insert(argv.end(), arguments);
  CommandLine out;
  std::string error;
  if (!parse_command_line(static_cast<int>(argv.size()), argv.data(), out, error))
    fail_msg("%s", error.c_str());
  return out;
}

std::string fault(std::initializer_list<const char *> arguments) {
  std::vector<const char *> argv{"dpdkxd"};
  argv.insert(argv.end(), arguments);
  CommandLine out;
  std::string error;
  assert_false(parse_command_line(static_cast<int>(argv.size()), argv.data(), out, error));
  assert_true(error.find('\n') == std::string::npos);
  return error;
}

} // namespace

static void command_line__nothing_is_to_run(void **) {
  const CommandLine line = parse({});
  assert_true(line.command == Command::run && line.given.empty() && !line.config && !line.watch);
}

static void command_line__options_come_as_they_are_given(void **) {
  const CommandLine line =
      parse({"--device", "net_memif0,role=server,id=0", "--device=eth0", "--address", "-",
             "--eal-args=--log-level=*:debug -l 0", "--config", "/x/y"});
  assert_int_equal(line.given.size(), 4);
  expect_equal(line.given[0].option, "device");
  expect_equal(line.given[0].value, "net_memif0,role=server,id=0");
  expect_equal(line.given[0].where, "--device");
  expect_equal(line.given[1].value, "eth0");
  expect_equal(line.given[2].value, "-");
  expect_equal(line.given[3].value, "--log-level=*:debug -l 0");
  expect_equal(line.config.value(), "/x/y");
}

static void command_line__each_option_is_there(void **) {
  for (const Option &option : all_options()) {
    const std::string argument = std::string("--") + option.name + "=v";
    const CommandLine line = parse({argument.c_str()});
    assert_int_equal(line.given.size(), 1);
    expect_equal(line.given[0].option, option.name);
  }
}

static void command_line__commands(void **) {
  assert_true(parse({"check"}).command == Command::check);
  assert_true(parse({"--check"}).command == Command::check);
  assert_true(parse({"metrics"}).command == Command::metrics);
  CommandLine line = parse({"status", "--json", "--watch", "0.5", "--socket", "@x"});
  assert_true(line.command == Command::status && line.json && line.watch == 0.5);
  assert_int_equal(line.given.size(), 1);
  line = parse({"check", "--device", "eth0"});
  assert_true(line.command == Command::check);
  assert_int_equal(line.given.size(), 1);
  assert_false(parse({"status"}).json);
}

static void command_line__help_and_version_are_texts(void **) {
  CommandLine line = parse({"--version"});
  assert_true(line.command == Command::tell);
  expect_parts(line.text, {"dpdkxd ", "\n"});
  line = parse({"--help"});
  assert_true(line.command == Command::tell);
  expect_parts(line.text, {"--device", "--sleep-after", "(default: 10ms)", "status", "metrics"});
}

static void command_line__faults_are_a_line(void **) {
  expect_parts(fault({"--colour", "red"}), {"--colour", "; allowed: "});
  expect_parts(fault({"--mtu"}), {"--mtu", "; allowed: "});
  expect_parts(fault({"stop"}), {"stop", "; allowed: "});
  expect_parts(fault({"status", "--watch", "0"}), {"--watch", "0.1"});
  expect_parts(fault({"status", "--watch", "soon"}), {"--watch", "soon"});
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(command_line__nothing_is_to_run),
    cmocka_unit_test(command_line__options_come_as_they_are_given),
    cmocka_unit_test(command_line__each_option_is_there),
    cmocka_unit_test(command_line__commands),
    cmocka_unit_test(command_line__help_and_version_are_texts),
    cmocka_unit_test(command_line__faults_are_a_line),
};
static const unit::Group group{"command_line", cases};
